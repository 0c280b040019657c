import { Timestamp } from '@meup/protocol'
import { parseDuration } from '../config/notation.js'
import { invalidValue, UsageError } from './exit.js'
import { printNotice } from './output.js'

/** Parses `30s`, `5m`, `2h`, `7d` or a number of seconds; returns milliseconds. `flag`: name of the option, for the error. */
export function parseTimeSpan(text: string, flag: string): number {
  const ms = tryParseDuration(text)
  if (ms !== undefined && ms > 0) return ms
  throw invalidValue(flag, 'duration', text)
}

/** Maximum delay of a Node timer. */
const maxTimeoutMs = 2 ** 31 - 1

/** Like `parseTimeSpan`, limited to what timers support. */
export function parseTimeout(text: string, flag: string): number {
  const ms = parseTimeSpan(text, flag)
  if (ms <= maxTimeoutMs) return ms
  throw invalidValue(flag, 'timeout', text)
}

function tryParseDuration(text: string): number | undefined {
  try {
    return parseDuration(text)
  } catch {
    return undefined
  }
}

interface TimeOptions {
  /** Default: the current time, in ms. */
  readonly now?: number
  /** Resolves days and durations to the future: `tuesday` is the next Tuesday, `3h` is in three hours. */
  readonly isAhead?: boolean
}

/**
 * Parses a time; returns ms since the epoch. Forms: `2026-01-02T03:04:05Z`; a day, which starts at midnight (`2026-01-02`,
 * `today`, `yesterday`, `tomorrow`, `tuesday`), optionally with a time (`tuesday 14:30`); `14:30`; or `3h` (ago). Local time
 * unless an offset is given.
 */
export function parseTime(
  text: string,
  flag: string,
  { now = Date.now(), isAhead = false }: TimeOptions = {},
): number {
  const words = text.trim().toLowerCase()
  const span = tryParseDuration(words)
  const ms = isTimestamp(text)
    ? Date.parse(text)
    : span !== undefined
      ? now + (isAhead ? span : -span)
      : readCalendar(words, now, isAhead)
  if (ms !== undefined && !Number.isNaN(ms)) return ms
  throw invalidValue(flag, isAhead ? 'futureTime' : 'pastTime', text)
}

const timestamp = new RegExp(Timestamp.pattern ?? '')
const isTimestamp = (text: string): boolean => timestamp.test(text)

const nearDays: Readonly<Record<string, number>> = { today: 0, yesterday: -1, tomorrow: 1 }
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const minWeekdayChars = 3

/** Parses a day, a time of day, or both; `undefined` if the text is neither. */
function readCalendar(text: string, now: number, isAhead: boolean): number | undefined {
  const [, day = '', clock = ''] = /^(\S+?)??(?:(?:^|t|\s+)(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text) ?? []
  const time = readClock(clock)
  if (time === undefined) return undefined
  if (day !== '') return at(readDay(day, new Date(now), isAhead), time)
  if (clock === '') return undefined
  const today = at(new Date(now), time) ?? now
  if (isAhead ? today > now : today <= now) return today
  return at(addDays(new Date(now), isAhead ? 1 : -1), time)
}

function readClock(text: string): readonly [number, number, number] | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
  return hours < 24 && minutes < 60 && seconds < 60 ? [hours, minutes, seconds] : undefined
}

function readDay(text: string, today: Date, isAhead: boolean): Date | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? []
  if (year !== undefined && month !== undefined && day !== undefined) {
    const date = new Date(year, month - 1, day)
    return date.getMonth() === month - 1 && date.getDate() === day ? date : undefined
  }
  const near = Object.hasOwn(nearDays, text) ? nearDays[text] : undefined
  if (near !== undefined) return addDays(today, near)
  const weekday = text.length < minWeekdayChars ? -1 : weekdays.findIndex((name) => name.startsWith(text))
  if (weekday < 0) return undefined
  const since = (today.getDay() - weekday + 7) % 7
  return addDays(today, isAhead ? 7 - since : -since)
}

const addDays = (date: Date, days: number): Date =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate() + days)

const at = (day: Date | undefined, clock: readonly [number, number, number]): number | undefined =>
  day && new Date(day.getFullYear(), day.getMonth(), day.getDate(), ...clock).getTime()

/** Local time with its offset: `2026-11-24T00:00:00+01:00`. */
export function formatLocalTime(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset()
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${local}${offset < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(minutes)}`
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

export interface PeriodFlags {
  readonly since?: string
  readonly until?: string
}

/** Parses `--since` and `--until`. Prints how a day or time without an offset was understood. */
export function readPeriod({ since, until }: PeriodFlags): {
  readonly since?: number
  readonly until?: number
} {
  return {
    ...(since !== undefined && { since: readPast(since, '--since') }),
    ...(until !== undefined && { until: readPast(until, '--until') }),
  }
}

function readPast(text: string, flag: string): number {
  const ms = parseTime(text, flag)
  announceTime(text, flag, ms)
  return ms
}

function announceTime(text: string, flag: string, ms: number): void {
  if (!isTimestamp(text) && tryParseDuration(text.trim().toLowerCase()) === undefined)
    printNotice(`${flag} ${formatLocalTime(ms)}`)
}

/** The period as RFC 3339 texts for HTTP queries. */
export function readPeriodTexts(flags: PeriodFlags): { since?: string; until?: string } {
  const entries = Object.entries(readPeriod(flags)).map(([name, ms]) => [name, new Date(ms).toISOString()])
  return Object.fromEntries(entries)
}

/** The expiry (RFC 3339) set by `--for` or `--until`; `undefined` if neither is given. */
export function parseExpiry(
  { for: span, until }: { readonly for?: string | undefined; readonly until?: string | undefined },
  now = Date.now(),
): string | undefined {
  if (span !== undefined && until !== undefined)
    throw new UsageError('option_conflict', { option: '--for', other: '--until' })
  if (span !== undefined) return new Date(now + parseTimeSpan(span, '--for')).toISOString()
  if (until === undefined) return undefined
  const ms = parseTime(until, '--until', { now, isAhead: true })
  if (ms <= now)
    throw new UsageError('past_time', { option: '--until', value: until, time: formatLocalTime(ms) })
  announceTime(until, '--until', ms)
  return new Date(ms).toISOString()
}
