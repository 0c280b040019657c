/** The 64 characters of ids, in byte order. */
const digits = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
/** Characters for the time: enough for milliseconds until the year 2109. */
const timeDigits = 7
const randomDigits = 14

/** Random bytes for many ids at once, because a system call costs more than the rest of making an id. */
const random = new Uint8Array(128 * randomDigits)
let used = random.length

/**
 * Creates a unique envelope id [MEUP-1.10]: seven characters of time and 84 random bits. Ids sort by time, so that consecutive
 * ids are neighbors in the index of a log, which makes appends faster than random ids do. `now`: milliseconds since the epoch.
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
