import { nanoid } from 'nanoid'

/** 64 characters, in the order of their bytes. */
const digits = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
/** Enough for milliseconds until the year 2109. */
const timeDigits = 7

/**
 * An id for an envelope that nobody else has [MEUP-1.10]: seven characters of time, and 84 random bits. A log looks up every
 * id; those that are made one after the other stand together in its index, so that a new one costs half of what it
 * would cost if it were random from its beginning. `now`: milliseconds since the epoch.
 */
export function freshId(now = Date.now()): string {
  let time = ''
  for (let rest = now, digit = 0; digit < timeDigits; digit++, rest = Math.floor(rest / digits.length)) {
    time = (digits[rest % digits.length] ?? '') + time
  }
  return time + nanoid(14)
}
