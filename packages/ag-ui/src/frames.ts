import { createHmac } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { UserMessage } from './input.js'

/** An envelope to submit, and its id. */
export interface EventFrame {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Returns the same id for the same parts. */
export type MakeId = (...parts: readonly string[]) => string

/**
 * Creates ids that repeat when a participant repeats a request. Derived from its token, which is never logged, so that no one
 * else can use them first.
 */
export const createIdMaker =
  (token: string): MakeId =>
  (...parts) =>
    `ag-ui-${createHmac('sha256', token).update(JSON.stringify(parts)).digest('base64url')}`

/** A message of a thread with its asker and agent. */
export interface AskingFrame {
  readonly asker: string
  readonly agent: string
  readonly threadId: string
  readonly message: UserMessage
}

/**
 * An equal text of the same message and thread has the same id, so that a repeated request finds its chat. `attempt`: number of
 * times asked, from 1.
 */
export const makeQuestionId = (
  makeId: MakeId,
  { asker, agent, threadId, message: { id, text } }: AskingFrame,
  attempt: number,
): string => makeId('ask', asker, agent, threadId, id, text, `${attempt}`)

export const encodeQuestion = (id: string, { agent, message: { text } }: AskingFrame): EventFrame =>
  encodeEventFrame(id, { kind: Kind.chat, to: [agent], payload: { message: text } })

export const encodeCancellation = (makeId: MakeId, questionId: string, agent: string): EventFrame =>
  encodeEventFrame(makeId('cancel', questionId), {
    kind: Kind.chatCancel,
    to: [agent],
    correlationId: questionId,
    payload: { reason: 'the client went away' },
  })

export const encodeEventFrame = (id: string, fields: object): EventFrame => ({
  id,
  bytes: Buffer.from(JSON.stringify({ id, ...fields })),
})
