import { getNumberText, parseExact } from '@meup/protocol'

/** Parses JSON without changing large integers; `undefined` = the text is not JSON. */
export const parseExactJson = (json: string): unknown => {
  try {
    return parseExact(json)
  } catch {
    return undefined
  }
}

/**
 * Converts integers of a `parseExactJson` value that exceed the safe range to strings, for consumers that cannot represent
 * them.
 */
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
