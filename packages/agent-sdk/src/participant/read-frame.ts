import { type AnyEnvelope, Kind } from '@meup/protocol'
import { ConnectionError } from './errors.js'

type Json = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

/**
 * A frame of the gateway as an envelope, or what is wrong with it. Only what this package reads of an envelope is
 * checked: the validators of the schemas would double the size of a page.
 */
export function readFrame(text: string): AnyEnvelope | ConnectionError {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return malformed('it is not JSON')
  }
  if (!isObject(value)) return malformed('it is no object')
  const field = firstWrong(value, envelope) ?? wrongPayload(value)
  return field === undefined ? (value as unknown as AnyEnvelope) : malformed(`${field} is missing or wrong`)
}

const malformed = (problem: string): ConnectionError =>
  new ConnectionError('malformed', `the gateway sent a frame that is no envelope: ${problem}`)

/** Name of the first field that is not as it should be. */
const firstWrong = (value: Json, checks: Readonly<Record<string, Check>>): string | undefined =>
  Object.keys(checks).find((field) => !checks[field]?.(value[field]))

function wrongPayload({ kind, payload }: Json): string | undefined {
  const checks = payloads[String(kind)]
  const field = checks && firstWrong(payload as Json, checks)
  return field && `payload.${field}`
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = Number.isFinite
const isFlag: Check = (value) => typeof value === 'boolean'
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const objectOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && firstWrong(value, checks) === undefined

const envelope: Readonly<Record<string, Check>> = {
  id: isText,
  kind: isText,
  from: isText,
  ts: isText,
  seq: optional((value) => Number.isSafeInteger(value) && Number(value) >= 1),
  to: optional(listOf(isText)),
  correlationId: optional((value) => isText(value) || listOf(isText)(value)),
  context: optional(isText),
  rationale: optional(isText),
  payload: isObject,
}

const capabilities = listOf((value) => isText(value) || isObject(value))

const payloads: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  [Kind.systemWelcome]: {
    you: objectOf({ id: isText, capabilities }),
    participants: listOf(objectOf({ id: isText, capabilities, status: isText })),
    space: objectOf({ id: isText, epoch: isText, head: isNumber }),
    resume: objectOf({ status: isText, from: isNumber, to: isNumber }),
    contexts: listOf(objectOf({ context: isText, owner: isText, hiddenBy: optional(listOf(isText)) })),
    subscription: isObject,
    limits: isObject,
  },
  [Kind.systemError]: {
    code: isText,
    message: isText,
    attemptedKind: optional(isText),
    retryAfterMs: optional(isNumber),
    details: optional(isObject),
  },
  [Kind.systemPresence]: {
    event: isText,
    participant: objectOf({ id: isText, capabilities: optional(capabilities) }),
  },
  [Kind.chat]: { message: isText },
  [Kind.chatCancel]: { reason: optional(isText) },
  [Kind.mcpRequest]: { method: isText },
  [Kind.mcpProposal]: { method: isText, params: optional(isObject), expiresAt: optional(isText) },
  [Kind.observeVisibility]: { context: isText, reasoningVisible: isFlag },
  [Kind.participantPause]: { timeoutSeconds: optional(isNumber) },
  [Kind.participantRequestStatus]: { fields: optional(listOf(isText)) },
}
