import { parseExact, Timestamp } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { parseDuration, parseListen } from '../config/notation.js'
import { UsageError } from './exit.js'

/** Reads a positive whole number. `flag`: the option, for errors. */
export function parseCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${flag} takes a whole number such as 20, not ${text}`)
}

/** Reads a number of seconds. */
export function parseSeconds(text: string, flag: string): number {
  const value = Number(text)
  if (value > 0) return value
  throw new UsageError(`${flag} takes seconds such as 60, not ${text}`)
}

const example = `'{"path":"README.md"}'`

/** Reads a JSON object. */
export function parseObject(json: string, flag: string): object {
  let value: unknown
  try {
    value = parseExact(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      `${flag}: this is not JSON: ${reason}; in a shell it stands in single quotes: ${example}`,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${flag} takes a JSON object, such as ${example}`)
  }
  return value
}

/** The item with this id, or the only one whose id starts with it. Throws `UsageError` if several do. */
export function findByPrefix<Item extends { readonly id: string }>(
  items: readonly Item[],
  start: string,
  what: string,
): Item | undefined {
  const exact = items.find(({ id }) => id === start)
  if (exact !== undefined) return exact
  const [first, ...others] = start === '' ? [] : items.filter(({ id }) => id.startsWith(start))
  if (first === undefined || others.length === 0) return first
  const ids = [first, ...others].slice(0, 10).map(({ id }) => id)
  const all = `${ids.join(', ')}${others.length > 9 ? ', …' : ''}`
  throw new UsageError(`${start} may be any ${what} of ${all}; give more of its id`)
}

/** Reads `30s`, `5m`, `2h` or `7d` and returns milliseconds. */
export function parseTimeSpan(text: string, flag: string): number {
  const ms = /^[1-9]/.test(text) ? tryParseDuration(text) : undefined
  if (ms !== undefined) return ms
  throw new UsageError(`${flag} takes how long, such as 30s, 5m, 2h or 7d, not ${text}`)
}

function tryParseDuration(text: string): number | undefined {
  try {
    return parseDuration(text)
  } catch {
    return undefined
  }
}

/** The expiry (RFC 3339) set by `--for` or `--until`; `undefined` = neither is given. */
export function parseExpiry(
  { for: span, until }: { readonly for?: string | undefined; readonly until?: string | undefined },
  now = Date.now(),
): string | undefined {
  if (span !== undefined && until !== undefined) throw new UsageError('give --for or --until, not both')
  if (span !== undefined) return new Date(now + parseTimeSpan(span, '--for')).toISOString()
  return until === undefined ? undefined : new Date(parseTimestamp(until, '--until')).toISOString()
}

/** Reads a time, or a time span before now; returns milliseconds since the epoch. */
export function parsePastTime(text: string, flag: string, now = Date.now()): number {
  return /^\d+[a-z]$/.test(text) ? now - parseTimeSpan(text, flag) : parseTimestamp(text, flag)
}

const timestamp = new RegExp(Timestamp.pattern ?? '')

function parseTimestamp(text: string, flag: string): number {
  const time = timestamp.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new UsageError(`${flag} takes a time, such as 2026-01-02T03:04:05Z, not ${text}`)
}

export function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  try {
    return { ...config, gateway: { ...config.gateway, ...parseListen(listen) } }
  } catch (error) {
    throw new UsageError(`--listen: ${error instanceof Error ? error.message : String(error)}`)
  }
}

type Defined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key]
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>
}

/** Removes fields that are `undefined`, so that options that were not given keep their defaults. */
export const omitUndefined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
