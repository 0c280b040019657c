import type { Options } from '../load/options.js'
import { decimals, type Section } from '../report/section.js'
import { stagesOf } from '../report/stages.js'
import { nameOf } from './fanout.js'
import { profileOf } from './profiling.js'

/**
 * Measures the processor time of the gateway for a message, by stage: decode, authorize, write to the log, broadcast and so on.
 */
export async function stages(options: Options): Promise<Section[]> {
  const sections: Section[] = []
  for (const shape of ['publish', 'fanout']) {
    const { cell, contender, profiles, whole } = await profileOf(shape, options)
    const found = stagesOf(profiles, whole)
    const [main, sum] = [found.filter(({ thread }) => thread === 'main'), whole.all]
    const writer = found.filter(({ thread }) => thread !== 'main')
    const rows = [...main, ...writer].map(({ thread, stage, microseconds }) => [
      stage,
      thread,
      decimals(microseconds),
      `${decimals((100 * microseconds) / sum, 1)} %`,
    ])
    sections.push({
      id: `stages-${shape}`,
      title: `A message by stages: ${contender}, ${nameOf(cell)}`,
      about: 'Processor time of the gateway for one message. Parts of less than 0.5 % are together.',
      columns: ['stage', 'thread', 'µs', 'of the whole'],
      rows: [...together(rows, sum), ['the whole', 'all', decimals(sum), '100.0 %']],
      figures: { cell, whole, stages: found },
    })
  }
  return sections
}

/** Merges small rows into one, so that the table still adds up to the whole. */
function together(rows: readonly string[][], sum: number): string[][] {
  const isSmall = ([, , microseconds]: readonly string[]): boolean => Number(microseconds) < sum / 200
  const rest = rows.filter(isSmall).reduce((total, [, , microseconds]) => total + Number(microseconds), 0)
  const large = rows.filter((row) => !isSmall(row))
  return [...large, ['everything else', 'all', decimals(rest), `${decimals((100 * rest) / sum, 1)} %`]]
}
