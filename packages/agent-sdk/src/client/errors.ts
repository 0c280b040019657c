import { type ErrorCode, type ErrorPayload, errors, ProtocolError } from '@meup/protocol'
import { defined } from './defined.js'
import type { ToolResult } from './tool-result.js'

/** Local errors. Refusals of the gateway are `ProtocolError`. */
export type LocalErrorCode =
  | 'unreachable'
  | 'closed'
  | 'timeout'
  | 'aborted'
  | 'queue_full'
  | 'malformed'
  | 'not_configured'

const hints: Readonly<Record<LocalErrorCode, string>> = {
  unreachable: 'check the address, and that the gateway runs',
  closed: 'connect anew',
  timeout: 'try again, or allow more time',
  aborted: 'nothing: it was asked for',
  queue_full: 'wait until something of it is done: an acknowledgement, or a turn',
  malformed: 'nothing, if it stays with one; otherwise see that what answers is a gateway of this version',
  not_configured: 'set what the message names',
}
const passing: ReadonlySet<LocalErrorCode> = new Set(['unreachable', 'timeout', 'queue_full'])

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  constructor(
    readonly code: LocalErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }

  /** Whether a retry can succeed. */
  get retryable(): boolean {
    return passing.has(this.code)
  }

  /** What to do about it. */
  get hint(): string {
    return hints[this.code]
  }
}

/**
 * What `thought`, `call`, `conclude` and `reply` of a turn throw once its `signal` is aborted: the question was taken back, the
 * run interrupted or cancelled, the agent restarted or kicked.
 */
export const abortedError = ({ reason }: Pick<AbortSignal, 'reason'>): ConnectionError =>
  new ConnectionError('aborted', `aborted: ${String(reason)}`)

/** A tool failed: a JSON-RPC error, or a result with `isError`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  constructor(
    message: string,
    /** The JSON-RPC code; `undefined` if the tool ran and failed. */
    readonly code?: number,
    readonly data?: unknown,
    /** All that the tool gave back, if it ran and failed. */
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
    ...defined({ attemptedKind, capabilities, retryAfterMs }),
  }
}

/** The refusal that a gateway answers over HTTP [MEUP-11.1]; `undefined` = this is none. */
export function readRefusal(body: string): ProtocolError | undefined {
  try {
    const { code = '', detail = '' } = Object(JSON.parse(body)) as { code?: string; detail?: string }
    return Object.hasOwn(errors, code) ? new ProtocolError(code as ErrorCode, detail) : undefined
  } catch {
    return undefined
  }
}

export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
