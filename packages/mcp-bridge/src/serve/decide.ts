import type { Desk } from './desk.js'
import { decisionIn } from './elicitation.js'
import { explain } from './failures.js'

/** Does what somebody has filled into a form. What comes of it is for the proposer, and not waited for. */
export function decideBy(
  { approvals, log }: Pick<Desk, 'approvals' | 'log'>,
  id: string,
  content: Readonly<Record<string, unknown>> | undefined,
): void {
  const decision = decisionIn(content)
  if (decision === undefined) return
  const done = decision.decision === 'approve' ? approvals.approve(id) : approvals.reject(id, decision.reason)
  done.catch((error: unknown) => log(`the proposal ${id} could not be decided: ${explain(error)}`))
}
