import { getToolName, restrictionInfo, unnamedKind } from '@meup/folds'
import { type ParticipantDetails, type ProposalInfo, StepBudget } from '@meup/protocol'
import { parseEnvelope } from '../../log/entries.js'
import type { EnvelopeLog } from '../../ports/envelope-log.js'
import { readProposed } from '../admission/proposed.js'
import type { SpaceState } from '../state/state.js'

/** Maximum number of open proposals that one welcome considers, newest first. */
const maxProposals = 64
const maxProposalBytes = 256 * 1024
/** Maximum steps of pattern matching that decide which proposals concern a participant; proposals beyond them are left out. */
const maxPatternSteps = 2 ** 16

/** The members of a space at `now`, in milliseconds since the epoch [MEUP-5.4]. */
export function participantsIn(state: SpaceState, now: number): ParticipantDetails[] {
  const { participants = {} } = (state.configured ?? {}) as {
    participants?: Readonly<Record<string, { readonly kind: string; readonly description?: string }>>
  }
  return state.participants.list().map(({ id, capabilities, status, program }) => {
    const { kind = unnamedKind(id), description } = participants[id] ?? {}
    const pause = state.pauses.get(id, now)
    const kick = state.trust.kicks.get(id)
    return {
      id,
      kind,
      capabilities,
      status,
      ...(pause && { paused: restrictionInfo(pause) }),
      ...(kick && (kick.until ?? Number.POSITIVE_INFINITY) > now && { kicked: restrictionInfo(kick) }),
      ...(program && { program }),
      ...(description !== undefined && { description }),
    }
  })
}

/** Whether the program that made a proposal has ended, so that nothing waits for its result [MEUP-3.29]. */
export const hasEnded = ({ programs }: SpaceState, by: string, session: string | undefined): boolean =>
  session !== undefined && !programs.isLiving(by, session)

/** The part of a space that a welcome uses. */
interface Known {
  readonly state: SpaceState
  readonly log: Pick<EnvelopeLog, 'find'>
}

/** The open proposals that a participant has made, or may fulfil or reject, oldest first [MEUP-5.4]. */
export function proposalsFor(participant: string, { state, log }: Known, now: number): ProposalInfo[] {
  const budget = new StepBudget(maxPatternSteps)
  const found: ProposalInfo[] = []
  let bytes = 0
  for (const { id, from, rejectedBy, usesLeft, session } of state.calls
    .proposals(now, maxProposals)
    .reverse()) {
    const row = rejectedBy.includes(participant) ? undefined : log.find(id)
    if (row === undefined) continue
    bytes += row.body.length
    if (bytes > maxProposalBytes) break
    if (from !== participant && !state.participants.allows(participant, readProposed(row), budget)) continue
    const { to, payload } = parseEnvelope(row)
    const { expiresAt } = payload
    found.unshift({
      id,
      seq: row.seq,
      from,
      ...(to && { to }),
      tool: getToolName(payload),
      usesLeft,
      ...(typeof expiresAt === 'string' && { expiresAt }),
      ...(hasEnded(state, from, session) && { programEnded: true }),
    })
  }
  return found
}
