import { exitCodes } from './exit-codes.js'
import { type FailureName, type FailureRow, failures } from './failures.js'

type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

/** Values for the placeholders `{name}` of a failure. */
type Values<Name extends FailureName> = Readonly<
  Record<Placeholder<(typeof failures)[Name]['says'] | (typeof failures)[Name]['remedy']>, string>
>

/** An error listed in `failures`. Its message says what happened, then the next step. */
export class Failure<Name extends FailureName = FailureName> extends Error {
  override readonly name = 'Failure'
  readonly code: Name
  readonly exitCode: number

  constructor(name: Name, values: Values<Name>, options?: ErrorOptions) {
    super(describeFailure(name, values), options)
    this.code = name
    const { exit = exitCodes.error }: FailureRow = failures[name]
    this.exitCode = exit
  }
}

/** The failure's message with its placeholders filled in, without the remedy. */
export function describeFailure<Name extends FailureName>(name: Name, values: Values<Name>): string {
  const texts: Readonly<Record<string, string>> = values
  return `${failures[name].says}; ${getRemedy(name)}`.replace(
    /\{(\w+)\}/g,
    (_, key: string) => texts[key] ?? '',
  )
}

/** The next step, as plain text. */
export const getRemedy = (name: FailureName): string => failures[name].remedy.replaceAll('`', '')
