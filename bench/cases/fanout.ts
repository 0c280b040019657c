import type { Options } from '../load/options.js'
import { count, decimals, type Section, times } from '../report/section.js'
import { type Cell, type CellFigures, measureCell } from './measure.js'

/**
 * Lists the numbers of receivers and senders, sizes and windows to measure: all combinations with `--full`, otherwise the most
 * significant.
 */
function cellsOf({ receivers, senders, sizes, windows, full }: Options): Cell[] {
  const isChosen = [receivers, senders, sizes, windows].some((each) => each !== undefined)
  const all: Cell[] = []
  for (const window of windows ?? (isChosen ? [256] : [256, 1])) {
    for (const size of sizes ?? (isChosen ? [300] : [300, 2048])) {
      for (const many of senders ?? (isChosen ? [1] : [1, 4])) {
        for (const hearers of receivers ?? [1, 10, 50, 200]) {
          all.push({ receivers: hearers, senders: many, size, window })
        }
      }
    }
  }
  if (full || isChosen) return all
  return all.filter(({ window, size, senders: many, receivers: hearers }) =>
    window === 1 ? size === 300 && many === 1 && hearers !== 10 : size === 300 || hearers === 50,
  )
}

export async function fanout(options: Options): Promise<Section[]> {
  const found: CellFigures[] = []
  for (const cell of cellsOf(options)) {
    const figures = await measureCell(cell, options)
    found.push(figures)
    console.error(lineOf(figures))
  }
  return [sectionOf('fanout', 'Fan-out', found)]
}

export const nameOf = ({ receivers, senders, texts, size, window }: Cell): string =>
  `${receivers} × ${senders}, ${texts === undefined ? '' : `${texts}, `}${size} B, window ${window}`

export const lineOf = ({ cell, figures }: CellFigures): string => {
  const parts = figures.map(({ key, ratio, ratios = {}, messages, cpuPerMessage, generator }) => {
    const goals = Object.entries(ratios).map(([other, value]) => `, ${decimals(value)} × (${other})`)
    const busy = `${decimals(cpuPerMessage, 1)} µs/msg, generator ${Math.round(generator * 100)} %`
    return `  ${key.padEnd(7)} ${count(messages).padStart(9)} msg/s ${ratio === undefined ? '' : times(ratio).padStart(9)}  ${busy}${goals.join('')}`
  })
  return [nameOf(cell), ...parts].join('\n')
}

export function sectionOf(id: string, title: string, found: readonly CellFigures[]): Section {
  const [first] = found
  const names = first?.figures.map(({ name, key }) => (key.length === 1 ? `(${key}) ${name}` : name)) ?? []
  const rows = found.map(({ cell, figures }) => [
    nameOf(cell),
    ...figures.map(({ deliveries, ratio, ratios = {} }) => {
      const all = [
        ...(ratio === undefined ? [] : [decimals(ratio)]),
        ...Object.entries(ratios).map(([other, value]) => `${decimals(value)} × ${other}`),
      ]
      const thousands = `${count(deliveries / 1000)} k`
      return all.length === 0 ? thousands : `${thousands} (${all.join(', ')})`
    }),
  ])
  const about =
    'Deliveries per second; in brackets the ratio to (a) in the same round, and of the gateway those to (d) and (e).'
  return { id, title, about, columns: ['receivers × senders', ...names], rows, figures: found }
}
