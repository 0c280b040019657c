import type { Options } from '../load/options.js'
import { count, decimals, type Section } from '../report/section.js'
import { measureCell } from './measure.js'

/** Measures publishing alone: the space has no receivers, and senders only get their acknowledgements. */
export async function publish(options: Options): Promise<Section[]> {
  const rows: string[][] = []
  const figures = []
  for (const window of options.windows ?? [256, 1]) {
    for (const senders of options.senders ?? [1, 4]) {
      const [size = 300] = options.sizes ?? []
      const only = options.only ?? ['a', 'ours']
      const found = await measureCell({ receivers: 0, senders, size, window }, { ...options, only })
      figures.push(found)
      for (const { key, name, messages, cpuPerMessage, ratio } of found.figures) {
        rows.push([
          `${senders} × ${size} B, window ${window}`,
          key.length === 1 ? `(${key}) ${name}` : name,
          count(messages),
          ratio === undefined ? '' : decimals(ratio),
          decimals(cpuPerMessage, 1),
        ])
      }
    }
  }
  return [
    {
      id: 'publish',
      title: 'Publish to nobody',
      about: 'Messages that are accepted, logged and acknowledged a second.',
      columns: ['senders', '', 'a second', 'ratio to (a)', 'CPU, µs a message'],
      rows,
      figures,
    },
  ]
}
