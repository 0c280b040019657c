/** 64 characters in byte order. */
const digits = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
/** Enough for milliseconds until the year 2109. */
const timeDigits = 7
const randomDigits = 14

/** Random bytes for many ids at once, because a system call costs more than the rest of an id. */
const random = new Uint8Array(128 * randomDigits)
let used = random.length

/**
 * A unique envelope id [MEUP-1.10]: seven characters of time and 84 random bits. Ids sort by time, so that consecutive ids are
 * neighbors in the index of a log: an append takes less time than with random ids. `now`: milliseconds since the epoch.
 */
export function freshId(now = Date.now()): string {
  let id = ''
  for (let rest = now, digit = 0; digit < timeDigits; digit++, rest = Math.floor(rest / digits.length)) {
    id = digits.charAt(rest % digits.length) + id
  }
  if (used === random.length) {
    crypto.getRandomValues(random)
    used = 0
  }
  for (const end = used + randomDigits; used < end; used++) {
    id += digits.charAt((random[used] ?? 0) % digits.length)
  }
  return id
}
