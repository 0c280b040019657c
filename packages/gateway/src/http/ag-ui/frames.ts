import { createHmac } from 'node:crypto'
import { type Envelope, errors, getMember, Kind } from '@meup/protocol'
import { mayRead } from '../../core/delivery/may-read.js'
import { type Denial, deny } from '../../host/connection-gate.js'
import type { Caller } from '../../host/gateway.js'
import type { Entry } from '../../ports/envelope-log.js'
import type { Answer, RunInput } from './input.js'

/** An envelope that is yet to be submitted, and its id. */
export interface Frame {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Makes the same id of the same parts. */
export type MakeId = (...parts: readonly string[]) => string

/**
 * Ids that a participant's repeated request finds again, and that nobody else can take before it: they depend on its
 * token, which is in no log.
 */
export const idsFor =
  (token: string): MakeId =>
  (...parts) =>
    `ag-ui-${createHmac('sha256', token).update(JSON.stringify(parts)).digest('base64url')}`

/** The same message of the same thread is the same chat, however often it is sent. */
export function question(
  makeId: MakeId,
  { threadId, question: { id, text } }: Pick<RunInput, 'threadId' | 'question'>,
  agent: string,
  asker: string,
): Frame {
  return frame(makeId('ask', asker, agent, threadId, id), {
    kind: Kind.chat,
    to: [agent],
    payload: { message: text },
  })
}

export const cancellation = (makeId: MakeId, questionId: string, agent: string): Frame =>
  frame(makeId('cancel', questionId), {
    kind: Kind.chatCancel,
    to: [agent],
    correlationId: questionId,
    payload: { reason: 'the client went away' },
  })

/**
 * What was decided about proposals, and the latest of them. Of one that is settled already nothing is to be said. Each
 * frame is made when it is asked for, since all of them together may be large.
 */
export function decisions(
  makeId: MakeId,
  answers: readonly Answer[],
  { space, participant }: Pick<Caller, 'space' | 'participant'>,
): { readonly frames: Iterable<Frame>; readonly latest: number } | Denial {
  let latest = 0
  for (const { proposal: id } of answers) {
    const entry = space.log.find(id)
    const isReadable = entry && mayRead(space.readerOf({ participant }), space.audienceOf(entry))
    if (entry?.kind !== Kind.mcpProposal || !isReadable) {
      const message = `resume answers ${id.slice(0, 100)}, which is no proposal of this space`
      return deny('proposal_not_found', errors.proposal_not_found.status, message)
    }
    latest = Math.max(latest, entry.seq)
  }
  return { frames: framesOf(makeId, answers, { space, participant }), latest }
}

function* framesOf(
  makeId: MakeId,
  answers: readonly Answer[],
  { space, participant }: Pick<Caller, 'space' | 'participant'>,
): Generator<Frame> {
  for (const answer of answers) {
    const { proposal: id, isApproved } = answer
    if (space.state.proposals.find(id, space.clock.now()) === undefined) continue
    const entry = space.log.find(id)
    if (entry === undefined) continue
    const decisionId = makeId(isApproved ? 'approve' : 'reject', participant, id)
    yield isApproved ? approval(decisionId, entry) : rejection(decisionId, entry, answer)
  }
}

/** The request that was proposed, to the letter [MEUP-4.17]; why, only its proposer has said [MEUP-13.11]. */
function approval(id: string, { id: proposal, body }: Entry): Frame {
  const { to, context, payload } = JSON.parse(Buffer.from(body).toString()) as Envelope
  const params = getMember(getMember(body, 'payload') ?? new Uint8Array(), 'params')
  const asked = JSON.stringify({ jsonrpc: '2.0', id, method: payload.method })
  const request = params === undefined ? asked : `${asked.slice(0, -1)},"params":${Buffer.from(params)}}`
  const head = JSON.stringify({ id, kind: Kind.mcpRequest, to, correlationId: proposal, context })
  return { id, bytes: Buffer.from(`${head.slice(0, -1)},"payload":${request}}`) }
}

const rejection = (id: string, { id: proposal, from }: Entry, { reason = 'not approved' }: Answer): Frame =>
  frame(id, {
    kind: Kind.mcpReject,
    to: [from],
    correlationId: proposal,
    payload: { reason },
  })

const frame = (id: string, fields: object): Frame => ({
  id,
  bytes: Buffer.from(JSON.stringify({ id, ...fields })),
})
