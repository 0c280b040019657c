import { copyNumberTexts } from '@meup/protocol'
import { cut, isObject } from './text.js'

/** Masks the secrets in a text, like `guard` of @meup/safety. */
export type Guard = (text: string) => { readonly text: string; readonly isWithheld: boolean }

export interface Redacted {
  readonly value: unknown
  /** Characters of all texts in the value. */
  readonly size: number
}

const mark = '[redacted]'
/** Marks omitted content. */
const more = '…'
/** Maximum characters of a payload in a view, and the minimum that each text counts for. */
const [maxPayloadChars, minTextChars] = [8192, 16]

/** Matches names without case and punctuation: `apiKey`, `API_KEY` and `X-Api-Key` all contain `apikey`. */
const secretName =
  /passw|passphrase|passcode|pwd|secret(?!ar)|token(?!i[sz])|authorization|apikey|(private|access|signing|encryption)key|cookie|credential|bearer/
const shortSecretName = /^(auth|pass|jwt|otp|pin)$/

/**
 * A copy of an MCP payload for a view [MEUP-6.9]: masks values with secret names, and texts and names with the guard; replaces
 * the rest after 8,192 characters by `…`.
 */
export function redact(value: unknown, guard: Guard): Redacted {
  const budget = { left: maxPayloadChars }
  return { value: copy(value, guard, budget), size: maxPayloadChars - budget.left }
}

/** Returns the masked text, or `[withheld]`. */
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

/**
 * Whether views hide the value of a field, by the name of the field, or of the header that it belongs to.
 * @internal
 */
export const isSecretField = (object: Readonly<Record<string, unknown>>, field: string): boolean =>
  isSecretNamed(field, object[field]) || (field === 'value' && isSecretPair(object))

/**
 * Returns `true` while the budget has characters left. Charges one for each value, so that many empty values exhaust it too.
 */
function isLeft(budget: Budget): boolean {
  if (budget.left === 0) return false
  budget.left--
  return true
}

/**
 * Masks and cuts a text. Subtracts its whole length from the budget, not only that of the kept part, to bound the time per
 * payload.
 */
function look(text: string, guard: Guard, budget: Budget): string {
  if (budget.left === 0) return text === '' ? '' : more
  const kept = cut(guarded(text, guard), budget.left)
  budget.left = Math.max(0, budget.left - Math.max(kept.length, text.length, minTextChars))
  return kept
}

/** Whether a field has a secret name. A count of tokens is not a secret. */
function isSecretNamed(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return false
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  if (typeof value === 'number' && plain.includes('token')) return false
  return secretName.test(plain) || shortSecretName.test(plain)
}

/** Whether an object is a header with a secret name: `{"name": "Authorization", "value": "…"}`. */
function isSecretPair({ name, key, header, value }: Readonly<Record<string, unknown>>): boolean {
  return [name, key, header].some((label) => typeof label === 'string' && isSecretNamed(label, value))
}
