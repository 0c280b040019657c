import { print } from '../output.js'
import type { Prompt } from './prompt.js'
import type { Surface } from './screen.js'

/** The terminal above what is being typed. */
export const surfaceOn = (prompt: Prompt): Surface => ({
  get rows() {
    return prompt.rows
  },
  print: (lines) => prompt.above(() => lines.forEach(print)),
  clear: () => prompt.clear(),
})
