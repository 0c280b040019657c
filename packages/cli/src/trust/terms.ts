import { parseDuration } from '@meup/folds'
import { Timestamp } from '@meup/protocol'
import { UsageError } from '../exit.js'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `30s`, `5m`, `2h` or `7d` and gives milliseconds; `flag` is where it was written. */
export function spanOf(text: string, flag: string): number {
  const milliseconds = /^[1-9]\d{0,5}[a-z]$/.test(text) ? parseDuration(text) : undefined
  if (milliseconds !== undefined) return milliseconds
  throw new UsageError(`${flag} takes how long, such as 30s, 5m, 2h or 7d, not ${text}`)
}

/** When something ends that was limited by `--for` or by `--until`, RFC 3339; `undefined` = by none of them. */
export function endOf(
  { for: span, until }: { readonly for?: string; readonly until?: string },
  now = Date.now(),
): string | undefined {
  if (span !== undefined && until !== undefined) throw new UsageError('give --for or --until, not both')
  if (span !== undefined) return new Date(now + spanOf(span, '--for')).toISOString()
  return until === undefined ? undefined : new Date(timeOf(until, '--until')).toISOString()
}

/** A time, or how long ago it was: in milliseconds since the epoch. */
export function pastOf(text: string, flag: string, now = Date.now()): number {
  return /^\d+[a-z]$/.test(text) ? now - spanOf(text, flag) : timeOf(text, flag)
}

const timestamp = new RegExp(Timestamp.pattern ?? '')

function timeOf(text: string, flag: string): number {
  const time = timestamp.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new UsageError(`${flag} takes a time, such as 2026-01-02T03:04:05Z, not ${text}`)
}

/** `90 s`, `10 min`, `36 h` or `3 d`, rounded up; `ms` in milliseconds. */
export function spanText(ms: number): string {
  if (ms <= 2 * units.m) return `${Math.ceil(ms / units.s)} s`
  if (ms <= 2 * units.h) return `${Math.ceil(ms / units.m)} min`
  if (ms <= 2 * units.d) return `${Math.ceil(ms / units.h)} h`
  return `${Math.ceil(ms / units.d)} d`
}
