import { createHmac } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { UserMessage } from './input.js'

/** An encoded envelope to submit, with its id. */
export interface EventFrame {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Creates an id from parts: the same parts result in the same id. */
export type MakeId = (...parts: readonly string[]) => string

/**
 * Creates ids that are the same when a participant repeats a request. They are derived from the participant's token, which is
 * never logged, so that other participants cannot guess an id and use it first.
 */
export const createIdMaker =
  (token: string): MakeId =>
  (...parts) =>
    `ag-ui-${createHmac('sha256', token).update(JSON.stringify(parts)).digest('base64url')}`

/** The user message to ask, with its asker, agent and thread. */
export interface AskingFrame {
  readonly asker: string
  readonly agent: string
  readonly threadId: string
  readonly message: UserMessage
}

/**
 * The id of the chat for a message: the same text of the same message and thread results in the same id, so that a repeated
 * request finds its chat. `attempt`: counts how often the message was asked, from 1.
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
