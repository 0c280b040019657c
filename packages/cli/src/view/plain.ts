import { print, tell } from '../output.js'
import type { Surface } from './surface.js'

/** Lines, one below the other, where nobody sits or nothing is to be drawn. */
export const plainSurface: Surface = {
  print: (lines) => lines.forEach(print),
  say: tell,
  refresh: () => {},
  choose: async (question, choices) => {
    tell(question)
    choices.forEach((choice, at) => void tell(`${at + 1}  ${choice}`))
    return undefined
  },
  columns: Number.POSITIVE_INFINITY,
  lines: undefined,
  close: () => {},
}
