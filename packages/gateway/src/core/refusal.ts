import type { ErrorCode } from '@meup/protocol'
import { type DetailsOf, fillIn } from '@meup/protocol/error-texts'
import { texts } from './refusal-texts.js'

/** The answer to a refused envelope, connection or HTTP request: sent as `system.error` or as problem details. */
export interface Refusal {
  readonly code: ErrorCode
  /** The message to the sender: the problem, then advice. */
  readonly message: string
  /** JSON pointer to the bad field. */
  readonly path?: string
  readonly retryAfterMs?: number
  readonly details?: Readonly<Record<string, unknown>>
}

/** Only a refusal carries a message. */
export const isRefusal = (outcome: object): outcome is Refusal => 'message' in outcome

type Extras = Omit<Refusal, 'code' | 'message'>

/** A refusal with a text of `texts` and its values. */
export const refuse = <Text extends string>(
  code: ErrorCode,
  text: Text,
  ...[values, extras]: object extends DetailsOf<Text>
    ? [values?: object, extras?: Extras]
    : [values: DetailsOf<Text>, extras?: Extras]
): Refusal => ({ code, message: fillIn(text, (values ?? {}) as DetailsOf<Text>), ...extras })

/** `path`: JSON pointer to the field that caused the refusal. */
export const forbidden = <Text extends string>(
  text: Text,
  values: DetailsOf<Text>,
  path?: string,
): Refusal => ({ code: 'forbidden', message: fillIn(text, values), ...(path !== undefined && { path }) })

export const unknownParticipant = (path: string, id: string): Refusal =>
  refuse('participant_not_found', texts.unknownParticipant, { id }, { path })

export const setByGateway = (path: string): Refusal =>
  refuse('invalid_payload', texts.fieldOfGateway, { path }, { path })

/** Refuses an invalid or past time as `invalid_payload`; accepts an absent one. `now` in milliseconds. */
export function notInFuture(path: string, time: string | undefined, now: number): Refusal | undefined {
  if (time === undefined || Date.parse(time) > now) return undefined
  return refuse('invalid_payload', texts.pastTime, { path, now: new Date(now).toISOString() }, { path })
}
