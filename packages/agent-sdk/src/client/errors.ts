import { type ErrorCode, type ErrorPayload, errors, omitUndefined, ProtocolError } from '@meup/protocol'
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
}

/**
 * Thrown by `thought`, `call`, `conclude` and `reply` of a turn after its `signal` was aborted: the question was retracted, the
 * run interrupted or cancelled, the agent restarted or kicked.
 */
export const abortedError = ({ reason }: Pick<AbortSignal, 'reason'>): ConnectionError =>
  new ConnectionError('aborted', `aborted: ${String(reason)}`)

/** The client was closed, or has lost its connection for good. */
export const endedError = (): ConnectionError => new ConnectionError('closed', 'the connection is closed')

export const unreachableError = (url: string, reason: string, options?: ErrorOptions): ConnectionError =>
  new ConnectionError('unreachable', `no gateway answers at ${url}: ${reason}`, {
    ...options,
    details: { url },
  })

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
    super(message)
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
    const { code = '', detail = '' } = Object(JSON.parse(body)) as { code?: string; detail?: string }
    return Object.hasOwn(errors, code) ? new ProtocolError(code as ErrorCode, detail, details) : undefined
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
  readonly status: number
  readonly body: string
  /** The header `Retry-After`: seconds, or a date. */
  readonly retryAfter: string | undefined
}

export function createHandshakeError({ status, body, retryAfter }: HandshakeAnswer): Error {
  const retryAfterMs = parseRetryAfter(retryAfter)
  const refusal = readRefusal(body, omitUndefined({ retryAfterMs }))
  if (refusal !== undefined) return refusal
  const message = `HTTP ${status} instead of a socket; is this a gateway?`
  const code = finalStatuses.get(status)
  return code === undefined
    ? new ConnectionError('unreachable', message, { retryAfterMs })
    : new ProtocolError(code, message)
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
