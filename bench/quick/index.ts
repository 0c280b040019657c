import type { Options } from '../load/options.js'
import { decimals, type Section } from '../report/section.js'
import { type Circumstances, inRepository, type Places, readSection, write } from '../report/write.js'
import { type Comparison, machineClass, maxFall, measureAndCompare, type RatiosByClass } from './compare.js'
import { type QuickFigure, quickFigures } from './figures.js'

const id = 'quick'

/**
 * Measures the named figures, or all, and compares them with those committed for this class of machines. Returns the names of
 * fallen figures.
 */
export async function quick(
  names: readonly string[],
  options: Options,
  about: Circumstances,
  {
    figures = quickFigures,
    places = inRepository,
  }: { figures?: Record<string, QuickFigure>; places?: Places } = {},
): Promise<string[]> {
  const classOfMachine = machineClass(about)
  const all = (readSection(id, places)?.figures ?? {}) as RatiosByClass
  const committed = all[classOfMachine]
  const chosen = Object.entries(figures).filter(([name]) => names.length === 0 || names.includes(name))
  const found: [name: string, comparison: Comparison][] = []
  for (const [name, figure] of chosen) {
    const begin = performance.now()
    const compared = await measureAndCompare(() => figure.measure(options), committed?.[name])
    found.push([name, compared])
    console.log(lineOf(name, figure, compared, (performance.now() - begin) / 1000))
  }
  const fallen = found.filter(([, { hasFallen }]) => hasFallen).map(([name]) => name)
  if (options.write) {
    const measured = Object.fromEntries(found.map(([name, { ratio }]) => [name, rounded(ratio)]))
    const merged = { ...all, [classOfMachine]: { ...committed, ...measured } }
    write([sectionOf(merged, figures)], about, places)
    return []
  }
  if (committed === undefined) {
    console.log(`\nNo figures are committed for this class of machine: ${classOfMachine}. To add them, run`)
    console.log(
      '  pnpm bench --quick --write\nwhere nothing else runs, and commit bench/figures.md and docs/performance/.',
    )
  } else if (fallen.length > 0) {
    console.log(`\nMore than ${maxFall * 100} % below the committed figures: ${fallen.join(', ')}.`)
    console.log(
      `  pnpm bench --quick ${fallen.join(' ')} measures them again; with --write they become the committed ones.`,
    )
  }
  return fallen
}

function lineOf(
  name: string,
  { about, reference }: QuickFigure,
  { ratio, committed, hasFallen, rounds }: Comparison & { readonly rounds: readonly number[] },
  seconds: number,
): string {
  const change =
    committed === undefined
      ? 'not committed'
      : `committed ${format(committed)}, ${percent(ratio / committed)}`
  const range = `${format(Math.min(...rounds))}–${format(Math.max(...rounds))} in ${rounds.length} rounds`
  return [
    `${hasFallen ? 'FELL' : 'ok'.padEnd(4)} ${name.padEnd(9)} ${format(ratio).padStart(7)}  ${change}`,
    `               ${about} / ${reference}; ${range}, ${decimals(seconds, 0)} s`,
  ].join('\n')
}

const percent = (part: number): string => `${part < 1 ? '−' : '+'}${decimals(Math.abs(part - 1) * 100, 0)} %`
/** Formats a ratio with three significant digits. */
const format = (ratio: number): string => String(rounded(ratio))
const rounded = (ratio: number): number => Number(ratio.toPrecision(3))

function sectionOf(ratios: RatiosByClass, figures: Readonly<Record<string, QuickFigure>>): Section {
  const classes = Object.keys(ratios)
  return {
    id,
    title: 'Quick figures',
    about:
      'Each figure divided by its reference, by class of machine: processor, cores and Node.js. More is better.',
    columns: ['', 'figure', 'reference', ...classes],
    rows: Object.entries(figures).map(([name, { about, reference }]) => [
      ...[name, about, reference],
      ...classes.map((each) => {
        const ratio = ratios[each]?.[name]
        return ratio === undefined ? '' : format(ratio)
      }),
    ]),
    figures: ratios,
  }
}
