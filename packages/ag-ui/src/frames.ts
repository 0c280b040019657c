import { createHmac } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { UserMessage } from './input.js'

/** An envelope that is yet to be submitted, and its id. */
export interface Frame {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Returns the same id for the same parts. */
export type MakeId = (...parts: readonly string[]) => string

/**
 * Ids that repeat when a participant repeats a request. They depend on its token, which no log has, so that nobody else can use
 * them first.
 */
export const createIdMaker =
  (token: string): MakeId =>
  (...parts) =>
    `ag-ui-${createHmac('sha256', token).update(JSON.stringify(parts)).digest('base64url')}`

/** A message of a thread, and who asks it of whom. */
export interface Asking {
  readonly asker: string
  readonly agent: string
  readonly threadId: string
  readonly message: UserMessage
}

/**
 * The same text of the same message and thread becomes the same chat, so that a repeated request finds it. `attempt`: how often it
 * was asked, from 1.
 */
export const makeQuestionId = (
  makeId: MakeId,
  { asker, agent, threadId, message: { id, text } }: Asking,
  attempt: number,
): string => makeId('ask', asker, agent, threadId, id, text, `${attempt}`)

export const encodeQuestion = (id: string, { agent, message: { text } }: Asking): Frame =>
  encodeFrame(id, { kind: Kind.chat, to: [agent], payload: { message: text } })

export const encodeCancellation = (makeId: MakeId, questionId: string, agent: string): Frame =>
  encodeFrame(makeId('cancel', questionId), {
    kind: Kind.chatCancel,
    to: [agent],
    correlationId: questionId,
    payload: { reason: 'the client went away' },
  })

export const encodeFrame = (id: string, fields: object): Frame => ({
  id,
  bytes: Buffer.from(JSON.stringify({ id, ...fields })),
})
