import { getNumberText, parseExact } from '@meup/protocol'

/** Numbers keep their digits. `undefined` = not JSON. */
export const parseExactJson = (json: string): unknown => {
  try {
    return parseExact(json)
  } catch {
    return undefined
  }
}

/** Converts integers of a `parseExactJson` value that exceed the range of numbers to texts, for consumers that parse JSON themselves. */
export function toDigits(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const withDigits = (key: string | number, each: unknown): unknown => {
    const digits = getNumberText(value, key)
    return digits !== undefined && /^-?\d+$/.test(digits) && !Number.isSafeInteger(each)
      ? digits
      : toDigits(each)
  }
  if (Array.isArray(value)) return value.map((each, at) => withDigits(at, each))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withDigits(key, each)]))
}
