import { programEndedText } from '@meup/folds'
import {
  addAdvice,
  type ErrorCode,
  type ErrorPayload,
  errorHints,
  omitUndefined,
  ProtocolError,
} from '@meup/protocol'
import type { ToolResult } from './tool-result.js'

/** Errors that this client creates; refusals of the gateway are `ProtocolError`. `retryable`: a retry can succeed. */
const localErrors = {
  unreachable: { retryable: true, hint: 'check the address, and that the gateway runs' },
  closed: { retryable: false, hint: 'connect again' },
  timeout: { retryable: true, hint: 'try again, or allow more time' },
  participant_away: {
    retryable: true,
    hint: 'try again when it is back; first check whether a sent call was carried out',
  },
  program_ended: {
    retryable: true,
    hint: 'try again, since another program may have replaced it; first check whether the call was carried out',
  },
  aborted: { retryable: false, hint: 'no action needed: the call was cancelled' },
  queue_full: { retryable: true, hint: 'wait for an acknowledgement, or for a turn to end' },
  malformed: { retryable: false, hint: 'if it repeats, check that the address is a gateway of this version' },
  not_configured: { retryable: false, hint: 'set what the message names' },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean; readonly hint: string }>>

export type LocalErrorCode = keyof typeof localErrors

/** Values that the message of a `ConnectionError` contains, for programs. */
export interface LocalErrorDetails {
  /** `unreachable`, `timeout`: the address of the gateway. */
  readonly url?: string
  /** `participant_away`, `program_ended`: the participant that cannot answer. */
  readonly participant?: string
  /** `timeout`: the time limit. */
  readonly timeoutMs?: number
  /** `queue_full`: the maximum number of unacknowledged envelopes, or of open turns. */
  readonly limit?: number
  /** `not_configured`: the option that is missing or wrong. */
  readonly option?: string
}

interface ConnectionErrorOptions extends ErrorOptions {
  readonly details?: LocalErrorDetails
  readonly retryAfterMs?: number | undefined
}

/** A message to the operator, printed without a stack. */
export class Notice extends Error {
  override readonly name = 'Notice'
}

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly details: LocalErrorDetails
  /** Milliseconds to wait before a retry, as requested by the server. */
  readonly retryAfterMs: number | undefined

  constructor(
    readonly code: LocalErrorCode,
    message: string,
    { details = {}, retryAfterMs, ...options }: ConnectionErrorOptions = {},
  ) {
    super(message, options)
    this.details = details
    this.retryAfterMs = retryAfterMs
  }

  /** Whether a retry can succeed. */
  get retryable(): boolean {
    return localErrors[this.code].retryable
  }

  /** Advice to the developer about an error with this code. */
  get hint(): string {
    return localErrors[this.code].hint
  }

  /** The message and what to do, as sentences: the hint is left out if the message has advice of its own. */
  get explained(): string {
    return this.message.endsWith('.') ? this.message : addAdvice(this.message, this.hint)
  }
}

// The following functions create the errors of this client. A message says what happened, with the value, and then what to
// do, unless the hint of the error code says that. As functions, only those that a page uses are part of its bundle.

type Options = Omit<ConnectionErrorOptions, 'details'>

const local = (code: LocalErrorCode, message: string, details: LocalErrorDetails, options?: Options) =>
  new ConnectionError(code, message, { ...options, details })

/**
 * Thrown by `thought`, `call`, `conclude` and `reply` of a turn after its `signal` was aborted: the question was retracted, the
 * run interrupted or cancelled, the agent restarted or kicked.
 */
export const abortedError = (signal: Pick<AbortSignal, 'reason'> | undefined) =>
  new ConnectionError('aborted', `aborted: ${String(signal?.reason)}`)

/**
 * Gives a refusal the stack of the functions that await it: it was created when its frame came, far from the call. Returns the
 * error.
 */
export function traceToCaller(error: unknown): unknown {
  if (error instanceof ProtocolError) Error.captureStackTrace?.(error, traceToCaller)
  return error
}

/** The client was closed, or has lost its connection for good. */
export const endedError = () => new ConnectionError('closed', 'the connection is closed')

export const brokenExportError = (options?: ErrorOptions) =>
  new ConnectionError('closed', 'the export broke off before its end. Export it again.', options)

export const unreachableError = (url: string, reason: string, options?: Options) => {
  const why = withoutTLS.test(reason) ? 'it speaks no TLS. Begin the address with http://.' : reason
  return local('unreachable', `no gateway answers at ${url}: ${why}`, { url }, options)
}

/** OpenSSL's words for a server that answers a TLS handshake with plain text. */
const withoutTLS = /wrong version number|packet length too long/

/** The connection was lost; the client tries to reconnect. */
export const lostError = (reason: string) => new ConnectionError('unreachable', reason)

export const unguardedError = (reason: string) =>
  new ConnectionError('unreachable', `the scanner for secrets could not be loaded: ${reason}`)

export const timeoutError = (what: string, timeoutMs: number, details?: object, options?: ErrorOptions) =>
  local('timeout', `no ${what} within ${timeoutMs} ms`, { timeoutMs, ...details }, options)

