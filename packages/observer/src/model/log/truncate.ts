import { isElicitation } from '@meup/folds'
import { copyNumberTexts, type Envelope, Kind, namespaceOf } from '@meup/protocol'

/** Maximum characters of a payload; of a larger one, the beginning of each text is kept, to save memory. */
const maxPayloadChars = 16_384
/** Characters that remain of each text. */
const maxTextChars = 2000

/** Kinds that may be truncated, in addition to kinds outside of the namespaces in `exact`. */
const truncatable: ReadonlySet<string> = new Set([Kind.mcpRequest, Kind.mcpResponse])
const exact: ReadonlySet<string> = new Set([
  ...['chat', 'reasoning', 'system', 'capability', 'space', 'participant', 'observe', 'mcp'],
])
const mayTruncate = ({ kind, payload }: Envelope): boolean =>
  (truncatable.has(kind) || !exact.has(namespaceOf(kind))) && !isElicitation(payload)

/** Complete sizes of truncated payloads, in bytes of JSON. */
const sizes = new WeakMap<Envelope, number>()

/** Complete size of a truncated envelope, in bytes; `undefined` if it is not truncated. */
export const getFullSize = (envelope: Envelope): number | undefined => sizes.get(envelope)

/** Shortens the texts of an envelope whose payload is too large. */
export function truncateEnvelope(envelope: Envelope): Envelope {
  const { payload } = envelope
  if (!mayTruncate(envelope) || !isTooLarge(payload)) return envelope
  const light: Envelope = { ...envelope, payload: truncateObject(payload, { left: maxPayloadChars }) }
  sizes.set(light, new TextEncoder().encode(JSON.stringify(envelope)).length)
  return light
}

const isTooLarge = (payload: unknown): boolean => spend(payload, maxPayloadChars) < 0

/** Subtracts the size of `value` from the budget; negative if it does not fit. */
function spend(value: unknown, left: number): number {
  if (typeof value === 'string') return left - value.length - 2
  if (typeof value !== 'object' || value === null) return left - 4
  let rest = left
  for (const [name, each] of Object.entries(value)) {
    rest = spend(each, rest - name.length)
    if (rest < 0) break
  }
  return rest
}

interface Budget {
  left: number
}

function truncateValue(value: unknown, budget: Budget): unknown {
  if (typeof value === 'string') {
    const maxChars = Math.max(Math.min(maxTextChars, budget.left), 0)
    budget.left -= Math.min(value.length, maxChars)
    return value.length <= maxChars ? value : `${value.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, '')}…`
  }
  budget.left -= 4
  if (Array.isArray(value)) return truncateArray(value, budget)
  return typeof value === 'object' && value !== null ? truncateObject(value, budget) : value
}

function truncateArray(array: readonly unknown[], budget: Budget): unknown[] {
  const kept: unknown[] = []
  for (const each of array) {
    if (budget.left <= 0) break
    kept.push(truncateValue(each, budget))
  }
  return copyNumberTexts(kept, array)
}

function truncateObject(object: object, budget: Budget): Record<string, unknown> {
  const kept: [string, unknown][] = []
  for (const [name, each] of Object.entries(object)) {
    if (budget.left <= 0) break
    budget.left -= name.length
    kept.push([name.slice(0, maxTextChars), truncateValue(each, budget)])
  }
  return copyNumberTexts(Object.fromEntries(kept), object)
}
