import { copyNumberTexts } from '@meup/protocol'
import { cut, isObject } from './text.js'

/** Masks the secrets of a text, as `guard` of @meup/safety does. */
export type Guard = (text: string) => { readonly text: string; readonly isWithheld: boolean }

export interface Redacted {
  readonly value: unknown
  /** Characters of all its texts. */
  readonly size: number
}

const mark = '[redacted]'
/** Marks that something was left out. */
const more = '…'
/** Characters that a view keeps of one payload, and the least that each text costs of them. */
const [maxPayloadChars, minTextChars] = [8192, 16]

/** In names without case and punctuation: `apiKey`, `API_KEY` and `X-Api-Key` all hold `apikey`. */
const secretName =
  /passw|passphrase|passcode|pwd|secret(?!ar)|token(?!i[sz])|authorization|apikey|(private|access|signing|encryption)key|cookie|credential|bearer/
const shortSecretName = /^(auth|pass|jwt|otp|pin)$/

/**
 * A copy of an MCP payload for a view [MEUP-6.9]: values with names of secrets are masked, texts and names are guarded, and the
 * rest after 8,192 characters is replaced by `…`.
 */
export function redact(value: unknown, guard: Guard): Redacted {
  const budget = { left: maxPayloadChars }
  return { value: copy(value, guard, budget), size: maxPayloadChars - budget.left }
}

/** The guarded text, or `[withheld]`. */
export function guarded(text: string, guard: Guard): string {
  const { text: safe, isWithheld } = guard(text)
  return isWithheld ? '[withheld]' : safe
}

interface Budget {
  left: number
}

function copy(value: unknown, guard: Guard, budget: Budget): unknown {
  if (typeof value === 'string') return look(value, guard, budget)
  if (Array.isArray(value)) return copyArray(value, guard, budget)
  return isObject(value) ? copyObject(value, guard, budget) : value
}

function copyArray(array: readonly unknown[], guard: Guard, budget: Budget): unknown[] {
  const copied: unknown[] = []
  for (const value of array) {
    if (!isLeft(budget)) return [...copied, more]
    copied.push(copy(value, guard, budget))
  }
  return copyNumberTexts(copied, array)
}

function copyObject(object: Readonly<Record<string, unknown>>, guard: Guard, budget: Budget): object {
  const copied: [string, unknown][] = []
  for (const [key, value] of Object.entries(object)) {
    if (!isLeft(budget)) {
      copied.push([more, more])
      break
    }
    const isSecret = isSecretField(object, key)
    copied.push([look(key, guard, budget), isSecret ? mark : copy(value, guard, budget)])
  }
  return copyNumberTexts(Object.fromEntries(copied), object)
}

/** Whether the value of a field is not for views, by the name of the field or of the pair that it is in. @internal */
export const isSecretField = (object: Readonly<Record<string, unknown>>, field: string): boolean =>
  isSecretNamed(field, object[field]) || (field === 'value' && isSecretPair(object))

/** Each value costs at least one character, so that many empty ones exhaust the budget too. */
function isLeft(budget: Budget): boolean {
  if (budget.left === 0) return false
  budget.left--
  return true
}

/** The whole text counts, not only the part that is kept: this bounds the time that a payload takes. */
function look(text: string, guard: Guard, budget: Budget): string {
  if (budget.left === 0) return text === '' ? '' : more
  const kept = cut(guarded(text, guard), budget.left)
  budget.left = Math.max(0, budget.left - Math.max(kept.length, text.length, minTextChars))
  return kept
}

/** A number of tokens is no secret. */
function isSecretNamed(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return false
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  if (typeof value === 'number' && plain.includes('token')) return false
  return secretName.test(plain) || shortSecretName.test(plain)
}

/** A header as a pair: `{"name": "Authorization", "value": "…"}`. */
function isSecretPair({ name, key, header, value }: Readonly<Record<string, unknown>>): boolean {
  return [name, key, header].some((label) => typeof label === 'string' && isSecretNamed(label, value))
}
