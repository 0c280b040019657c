import type { ErrorPayload, ProtocolError } from '@meup/protocol'

/** What went wrong on this side of the wire. What the gateway refuses is a `ProtocolError`. */
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

  /** Whether the same may succeed later. */
  get retryable(): boolean {
    return passing.has(this.code)
  }

  /** What to do about it. */
  get hint(): string {
    return hints[this.code]
  }
}

/** A tool answered with an error: a JSON-RPC error, or a result that says `isError`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  constructor(
    message: string,
    /** JSON-RPC code; `undefined` when the tool ran and failed. */
    readonly code?: number,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

/** The extra fields of a `system.error` as details of the error that is thrown. */
export function errorDetails(payload: ErrorPayload): ProtocolError['details'] {
  const { details, attemptedKind, capabilities, retryAfterMs } = payload
  return {
    ...details,
    ...(attemptedKind !== undefined && { attemptedKind }),
    ...(capabilities !== undefined && { capabilities }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}
