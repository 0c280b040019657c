/** Milliseconds per unit of time. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const unit = `(m(?:illi)?s(?:ec(?:ond)?s?)?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])`
const number = String.raw`\d+(?:\.\d+)?`
const piece = new RegExp(String.raw`(${number})\s*${unit}`, 'gi')
/** A duration such as `20 s`, `1m30s`, `7 minutes and 12 seconds`. */
const duration = String.raw`(?:${number}\s?${unit}\s?(?:, ?|and )?)+`
const date = String.raw`\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)`
/** Text between a key and its value, in JSON and in sentences. */
const gap = String.raw`[^\d"]{0,30}"?[^\d"]{0,4}"?`
const again = '(?:try again|retry|wait|resets?)'

/** Larger numbers are not durations but timestamps, in seconds or milliseconds since 1970. */
const [minEpochSeconds, minEpochMs] = [1e9, 1e12]
/** Maximum wait in milliseconds; longer ones are considered mistakes. */
const maxMs = 366 * 86_400_000

interface Form {
  readonly says: RegExp
  /** Converts the found text to milliseconds from now. */
  read(found: string, now: number): number
}

const untilDate = (found: string, now: number): number => Date.parse(found) - now

/** The forms of the header `Retry-After`: `20`, a time since 1970, `1m30s`, `PT20S`, or a date. */
const headerForms: readonly Form[] = [
  {
    // Some proxies repeat the value: `20, 20`.
    says: new RegExp(`^"?\\+?(${number})"?(?:\\s*[,;].*)?$`),
    read: (found, now) => {
      const count = Number(found)
      if (count >= minEpochMs) return count - now
      return count * 1000 - (count >= minEpochSeconds ? now : 0)
    },
  },
  { says: new RegExp(`^(${duration})$`, 'i'), read: sum },
  { says: /^P(.*\d[DHMS])$/i, read: (found) => sum(found.replace(/T/i, ' ')) },
  { says: /^(.*(?:\d{4}|-[a-z]{3}-\d\d).*)$/i, read: untilDate },
]

/**
 * The forms of waits in the body of a refusal: `Please try again in 7m12s`, `"retryDelay":"34s"`, `"resets_in_seconds": 90`.
 */
const bodyForms: readonly Form[] = [
  { says: new RegExp(`${again}${gap}(${duration})`, 'i'), read: sum },
  { says: new RegExp(`${again}${gap}(${date})`, 'i'), read: untilDate },
  {
    says: new RegExp(`(?:retry|reset)\\w*_(?:ms|millis\\w*)"?:\\s*"?(${number})`, 'i'),
    read: (found) => Number(found),
  },
  {
    says: new RegExp(`(?:retry|resets?)[_ -]?(?:after|in|delay)\\w*"?:?\\s*"?(${number})\\b`, 'i'),
    read: (found) => Number(found) * 1000,
  },
]

/** Reads the wait from response headers in milliseconds; `undefined` = none, or an unknown form. */
export function readWait(
  headers: Readonly<Record<string, string | undefined>>,
  now = Date.now(),
): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  return ms >= 0 ? ms : read(headerForms, headers['retry-after']?.trim() ?? '', now)
}

/** Reads the wait from the body of a refusal in milliseconds; `undefined` = none. */
export function findWait(body: string, now = Date.now()): number | undefined {
  const ms = read(bodyForms, body, now)
  return ms === 0 ? undefined : ms
}

function read(forms: readonly Form[], text: string, now: number): number | undefined {
  for (const { says, read } of forms) {
    const found = says.exec(text)?.[1]
    const ms = found === undefined ? Number.NaN : read(found, now)
    if (ms <= maxMs) return Math.max(0, ms)
  }
  return undefined
}

function sum(text: string): number {
  return [...text.matchAll(piece)].reduce((total, [, count, name = '']) => {
    const key = /^m(?:illi)?s/i.test(name) ? 'ms' : (name[0] ?? '').toLowerCase()
    return total + Number(count) * (units[key] ?? 0)
  }, 0)
}

/** Formats a wait for people: `in 7 s`, `in 12 minutes`. */
export function describeWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  if (seconds <= 90) return `in ${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= 90) return `in ${minutes} minutes`
  const hours = Math.ceil(minutes / 60)
  return hours <= 36 ? `in ${hours} hours` : `in ${Math.ceil(hours / 24)} days`
}
