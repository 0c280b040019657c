import { formatDuration, onOneLine } from '@meup/folds'
import type { ProgramReport, ProgramReports } from '../lib/control-client.js'
import { measureWidth, truncate } from '../render/width.js'
import type { Work } from './space-monitor.js'

interface Column {
  readonly title: string
  readonly width: number
  readonly isNumber?: true
  text(work: Work, programs: ProgramReports, now: number): string
}

const stateColumns = 24

/** Columns in display order; a narrow screen keeps the columns that come first in `essential`. */
const columns = [
  { title: 'WHO', width: 12, text: ({ id }) => onOneLine(id) },
  {
    title: 'STATE',
    width: stateColumns,
    text: (work, programs, now) => describeWork(work, programs.get(work.id), now),
  },
  { title: 'MSG/S', width: 5, isNumber: true, text: (work) => formatRate(work.messagesPerSecond) },
  { title: 'CALLS/MIN', width: 9, isNumber: true, text: (work) => formatCount(work.callsPerMinute) },
  { title: 'TOKENS/H', width: 8, isNumber: true, text: (work) => formatCount(work.tokensPerHour) },
] as const satisfies readonly Column[]

/** Columns in order of importance: on a narrow screen the last ones are dropped first. */
const essential: readonly string[] = ['WHO', 'STATE', 'MSG/S', 'TOKENS/H', 'CALLS/MIN']
/** Minimum width of the last column, which shows the last activity; narrower, it is omitted. */
const minLastColumns = 12

/** Formats a table with a title row; rows have at most `width` columns. */
export function workTable(
  all: readonly Work[],
  programs: ProgramReports,
  { width, now }: { readonly width: number; readonly now: number },
): string[] {
  const usual = chooseColumns(width)
  const room = width - usual.reduce((sum, each) => sum + each.width + 2, 0)
  const texts = all.map((work) => usual.map((column) => column.text(work, programs, now)))
  // A state that is longer than usual may take half of the room for the last activity, but not so much that it is omitted.
  const longest = Math.max(...texts.map((cells) => measureWidth(shorten(cells[1] ?? ''))), stateColumns)
  const spare = Math.min(Math.floor(room / 2), room < minLastColumns ? room : room - minLastColumns)
  const more = Math.max(Math.min(longest - stateColumns, spare), 0)
  const chosen = usual.map((column, at) => (at === 1 ? { ...column, width: column.width + more } : column))
  const lastColumns = room - more
  const line = (cells: readonly string[], last: string): string => {
    const shown = chosen.map((column, at) => pad(cells[at] ?? '', column))
    if (lastColumns >= minLastColumns) shown.push(truncate(last, lastColumns))
    return shown.join('  ').trimEnd()
  }
  return [
    line(
      chosen.map(({ title }) => title),
      'LAST',
    ),
    ...all.map((work, at) => line(texts[at] ?? [], programs.get(work.id)?.lastError ?? work.last)),
  ]
}

function chooseColumns(width: number): readonly Column[] {
  const kept = new Set<string>()
  let left = width
  for (const name of essential) {
    const column = columns.find(({ title }) => title === name)
    if (column === undefined || (kept.size > 0 && column.width > left)) break
    kept.add(name)
    left -= column.width + 2
  }
  return columns.filter(({ title }) => kept.has(title))
}

/** Drops the last word of texts such as `paused by ana, 10 min left`, which is lost first if they do not fit. */
const shorten = (state: string): string => state.replace(/ left$/, '')

function pad(text: string, { width, isNumber }: Column): string {
  const shown = truncate(measureWidth(text) > width ? shorten(text) : text, width)
  const space = ' '.repeat(Math.max(width - measureWidth(shown), 0))
  return isNumber ? `${space}${shown}` : `${shown}${space}`
}

/** Formats a state: `thinks 2.1 s`, `paused by ana, 9 min left`, `failed (3×), next try in 8 s`. */
export function describeWork(
  { state, runs, thinksSince = 0, isWaiting }: Work,
  program: ProgramReport | undefined,
  now: number,
): string {
  const ago = (ms: number): string => formatDuration(1000 * Math.max(Math.floor((now - ms) / 1000), 0))
  if (state.name === 'here' && runs > 1) return `thinks ${runs} runs`
  if (state.name === 'here' && isWaiting) return 'waits for a decision'
  if (state.name === 'here' && runs === 1) return `thinks ${ago(thinksSince)}`
  if (state.name === 'starting' && program !== undefined)
    return `starting for ${ago(Date.parse(program.since))}`
  const nextMs = program?.nextTry === undefined ? 0 : Date.parse(program.nextTry) - now
  return nextMs > 0
    ? `${state.text}, next try in ${formatDuration(1000 * Math.ceil(nextMs / 1000))}`
    : state.text
}

const formatRate = (rate: number): string =>
  rate === 0 ? '–' : rate < 10 ? rate.toFixed(1) : rate.toFixed(0)

/** Formats a number: `–` for 0, `12`, `3.2 k`, `1.2 M`. */
export const formatCount = (count: number): string => {
  if (count === 0) return '–'
  if (count < 1000) return String(count)
  return count < 999_950 ? `${(count / 1000).toFixed(1)} k` : `${(count / 1_000_000).toFixed(1)} M`
}
