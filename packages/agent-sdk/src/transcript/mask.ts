import { compileSecretMask, defaultSafety, type SafetySettings } from '@meup/safety'

/** Characters of one text that are kept, half of them from its end: scanning takes time. */
const maxChars = 128 * 1024
/** Characters beyond a cut that are scanned as well, so that a secret that straddles it is seen. */
const margin = 2048

/** Removes secrets from what is kept. Objects stay objects; the name of a field tells what its text may be. */
export interface Mask {
  text(text: string): string
  json(value: unknown): unknown
}

/** `secrets`: texts that are secrets whatever they look like. */
export function createMask(
  settings: Partial<SafetySettings>,
  secrets: readonly string[],
  failed: (error: unknown) => void,
): Mask {
  const known = new Set(secrets.filter((each) => each !== ''))
  const rules = { ...defaultSafety, ...settings }
  const mask = compileSecretMask(rules, { isKnownSecret: (each) => known.has(each), failed })

  const text = (whole: string, before = ''): string => {
    if (whole.length <= maxChars) return mask(whole, before)
    const half = maxChars / 2
    const begin = mask(whole.slice(0, half + margin), before).slice(0, -margin)
    const end = mask(whole.slice(-half - margin)).slice(margin)
    const left = (whole.length - begin.length - end.length).toLocaleString('en-US')
    return `${begin}\n[… ${left} characters are not kept …]\n${end}`.toWellFormed()
  }
  const json = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return text(value, name === '' ? '' : `${name}: `)
    if (Array.isArray(value)) return value.map((each) => json(each, name))
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [mask(key), json(each, key)]))
  }
  return { text: (whole) => text(whole), json: (value) => json(value) }
}
