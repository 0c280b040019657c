import {
  type AnyEnvelope,
  copyNumberTexts,
  type EnvelopeOf,
  isEnvelopeId,
  type JsonObject,
  Kind,
  type Limits,
  ProtocolError,
  parseExact,
  readObject,
  stringifyExact,
} from '@meup/protocol'
import { type ConnectionError, malformedError } from './errors.js'

const encoder = new TextEncoder()

export interface Frame {
  readonly text: string
  readonly bytes: Uint8Array
  /** The frame as a parsed object. */
  readonly object: JsonObject
}

/** Maximum bytes of a frame, from the welcome [MEUP-1.5]. */
export type SizeLimits = Pick<Limits, 'maxEnvelopeBytes'> & Partial<Pick<Limits, 'maxResultBytes'>>

/**
 * Encodes an envelope as a text frame. If the gateway could not read the frame, throws the `ProtocolError` that it would send:
 * its error would contain no id, so it could not be matched to the request.
 */
export function encodeFrame(envelope: object, limits: SizeLimits): Frame {
  const text = withWholeCharacters(stringifyExact(envelope))
  const bytes = encoder.encode(text)
  const maxBytes = getMaxBytes(envelope, limits)
  if (bytes.length > maxBytes) {
    const message = `The envelope has ${bytes.length} bytes. Send at most ${maxBytes}.`
    throw new ProtocolError('payload_too_large', message, { bytes: bytes.length, maxBytes })
  }
  const object = readObject(bytes)
  if (typeof object === 'string') throw new ProtocolError('invalid_json', object)
  const { id } = object.value
  if (id !== undefined && !isEnvelopeId(id)) {
    throw new ProtocolError(
      'invalid_envelope',
      `/id must be 1 to 64 of A-Z a-z 0-9 _ -, not ${JSON.stringify(id)}`,
    )
  }
  return { text, bytes, object }
}

/** The maximum size of an envelope. Results, such as screenshots and files, may be larger than other envelopes. */
function getMaxBytes(envelope: { kind?: unknown }, { maxEnvelopeBytes, maxResultBytes }: SizeLimits): number {
  return envelope.kind === Kind.mcpResponse
    ? Math.max(maxEnvelopeBytes, maxResultBytes ?? 0)
    : maxEnvelopeBytes
}

/** Matches escaped surrogates: a pair, or a lone one. */
const surrogates = /(?<!\\)((?:\\\\)*)(?:(\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]..)/gi

/** Replaces lone surrogates, as in a cut text, by U+FFFD: receivers refuse them [MEUP-1.8]. */
const withWholeCharacters = (json: string): string =>
  /\\ud/i.test(json)
    ? json.replaceAll(surrogates, (_, before: string, pair = '\\ufffd') => `${before}${pair}`)
    : json

type Json = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

/**
 * Decodes a frame of the gateway to an envelope, or to an error; `undefined` = a tick, which `Transport.received` counts.
 * Checks only the fields that this package uses: schema validators would double the size of a browser bundle.
 */
export function decodeFrame(text: string): AnyEnvelope | ConnectionError | undefined {
  let value: unknown
  try {
    value = parseExact(text)
  } catch {
    return malformedError('it is not JSON')
  }
  if (!isObject(value)) return malformedError('it is not an object')
  if (value.kind === Kind.systemTick) return undefined
  const field = firstWrong(value, envelopeChecks) ?? wrongPayload(value)
  if (field !== undefined) return malformedError(`${field} is missing or wrong`)
  return value as unknown as AnyEnvelope
}

type Request = Pick<EnvelopeOf<typeof Kind.mcpRequest>, 'id' | 'payload'>

/** Creates the response to a request, with the request's JSON-RPC id, digit for digit [MEUP-13.9]. */
export function createResponse({ id, payload }: Request, outcome: object): object {
  return copyNumberTexts({ jsonrpc: '2.0', id: payload.id ?? id, ...outcome }, payload)
}

/** Name of the first invalid field. */
const firstWrong = (value: Json, checks: Readonly<Record<string, Check>>): string | undefined =>
  Object.keys(checks).find((field) => !checks[field]?.(value[field]))

function wrongPayload({ kind, payload }: Json): string | undefined {
  const checks = payloadChecks[String(kind)]
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
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const isObjectOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && firstWrong(value, checks) === undefined

const envelopeChecks: Readonly<Record<string, Check>> = {
  id: isText,
  kind: isText,
  from: isText,
  ts: isText,
  seq: optional((value) => Number.isSafeInteger(value) && Number(value) >= 1),
  to: optional(isListOf(isText)),
  correlationId: optional((value) => isText(value) || isListOf(isText)(value)),
  context: optional(isText),
  rationale: optional(isText),
  payload: isObject,
}

const capabilities = isListOf((value) => isText(value) || isObject(value))

const payloadChecks: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  [Kind.systemWelcome]: {
    you: isObjectOf({ id: isText, capabilities }),
    participants: isListOf(isObjectOf({ id: isText, capabilities, status: isText })),
    space: isObjectOf({ id: isText, epoch: isText, head: isNumber }),
    resume: isObjectOf({ status: isText, from: isNumber, to: isNumber }),
    contexts: isListOf(isObjectOf({ context: isText, owner: isText, hiddenBy: optional(isListOf(isText)) })),
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
    participant: isObjectOf({ id: isText, capabilities: optional(capabilities) }),
    ended: optional(isObjectOf({ what: isText, id: isText })),
  },
  [Kind.chat]: { message: isText },
  [Kind.chatDelta]: { index: isNumber, text: isText },
  [Kind.chatCancel]: { reason: optional(isText) },
  [Kind.mcpRequest]: { method: isText },
  [Kind.mcpProposal]: { method: isText, params: optional(isObject), expiresAt: optional(isText) },
  [Kind.observeVisibility]: { context: isText, reasoningVisible: isFlag },
  [Kind.observeSummary]: { thoughts: isNumber, phases: optional(isListOf(isText)) },
  [Kind.participantPause]: { timeoutSeconds: optional(isNumber) },
  [Kind.participantRequestStatus]: { fields: optional(isListOf(isText)) },
}
