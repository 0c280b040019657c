import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CellFigures } from '../cases/measure.js'
import { draw } from './picture.js'
import type { Section } from './section.js'

/** The time and machine of a measurement. */
export interface Circumstances {
  readonly at: string
  readonly processor: string
  readonly cores: number
  readonly system: string
  readonly node: string
  /** Load average of the minute before the measurement began. */
  readonly load: number
  readonly pinning: string
  readonly command: string
}

interface Measured extends Section {
  readonly circumstances: Circumstances
}

export interface Places {
  /** Folder for figures.json, which has all latest results, and for the picture that is drawn from them. */
  readonly folder: string
  /** Path of the page with a block for each section. */
  readonly page: string
}

export const inRepository: Places = {
  folder: fileURLToPath(new URL('../../docs/performance/', import.meta.url)),
  page: fileURLToPath(new URL('../figures.md', import.meta.url)),
}

export const circumstances = (pinning: string, command: string): Circumstances => ({
  at: `${new Date().toISOString().slice(0, 16)}Z`,
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  system: `Linux ${release()}`,
  node: process.version,
  load: Number((loadavg()[0] ?? 0).toFixed(2)),
  ...{ pinning, command },
})

function readSections({ folder }: Places): Record<string, Measured> {
  const file = fileIn(folder)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

const fileIn = (folder: string): string => join(folder, 'figures.json')

/** Reads the latest result of a benchmark case from figures.json; `undefined` = none. */
export const readSection = (id: string, places: Places = inRepository): Section | undefined =>
  readSections(places)[id]

/** Replaces the earlier results of these benchmark cases in figures.json and on the page, and draws the picture again. */
export function write(
  sections: readonly Section[],
  about: Circumstances,
  { folder, page }: Places = inRepository,
): void {
  mkdirSync(folder, { recursive: true })
  const all = readSections({ folder, page })
  for (const section of sections) all[section.id] = { ...section, circumstances: about }
  writeFileSync(fileIn(folder), `${JSON.stringify(all, undefined, 2)}\n`)
  const text = sections.reduce(
    (old, { id }) => (all[id] ? replaced(old, id, all[id]) : old),
    readFileSync(page, 'utf8'),
  )
  writeFileSync(page, text)
  const cells = all.fanout?.figures as readonly CellFigures[] | undefined
  if (cells !== undefined) writeFileSync(join(folder, 'fanout.svg'), draw(cells))
}

const begin = (id: string): string => `<!-- figures: ${id} -->`
const end = '<!-- end of figures -->'

/** Replaces the block of a section in the page. Throws if the page has no such block. */
function replaced(page: string, id: string, section: Measured): string {
  const from = page.indexOf(begin(id))
  const to = page.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`the page of figures has no block ${begin(id)} … ${end}`)
  return `${page.slice(0, from)}${begin(id)}\n\n${markdownOf(section)}\n\n${page.slice(to)}`
}

function markdownOf({
  title,
  about,
  columns,
  rows,
  text,
  circumstances: { at, load, command },
}: Measured): string {
  const cells = (row: readonly string[]): string =>
    `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const marks = columns.map((_, i) => (i === 0 ? '---' : '---:'))
  const table = rows.length === 0 ? [] : [[cells(columns), cells(marks), ...rows.map(cells)].join('\n')]
  const printed = text === undefined ? [] : [`\`\`\`text\n${text}\n\`\`\``]
  const when = `\`${command}\`, ${at}, load of the machine before: ${load}.`
  return [`**${title}.** ${about ?? ''}`.trim(), ...table, ...printed, when].join('\n\n')
}
