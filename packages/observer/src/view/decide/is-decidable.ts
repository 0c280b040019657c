import type { Draft } from '@meup/agent-sdk/watch'
import type { ProposalView } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { PageSession } from '../../connect/session.js'

/** The request that fulfils a proposal. */
const toRequest = ({ to, context, payload }: Envelope): Draft => ({
  kind: Kind.mcpRequest,
  payload,
  ...(to && { to }),
  ...(context !== undefined && { context }),
})

/** Whether this reader may approve a proposal. The right to approve includes the right to reject [MEUP-3.11]. */
export function isDecidable(
  { id, source }: ProposalView,
  session: PageSession,
  can: (draft: Draft) => boolean,
): boolean {
  const envelope = session.model.log.get(id)
  return envelope !== undefined && source.from !== session.welcome?.you.id && can(toRequest(envelope))
}
