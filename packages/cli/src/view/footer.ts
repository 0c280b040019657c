import { fit, fitEnd, widthOf } from '../render/width.js'
import type { RunningTool, Thinker } from './activity.js'
import { onOneRow } from './keyboard.js'
import type { Footer } from './terminal.js'

/** Lines at most. */
const most = 8

/** What the footer tells. */
export interface FooterParts {
  /** Who this is, and where. */
  readonly heading: string
  readonly thinkers: readonly Thinker[]
  readonly tools: readonly RunningTool[]
  readonly showsThoughts: boolean
  /** Proposals that wait: how many, and the latest. */
  readonly pending: string | undefined
  /** What is to be read before anything else: choices, what Tab offers. */
  readonly notices: readonly string[]
  /** What is being typed, and what of it stands before the cursor; absent = nothing can be typed. */
  readonly typed?: { readonly text: string; readonly before: string }
}

export interface Room {
  readonly columns: number
  readonly rows: number
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Makes what is not being typed stand back. */
  dim(text: string): string
}

/** At most eight lines, each on one row, and never so many that nothing else is on the screen. */
export function footerOf(parts: FooterParts, { columns, rows, now, dim }: Room): Footer {
  const { heading, pending, notices, typed } = parts
  const input =
    typed === undefined ? undefined : inputOf(onOneRow(typed.text), onOneRow(typed.before), columns)
  let left = Math.min(most, Math.max(rows - 1, 1)) - (input === undefined ? 0 : 1)
  const take = (lines: readonly string[]): readonly string[] => {
    const taken = lines.length <= left ? lines : [...lines.slice(0, Math.max(left - 1, 0)), more(lines, left)]
    left = Math.max(left - taken.length, 0)
    return taken.slice(0, lines.length)
  }
  const [title = ''] = left > 0 ? take([rule(heading, columns)]) : []
  const noticed = left > 0 ? take(notices) : []
  const waiting = left > 0 && pending !== undefined ? take([pending]) : []
  const active = left > 0 ? take(activityOf(parts, now)) : []
  const lines = [title, ...active, ...waiting, ...noticed].filter((line) => line !== '')
  const fitted = lines.map((line) => dim(fit(line, columns)))
  return { lines: input === undefined ? fitted : [...fitted, input.line], cursor: input?.cursor ?? 0 }
}

function activityOf({ thinkers, tools, showsThoughts }: FooterParts, now: number): string[] {
  return [
    ...thinkers.map(({ agent, since, runs, last, isVisible }) => {
      const several = runs > 1 ? ` · ${runs} runs` : ''
      const thought = showsThoughts && isVisible && last !== '' ? ` · ${last}` : ''
      return `◐ ${agent} ${elapsed(since, now)}${several}${thought}`
    }),
    ...tools.map((each) => `⚒ ${each.caller} ${each.tool} ${elapsed(each.since, now)}${progressOf(each)}`),
  ]
}

function progressOf({ progress }: RunningTool): string {
  if (progress === undefined) return ''
  const { done, total, message } = progress
  const far = total === undefined ? `${done}` : `${barOf(done / total)} ${Math.round((100 * done) / total)} %`
  return ` ${far}${message ? ` · ${message}` : ''}`
}

/** `■■■□□□□□□□` */
function barOf(part: number): string {
  const full = Math.round(10 * Math.min(Math.max(part, 0), 1))
  return '■'.repeat(full) + '□'.repeat(10 - full)
}

/** `8 s`, `3 min`, `2 h`. */
function elapsed(since: number, now: number): string {
  const seconds = Math.max(Math.floor((now - since) / 1000), 0)
  if (seconds < 60) return `${seconds} s`
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`
}

const more = (lines: readonly string[], left: number): string => `… ${lines.length - left + 1} more`

const rule = (heading: string, columns: number): string => {
  const title = `── ${fit(heading, columns - 4)} `
  return `${title}${'─'.repeat(Math.max(columns - widthOf(title), 0))}`
}

/** The part around the cursor, where not all of it fits. */
function inputOf(text: string, before: string, columns: number): { line: string; cursor: number } {
  const room = columns - 3
  const shownBefore = fitEnd(before, room)
  const behind = text.slice(before.length)
  const shownBehind = fit(behind, room - widthOf(shownBefore) + 1)
  return { line: `> ${shownBefore}${shownBehind}`, cursor: 2 + widthOf(shownBefore) }
}
