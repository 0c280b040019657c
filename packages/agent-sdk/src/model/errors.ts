import { type DetailsOf, fillIn } from '@meup/protocol'

/** The messages of `NoAnswerError`, by code: what happened, with the value, and then what to do. */
export const noAnswerTexts = {
  time_limit: 'no answer within {limit} ms. Ask for less, or raise limits.turnMs.',
  step_limit: 'no answer after {limit} steps. Ask for less, or raise limits.steps.',
  token_limit: 'no answer after {used} tokens. Ask for less, or raise limits.tokens.',
  day_limit:
    '{used} tokens in 24 hours are used, of {limit}. Ask again in {wait}, or raise limits.tokensPerDay.',
  invalid_answer: 'the answer does not fit the schema: {problem}. Ask again.',
  invalid_calls: 'the model keeps making invalid tool calls: {problems}. Ask again.',
  broken_off: '{model} broke off its answer {ending}. Ask again.',
  broken_off_after: '{model} broke off its answer {ending}. Ask again. It began: {beginning}',
  withheld: '{model} withheld its answer {ending}. Ask in other words.',
  no_text: 'the model gave no answer. Ask again.',
  text_cut_off:
    'the model gave no answer before its limit of tokens. Ask for less, or raise settings.maxOutputTokens.',
  only_thought: 'the model gave no answer, it only thought. Ask again.',
  endless: 'the model came to no end within {limit} characters. Ask again, or choose another model.',
  repetition: 'the model repeated itself until it was stopped. Ask again, or choose another model.',
  no_summary: '{model} wrote no summary. Choose another model.',
  unread_log: 'the log of the space cannot be read. Check the gateway.',
  all_parsed: 'the model gave no answer, it only thought. Check the reasoning parser of {provider}.',
} as const

type NoAnswerCode = keyof typeof noAnswerTexts

/** A reason for a missing answer that may be shown to the asker. */
export class NoAnswerError<Code extends NoAnswerCode = NoAnswerCode> extends Error {
  override readonly name = 'NoAnswerError'
  constructor(
    readonly code: Code,
    readonly details: DetailsOf<(typeof noAnswerTexts)[Code]>,
  ) {
    super(fillIn(noAnswerTexts[code], details))
  }
}

/** Returns `true` if a model came to no end, which is reported to the operator as well as to the asker. */
export const isLoopError = (error: unknown): boolean =>
  error instanceof NoAnswerError && ['endless', 'repetition'].includes(error.code)
