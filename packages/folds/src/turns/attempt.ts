import { type DecisionPayload, type Envelope, Kind } from '@meup/protocol'

const calls: ReadonlySet<unknown> = new Set([Kind.mcpRequest, Kind.mcpProposal])
/** What is `blocked` is a text, and what is up for `review` has passed: the call went on. */
const refusals: ReadonlySet<unknown> = new Set(['denied', 'limited'])

/** What a `system.decision` is about, as if its participant had sent it; `undefined`: it concerns nobody. */
export function attemptOf(decision: Envelope): Envelope | undefined {
  const { payload, to, correlationId: _, context: __, ...rest } = decision
  const [participant] = to ?? []
  if (participant === undefined) return undefined
  const { attemptedCorrelation } = payload as Partial<DecisionPayload>
  return {
    ...rest,
    payload,
    from: participant,
    ...(typeof payload.context === 'string' && { context: payload.context }),
    ...(attemptedCorrelation !== undefined && { correlationId: attemptedCorrelation }),
  }
}

/** Whether a call was refused. */
export const isRefusedCall = ({ decision, attemptedKind }: Partial<DecisionPayload>): boolean =>
  refusals.has(decision) && calls.has(attemptedKind)
