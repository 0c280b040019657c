const hints = {
  unknown_commit: 'take the hash of a commit of this transcript',
  out_of_order: 'commit what the message asks for first',
  invalid_content: 'see the content records of the transcript',
  invalid_record: 'use an unchanged copy of the record',
  unconfirmed_address: 'give that address as baseURL to send the prompts there',
  nothing_to_answer: 'commit a user message or the result of a tool call first',
  busy: 'await the running call',
  no_client: 'open the transcript with a client',
  unreadable_response: 'give the client a response of a known provider, a text, or { text, toolCalls }',
} as const

export type TranscriptErrorCode = keyof typeof hints

/** Thrown if an operation on a transcript is invalid; it has committed nothing. */
export class TranscriptError extends Error {
  override readonly name = 'TranscriptError'
  constructor(
    readonly code: TranscriptErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }

  /** Advice to the developer about errors with this code. */
  get hint(): string {
    return hints[this.code]
  }
}
