import type { Options } from '../load/options.js'
import { textKinds } from '../load/texts.js'
import type { Section } from '../report/section.js'
import { lineOf, sectionOf } from './fanout.js'
import { measureCell } from './measure.js'

/**
 * Measures thoughts, which pass the guard one after the other: with many in flight, and with one agent that waits for each to
 * return.
 */
export async function thoughts(options: Options): Promise<Section[]> {
  const { only = ['a', 'd', 'e', 'sqlite', 'memory'] } = options
  const [size = 300] = options.sizes ?? []
  const [receivers = 50] = options.receivers ?? []
  const [senders = 1] = options.senders ?? []
  const found = []
  for (const texts of options.texts ?? textKinds) {
    for (const window of options.windows ?? [256, 1]) {
      const cell = { receivers, senders, texts, size, window, thoughts: true }
      const figures = await measureCell(cell, { ...options, only })
      console.error(lineOf(figures))
      found.push(figures)
    }
  }
  return [sectionOf('thoughts', 'A stream of guarded thoughts', found)]
}
