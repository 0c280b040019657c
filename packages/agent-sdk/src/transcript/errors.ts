import { type Details, type DetailsOf, fillIn } from '@meup/protocol'

/** The messages of `TranscriptError`, by code: what happened, with the value, and then what to do. */
export const transcriptTexts = {
  unknown_commit: 'no commit has the hash {hash}. Take one of this transcript.',
  unexpected_result: 'no call {callId} waits for a result. Commit the answer that makes it first.',
  missing_results: 'calls have no results: {calls}. Commit those first.',
  late_reasoning: 'the reasoning comes after its answer. Commit it before the answer.',
  not_json: 'the content cannot be serialized as JSON: {reason}. Give it plain values.',
  invalid_content: '{path} is invalid: {problem}. Correct it.',
  invalid_record: '{path} is invalid: {problem}. Use an unchanged record.',
  changed_record: 'the record was changed: at commit {at}, the {problem} is wrong. Use an unchanged one.',
  unknown_note: 'a note refers to {hash}, which is not a commit. Use an unchanged record.',
  unconfirmed_address:
    'this turn was answered by a model at {address}. Give that as baseURL to send the prompts there.',
  nothing_to_answer:
    'the prompt has no question, or it is answered already. Commit a user message or the result of a call.',
  prompts_not_stored:
    'the prompts of this turn were not stored. Replay one that was recorded with transcript: full.',
  unreadable_response:
    'no provider is known to give a response like this. Return a text, or an object with text and toolCalls.',
  no_client: 'this transcript has no client to ask. Open it with one.',
  busy: 'the model is being asked. Await that first.',
  no_file: 'there is no transcript {file}. Check the name.',
  foreign_file: '{file} is not a transcript of this version. Name another file.',
} as const

export type TranscriptErrorCode = keyof typeof transcriptTexts

/** The values in the message of an error with this code. */
export type TranscriptErrorDetails<Code extends TranscriptErrorCode = TranscriptErrorCode> =
  Code extends TranscriptErrorCode ? DetailsOf<(typeof transcriptTexts)[Code]> : never

/** Thrown if an operation on a transcript is invalid; it has committed nothing. */
export class TranscriptError<Code extends TranscriptErrorCode = TranscriptErrorCode> extends Error {
  override readonly name = 'TranscriptError'
  constructor(
    readonly code: Code,
    readonly details: TranscriptErrorDetails<Code>,
    options?: ErrorOptions,
  ) {
    super(fillIn(transcriptTexts[code], details as Details), options)
  }
}
