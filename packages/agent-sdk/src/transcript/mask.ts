import { copyNumberTexts } from '@meup/protocol'
import { compileSecretMask, defaultSafety, type SafetySettings } from '@meup/safety'

/** Characters of one text that are kept, half of them from its end: scanning takes time. */
const maxChars = 128 * 1024
/** Characters beyond a cut that are scanned as well, so that a secret that straddles it is seen. */
const margin = 2048
/** Characters of a secret that is looked for to the letter: a shorter one would be found in any text. */
const minSecretChars = 8
/** Levels of objects that stay objects; what is deeper becomes text. */
const maxDepth = 64

/** Removes secrets from what is kept. Objects stay objects; the name of a field tells what its text may be. */
export interface Mask {
  text(text: string): string
  json(value: unknown): unknown
}

/** `secrets`: texts that are secrets whatever they look like. `failed` gets the name of an error: its message may quote the text. */
export function createMask(
  settings: Partial<SafetySettings>,
  secrets: readonly string[],
  failed: (error: string) => void,
): Mask {
  const known = secrets.filter(({ length }) => length >= minSecretChars)
  const onError = (error: unknown): void => failed(error instanceof Error ? error.name : typeof error)
  const maskLikely = compileSecretMask({ ...defaultSafety, ...settings }, { failed: onError })
  const mask = (text: string, before?: string): string =>
    maskLikely(
      known.reduce((rest, secret) => rest.replaceAll(secret, '[redacted:known-secret]'), text),
      before,
    )

  const text = (whole: string, before = ''): string => {
    if (whole.length <= maxChars) return mask(whole, before)
    const half = maxChars / 2
    const begin = mask(whole.slice(0, half + margin), before).slice(0, -margin)
    const end = mask(whole.slice(-half - margin)).slice(margin)
    const left = (whole.length - begin.length - end.length).toLocaleString('en-US')
    return `${begin}\n[… ${left} characters are not kept …]\n${end}`.toWellFormed()
  }
  const json = (value: unknown, name: string, depth: number): unknown => {
    if (typeof value === 'string') return text(value, name === '' ? '' : `${name}: `)
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    if (depth > maxDepth) return text(JSON.stringify(value))
    const copy = Array.isArray(value)
      ? value.map((each) => json(each, name, depth + 1))
      : Object.fromEntries(
          Object.entries(value).map(([key, each]) => [mask(key), json(each, key, depth + 1)]),
        )
    return copyNumberTexts(copy, value)
  }
  return { text: (whole) => text(whole), json: (value) => json(value, '', 1) }
}
