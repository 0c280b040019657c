/** Milliseconds of a unit of time. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const unit = `(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)`
const piece = new RegExp(String.raw`(\d+(?:\.\d+)?)\s*${unit}(?![a-z])`, 'gi')
/** Like `20 s`, `1m30s`, `7 minutes and 12 seconds`, `PT1M30S`. */
const duration = new RegExp(String.raw`^(?:P?T?\s*(?:\d+(?:\.\d+)?)\s*${unit}\s*(?:,|and)?\s*)+$`, 'i')
/** A number of seconds that is one since the epoch. */
const minEpochSeconds = 1e9

/** Reads the wait that response headers ask for, in milliseconds; `undefined` = none, or in an unknown form. */
export function readWait(
  headers: Readonly<Record<string, string | undefined>>,
  now = Date.now(),
): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  return ms >= 0 ? ms : parseWait(headers['retry-after'], now)
}

/** Reads the wait that the body of a refusal asks for, in milliseconds: `Please try again in 7m12s`, `"retryDelay":"34s"`. */
export function findWait(body: string): number | undefined {
  const found = /(?:try again|retry|wait)[^\d"]{0,30}"?[^\d"]{0,4}"?((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)/i.exec(
    body,
  )?.[1]
  const ms = sum(found ?? '')
  return ms > 0 ? ms : undefined
}

function parseWait(text: string | undefined, now: number): number | undefined {
  const given = text?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(given)) {
    const seconds = Number(given)
    return seconds < minEpochSeconds ? seconds * 1000 : Math.max(0, seconds * 1000 - now)
  }
  if (duration.test(given)) return sum(given)
  const date = /\d{4}/.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const sum = (text: string): number =>
  [...text.matchAll(piece)].reduce((total, [, count, name = '']) => {
    const key = name.toLowerCase() === 'ms' ? 'ms' : (name[0] ?? '').toLowerCase()
    return total + Number(count) * (units[key] ?? 0)
  }, 0)

/** For people: `in 7 s`, `in 12 minutes`. */
export function describeWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  if (seconds <= 90) return `in ${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= 90) return `in ${minutes} minutes`
  const hours = Math.ceil(minutes / 60)
  return hours <= 36 ? `in ${hours} hours` : `in ${Math.ceil(hours / 24)} days`
}
