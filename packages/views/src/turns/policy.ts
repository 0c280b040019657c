import { type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import { type Guard, redact } from '../mcp/redact.js'
import { sourceOf } from '../source.js'
import { rationaleOf } from '../text.js'
import { dispatch, moveOn, settle } from './decisions.js'
import type { Ledger } from './ledger.js'
import type { TurnRecord } from './record.js'
import { narrate } from './runs.js'

const calls: ReadonlySet<unknown> = new Set([Kind.mcpRequest, Kind.mcpProposal])
/** What is `blocked` is a text, and what is up for `review` has passed: the call went on. */
const refusals: ReadonlySet<unknown> = new Set(['denied', 'limited'])

/** The gateway refused something, or had it reviewed: a step; a call that was refused is a decision as well. */
export function policy(ledger: Ledger, envelope: Envelope, guard: Guard): void {
  const { payload, to } = envelope
  const [participant] = to ?? []
  if (participant === undefined) return
  const { correlationId: _, context: __, ...rest } = envelope
  const { attemptedCorrelation: about } = payload as Partial<DecisionPayload>
  const attempt = {
    ...rest,
    from: participant,
    ...(typeof payload.context === 'string' && { context: payload.context }),
    ...(about !== undefined && { correlationId: about }),
  }
  const turn = ledger.turnOf(attempt) ?? ledger.beginJob(participant, envelope)
  const content = `Policy ${String(payload.reasonCode)}: ${String(payload.message)}`
  ledger.addStep(turn, envelope, { phase: 'waiting_approval', content, linked_policy_decision: envelope.id })
  if (turn.agent !== participant || !refusals.has(payload.decision) || !calls.has(payload.attemptedKind))
    return
  const { attemptedId, attemptedRationale, attemptedArguments } = payload as Partial<DecisionPayload>
  const { value: parameters, size } = redact(attemptedArguments ?? {}, guard)
  const id = attemptedId !== undefined && !isMade(turn, attemptedId) ? attemptedId : envelope.id
  const toolName = String(payload.attemptedTool ?? payload.attemptedKind)
  moveOn(turn)
  narrate(turn, attempt.context)
  const source = sourceOf(envelope)
  dispatch(turn, {
    id,
    source,
    toolName,
    rationale: rationaleOf({ rationale: attemptedRationale }),
    parameters,
    size,
  })
  const { seq } = ledger
  if (settle(turn, id, { seq, source, outcome: 'rejected', text: String(payload.message), isAnswer: false }))
    ledger.update(turn)
}

/** An id may be refused because a call has it already. */
const isMade = ({ decisions }: TurnRecord, attemptedId: string): boolean =>
  decisions.some(({ id, source }) => id === attemptedId && source.kind !== Kind.systemDecision)
