import { copyNumberTexts } from '@meup/protocol'
import { compileSecretMask, defaultSafety, type SafetySettings } from '@meup/safety'

/** Maximum characters of a stored text, because masking takes time. Half of them are from the end of the text. */
const maxChars = 128 * 1024
/** Characters beyond a cut that are scanned too, so that a secret across the cut is recognized. */
const margin = 2048
/** Minimum characters of a literal secret: a shorter one would match ordinary text. */
const minSecretChars = 8
/** Maximum depth of objects; deeper ones are converted to text. */
const maxDepth = 64

/** Masks secrets before storage. Objects keep their structure; the rules for a text depend on the name of its field. */
export interface Mask {
  text(text: string): string
  json(value: unknown): unknown
}

/**
 * `secrets`: texts that are always masked. `failed`: gets the name of a masking error, because its message may quote the text.
 */
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