/** `isSent`: the call may have been carried out. `state`: that of the participant's program, if known. */
export const awayError = (participant: string, isSent: boolean, state?: string) => {
  const program = state === undefined ? '' : `, its program is ${state}`
  const fate = isSent ? 'whether it carried out the call is not known' : 'nothing was sent to it'
  return local('participant_away', `"${participant}" is away${program}: ${fate}`, { participant })
}

export const programEndedError = (participant: string) =>
  local('program_ended', programEndedText(participant), { participant })

export const unacknowledgedError = (limit: number) =>
  local('queue_full', `${limit} envelopes are unacknowledged. Await the promises of send().`, { limit })

export const openTurnsError = (limit: number, open: number, own: number, asker: string) => {
  const advice = 'Answer faster, or raise `queue`: messages are refused until a turn has ended.'
  return local('queue_full', `${open} turns are open, ${own} of ${asker}. ${advice}`, { limit })
}

export const malformedError = (problem: string) =>
  new ConnectionError('malformed', `the gateway sent an invalid frame: ${problem}`)

/** `message` must end with advice about the option, because the hint of `not_configured` is the same for all options. */
export const notConfiguredError = (option: string, message: string, options?: ErrorOptions) =>
  local('not_configured', message, { option }, options)

export const notAnAddressError = (url: string) =>
  local('not_configured', `${url} is not an address like http://127.0.0.1:8080`, { option: 'url', url })

/** Does not quote the credential. */
export const invalidCredentialError = (name: string) => {
  const problem = 'has a line break or another character that an HTTP header cannot hold'
  return notConfiguredError(name, `the ${name} ${problem}. Check that it was copied whole, and alone.`)
}

export const invalidNumberError = (name: string, value: number, minimum: number) =>
  notConfiguredError(name, `${name} is ${value}. Set a number from ${minimum} on.`)

export const noEnvironmentError = (option: string) =>
  notConfiguredError(option, 'a page has no environment. Name `url` and `space`.')

export const postedKindError = (kind: string) =>
  new TypeError(`${kind} is not acknowledged. Send it with post().`)

export const unnamedToolError = (tool: string) =>
  new TypeError(`${JSON.stringify(tool)} names no participant. Name a tool as participant/tool.`)

export const usedIdError = (id: string) =>
  new TypeError(`another envelope with the id ${id} is on its way. Use a fresh id.`)

export const noCapabilityError = (proposal: string, why: string) =>
  new TypeError(`${proposal} ${why}. Approve it alone, or grant what you mean with grant().`)

/** Thrown if a tool fails: with a JSON-RPC error, or with a result that has `isError`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  constructor(
    message: string,
    /** The JSON-RPC code; `undefined` if the tool ran and failed. */
    readonly code?: number,
    readonly data?: unknown,
    /** The complete result, if the tool ran and failed. */
    readonly result?: ToolResult,
  ) {
    super(message || 'the tool failed without saying why')
  }
}

/** The extra fields of a `system.error`, as details of a `ProtocolError`. */
export function errorDetails(payload: ErrorPayload): ProtocolError['details'] {
  const { details, attemptedKind, capabilities, retryAfterMs } = payload
  return {
    ...details,
    ...omitUndefined({ attemptedKind, capabilities, retryAfterMs }),
  }
}

/** Reads the refusal in an HTTP response of a gateway [MEUP-11.1]; `undefined` = the body is not a refusal. */
export function readRefusal(body: string, details: ProtocolError['details'] = {}): ProtocolError | undefined {
  try {
    const problem = Object(JSON.parse(body)) as { code?: string; detail?: string; retryAfterMs?: unknown }
    const { code = '', detail = '', retryAfterMs } = problem
    if (!Object.hasOwn(errorHints, code)) return undefined
    const delay = typeof retryAfterMs === 'number' ? { retryAfterMs } : {}
    return new ProtocolError(code as ErrorCode, detail, { ...details, ...delay })
  } catch {
    return undefined
  }
}

/** HTTP statuses after which a retry cannot succeed, even if a proxy sent them [MEUP-5.6]. */
const finalStatuses: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'invalid_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
])

/** An HTTP response other than 101 to a WebSocket handshake. */
interface HandshakeAnswer {
  /** The address of the gateway. */
  readonly url: string
  readonly status: number
  readonly body: string
  /** The header `Retry-After`: seconds, or a date. */
  readonly retryAfter: string | undefined
}

export function createHandshakeError({ url, status, body, retryAfter }: HandshakeAnswer): Error {
  const retryAfterMs = parseRetryAfter(retryAfter)
  const refusal = readRefusal(body, omitUndefined({ retryAfterMs }))
  if (refusal !== undefined) return refusal
  const error = unreachableError(url, `HTTP ${status}`, { retryAfterMs })
  const code = finalStatuses.get(status)
  return code === undefined ? error : new ProtocolError(code, error.message)
}

function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : undefined
}

/** Milliseconds to wait before a retry, as requested by the refusal. */
export function getRetryAfterMs(error: unknown): number | undefined {
  const ms = error instanceof ProtocolError ? error.details.retryAfterMs : Object(error).retryAfterMs
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined
}
