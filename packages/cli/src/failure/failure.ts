import { addAdvice, type Details, type DetailsOf, fillIn } from '@meup/protocol'
import { exitCodes } from './exit-codes.js'
import { type FailureName, type FailureRow, failures } from './failures.js'
import { type UsageCode, usageTexts, valueForms } from './usage.js'

type FailureDetails<Name extends FailureName> = DetailsOf<
  (typeof failures)[Name]['says'] | (typeof failures)[Name]['remedy']
>

/** An error that ends a command. `details` has the values in its message. */
export class CodedError<Code extends string = string> extends Error {
  constructor(
    readonly code: Code,
    readonly details: Details,
    message: string,
    readonly exitCode: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** A failure of failures.ts. Its message is one sentence: what happened, then the next step. */
export class Failure<Name extends FailureName = FailureName> extends CodedError<Name> {
  override readonly name = 'Failure'

  constructor(code: Name, details: FailureDetails<Name>, options?: ErrorOptions) {
    const { exit = exitCodes.error }: FailureRow = failures[code]
    super(code, details, describeFailure(code, details), exit, options)
  }
}

/** The command was called wrongly: an error of usage.ts. */
export class UsageError<Code extends UsageCode = UsageCode> extends CodedError<Code> {
  override readonly name = 'UsageError'

  constructor(code: Code, details: DetailsOf<(typeof usageTexts)[Code]>, options?: ErrorOptions) {
    super(code, details, fillIn(usageTexts[code], details), exitCodes.usage, options)
  }
}

/**
 * The error for a value that an option does not take. Omit `value` if it may be a secret: the message then does not quote it.
 */
export function invalidValue(option: string, form: keyof typeof valueForms, value?: string): UsageError {
  const details = { option, expected: valueForms[form] }
  return value === undefined
    ? new UsageError('invalid_form', details)
    : new UsageError('invalid_value', { ...details, value })
}

/** The message of a failure, with the values filled in. */
export const describeFailure = <Name extends FailureName>(
  name: Name,
  details: FailureDetails<Name>,
): string => fillIn(addRemedy(failures[name].says, name), details)

/** Adds the next step of a failure to a message. */
export const addRemedy = (message: string, name: FailureName): string => addAdvice(message, getRemedy(name))

/** The next step that a failure's message advises, as plain text. */
export const getRemedy = (name: FailureName): string => failures[name].remedy.replaceAll('`', '')
