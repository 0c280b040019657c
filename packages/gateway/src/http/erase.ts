import { type Envelope, ERASE, holdsLiteral, maxErasureReason, PROTOCOL } from '@meup/protocol'
import type { Context } from 'hono'
import { verdictFor } from '../core/decisions.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { consumeControlToken } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import { readPost } from './envelopes.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'

/** `POST /spaces/{space}/audit/erase`: removes the body of an envelope for good [MEUP-11.20]. */
export async function postErasure(context: Context, options: HttpOptions): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const refusal = checkRight(visitor)
  if (refusal !== undefined) {
    record(visitor, refusal)
    return refused(refusal)
  }
  const asked = readAsked(body)
  if (isRefusal(asked)) return refused(asked)
  const receipt = await visitor.erasing.erase({ ...asked, by: visitor.participant })
  return isRefusal(receipt) ? refused(receipt) : context.json(receipt, 201)
}

function checkRight(visitor: Caller): Refusal | undefined {
  const { space, participant } = visitor
  const { participants, pauses } = space.state
  const pause = pauses.get(participant, space.clock.now())
  if (pause !== undefined) {
    const values = { by: pause.by, participant, reason: '', end: 'it is resumed' }
    return refuse('participant_paused', texts.paused, values)
  }
  if (!holdsLiteral(participants.capabilities(participant), ERASE)) {
    const values = { participant, capability: ERASE }
    return refuse('capability_violation', texts.missingErase, values, { details: { missing: ERASE } })
  }
  return consumeControlToken(visitor, space, 'erasures')
}

/** Counts and records the refusal of an erasure like that of an envelope: in the metrics, and as a decision in the log. */
function record(visitor: Caller, refusal: Refusal): void {
  const { space } = visitor
  const envelope: Envelope = { protocol: PROTOCOL, id: '', ts: '', from: '', kind: ERASE, payload: {} }
  space.metrics.refused.add(refusal.code)
  const verdict = verdictFor(refusal)
  if (verdict !== undefined && !space.isFollower)
    space.decisions.record({ sender: visitor, envelope }, verdict)
}

function readAsked(body: Uint8Array): { readonly seq: number; readonly reason: string } | Refusal {
  let asked: unknown
  try {
    asked = JSON.parse(Buffer.from(body).toString())
  } catch {
    return malformed
  }
  const { seq, reason } = Object(asked) as Record<string, unknown>
  const isSeq = Number.isSafeInteger(seq) && Number(seq) > 0
  if (!isSeq || typeof reason !== 'string' || reason.trim() === '' || reason.length > maxErasureReason)
    return malformed
  return { seq: Number(seq), reason }
}

const malformed = refuse('invalid_request', texts.invalidErasure, { characters: maxErasureReason })
