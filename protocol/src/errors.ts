/** Error codes. Each has exactly one meaning [MEUP-12.2]. The table in SPEC.md is generated from this object and the hints. */
export const errors = {
  session_replaced: {
    status: 409,
    meaning: 'Another program of this participant has taken over from this one',
  },
  invalid_json: { status: 400, meaning: 'The frame is not one well-formed JSON object' },
  invalid_envelope: { status: 400, meaning: 'An envelope field is missing, unknown or of the wrong type' },
  invalid_payload: { status: 400, meaning: 'The payload does not fit its kind' },
  invalid_context: { status: 400, meaning: 'The context is missing or is not a legal path' },
  invalid_request: { status: 400, meaning: 'The request cannot be read' },
  unsupported_protocol: { status: 400, meaning: 'Another protocol version was asked for' },
  unknown_kind: { status: 400, meaning: 'A reserved namespace has no such kind' },
  reserved_kind: { status: 403, meaning: 'Only the gateway sends this kind' },
  sender_mismatch: { status: 403, meaning: '`from` is not the sender' },
  duplicate_id: { status: 409, meaning: 'The id belongs to another envelope of this space' },
  payload_too_large: {
    status: 413,
    meaning: 'The envelope is larger, or costs more to decide on, than the space allows',
  },
  capability_violation: { status: 403, meaning: 'No capability of the sender allows this envelope' },
  grant_exceeds_own: { status: 403, meaning: 'The grant gives more than its sender holds' },
  rate_limited: { status: 429, meaning: 'The sender is over its rate' },
  participant_paused: { status: 403, meaning: 'The sender is paused' },
  participant_not_found: { status: 404, meaning: 'The space knows no such participant' },
  proposal_not_found: { status: 404, meaning: 'There is no such open proposal' },
  run_not_active: { status: 409, meaning: 'The run is unknown or over' },
  unauthorized: { status: 401, meaning: 'The token is missing or wrong' },
  forbidden: { status: 403, meaning: 'The sender may not do this here' },
  not_found: { status: 404, meaning: 'There is no such thing' },
  unavailable: { status: 503, meaning: 'The gateway cannot do this at present' },
  internal: { status: 500, meaning: 'The gateway failed' },
} as const

export type ErrorCode = keyof typeof errors

/** Advice by code. Apart from `errors`, so that a page loads the hints alone. */
export const errorHints: Readonly<Record<ErrorCode, string>> = {
  session_replaced: 'start one program under this name, or set `programs: many` for it',
  invalid_json: 'send one JSON object per text frame, without duplicate keys and at most 32 levels deep',
  invalid_envelope: 'correct the field that `details.path` names',
  invalid_payload: 'correct the field that `details.path` names',
  invalid_context: 'use up to `limits.contextDepth` segments of A-Z a-z 0-9 _ - joined by /',
  invalid_request: 'correct the parameter that the message names',
  unsupported_protocol: 'speak meup/v0.3 or leave `protocol` out',
  unknown_kind: 'use a kind of the specification or a namespace of your own',
  reserved_kind: 'do not send system.* kinds',
  sender_mismatch: 'leave `from` out: the gateway sets it',
  duplicate_id: 'use a fresh id',
  payload_too_large:
    'send less than `limits.maxEnvelopeBytes`, in a response less than `limits.maxResultBytes`; use fewer patterns',
  capability_violation: 'propose it to a participant that may do it, or ask for a grant',
  grant_exceeds_own: 'grant only what your own capabilities cover',
  rate_limited: 'wait `retryAfterMs`, then send again',
  participant_paused: 'wait for participant.resume',
  participant_not_found: 'address a participant of the space; its welcome lists them',
  proposal_not_found: 'it may be fulfilled, withdrawn or expired',
  run_not_active: 'the run may have ended in the meantime',
  unauthorized: 'send a valid token of this space',
  forbidden: 'see the message',
  not_found: 'check the name',
  unavailable: 'try again later',
  internal: 'try again; tell the operator',
}

export const errorCodes = /* @__PURE__ */ Object.keys(errors) as ErrorCode[]

/** Codes of transient errors: the same request may succeed later. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'participant_paused',
  'unavailable',
  'internal',
])

/** A refusal, sent as `system.error` or as an HTTP problem. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Additional fields of the error. `path` is a JSON pointer to the invalid field. */
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }

  get retryable(): boolean {
    return passing.has(this.code)
  }

  get hint(): string {
    return errorHints[this.code]
  }
}

/** WebSocket close codes of the gateway [MEUP-5.6]. Before the `101` response, the same refusals are HTTP statuses. */
export const closeCodes = {
  draining: 1001,
  tooBig: 1009,
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  noSuchSpace: 4404,
  heartbeatLost: 4408,
  tooSlow: 4410,
  replaced: 4412,
  tooMany: 4429,
} as const

/** Returns the message of an error, or of any other thrown value as text. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
