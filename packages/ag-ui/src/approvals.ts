// Approvals and rejections of proposals: `resume` of a run answers the interrupts of an earlier run.

import { type ExactText, exactText, type ProposedCall } from '@meup/folds'
import type { Entry } from '@meup/gateway'
import { type Caller, isRefusal, mayRead, type Refusal } from '@meup/gateway/routes'
import { type EnvelopeOf, Kind, parseExact } from '@meup/protocol'
import { createRefusal } from './errors.js'
import type { WorkAccount } from './feed.js'
import { type EventFrame, encodeEventFrame, type MakeId } from './frames.js'
import type { ResumedDecision } from './input.js'

/** Maximum characters of a call that an interrupt shows in full. */
const maxExactChars = 16_000

type Reader = Pick<Caller, 'space' | 'participant'>

/** The participant that decides, with its rights. */
type Decider = Reader & Pick<WorkAccount, 'mayApprove'>

/**
 * The exact text that a client must show before its user may approve a proposal. Interrupts contain it, and approvals are
 * checked against it. Derived from the proposal, which never changes, so it is not stored. `undefined` if the id is not that of
 * a proposal that the participant may read.
 */
export function readExactText(reader: Reader, id: string): ExactText | undefined {
  const proposal = findProposal(reader, id)
  return proposal && exactText(readCall(proposal), maxExactChars)
}

/**
 * Encodes decisions about proposals as frames; `latest`: the highest seq of these proposals. Refuses all decisions if the
 * decider may not approve a proposal, or no interrupt shows it completely. Skips settled proposals. Frames are encoded on
 * demand, because together they may be large.
 */
export function encodeDecisions(
  makeId: MakeId,
  answers: readonly ResumedDecision[],
  decider: Decider,
): { readonly frames: Iterable<EventFrame>; readonly latest: number } | Refusal {
  let latest = 0
  for (const [index, answer] of answers.entries()) {
    const proposal = checkAnswer(answer, index, decider)
    if (isRefusal(proposal)) return proposal
    latest = Math.max(latest, proposal.seq)
  }
  return { frames: encodeFrames(makeId, answers, decider), latest }
}

/** Returns the proposal if the decider may make this decision, otherwise a refusal. */
function checkAnswer(
  { proposal: id, isApproved }: ResumedDecision,
  index: number,
  decider: Decider,
): Entry | Refusal {
  const proposal = findProposal(decider, id)
  if (proposal === undefined)
    return createRefusal('unknown_proposal', { proposal: id.slice(0, 100) }, `/resume/${index}/interruptId`)
  if (!isApproved) return proposal
  const path = `/resume/${index}/payload/approved`
  if (!decider.mayApprove(parse(proposal))) return createRefusal('not_allowed', { proposal: id }, path)
  if (exactText(readCall(proposal), maxExactChars).isWhole) return proposal
  return createRefusal('hidden_part', { proposal: id }, path)
}

function findProposal({ space, participant }: Reader, id: string): Entry | undefined {
  const entry = space.log.find(id)
  if (entry?.kind !== Kind.mcpProposal) return undefined
  return mayRead(space.getReader({ participant }), space.decideAudience(entry)) ? entry : undefined
}

function* encodeFrames(
  makeId: MakeId,
  answers: readonly ResumedDecision[],
  reader: Reader,
): Generator<EventFrame> {
  const { space, participant } = reader
  for (const answer of answers) {
    const { proposal: id, isApproved } = answer
    if (space.state.calls.proposal(id, space.clock.now()) === undefined) continue
    const proposal = findProposal(reader, id)
    if (proposal === undefined) continue
    const decisionId = makeId(isApproved ? 'approve' : 'reject', participant, id)
    yield isApproved ? approval(decisionId, proposal) : rejection(decisionId, proposal, answer)
  }
}

const parse = ({ body }: Entry): EnvelopeOf<typeof Kind.mcpProposal> =>
  parseExact(Buffer.from(body).toString()) as EnvelopeOf<typeof Kind.mcpProposal>

/** The call that a proposal contains [MEUP-4.17]. */
function readCall(proposal: Entry): ProposedCall {
  const { to, context, payload } = parse(proposal)
  const { method, params, uses: usesLeft, expiresAt } = payload
  return { to, context, method, params, usesLeft, expiresAt }
}

/**
 * The envelope that approves a proposal. It has neither payload nor rationale: the gateway makes the request that was proposed
 * [MEUP-4.20], with the proposer's rationale [MEUP-13.11].
 */
const approval = (id: string, { id: correlationId }: Entry): EventFrame =>
  encodeEventFrame(id, { kind: Kind.mcpRequest, correlationId })

const rejection = (
  id: string,
  { id: proposal, from }: Entry,
  { reason = 'not approved' }: ResumedDecision,
): EventFrame =>
  encodeEventFrame(id, {
    kind: Kind.mcpReject,
    to: [from],
    correlationId: proposal,
    payload: { reason },
  })
