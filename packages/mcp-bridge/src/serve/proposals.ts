import { ProtocolError } from '@meup/agent-sdk'
import type { ProposalView } from '@meup/folds'
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  type McpServer,
} from '@modelcontextprotocol/server'
import { canElicit, createForm, type Decision, defaultReason, readDecision } from './elicitation.js'
import type { SpaceService } from './service.js'
import { addTool, dataResult, describeTool, relayedResult, textResult, timeoutSeconds } from './tool.js'

interface DecideArgs {
  readonly id: string
  readonly decision?: 'approve' | 'reject'
  readonly reason?: string
  readonly why?: string
  readonly timeout_seconds?: number
}

const defaultSeconds = 60
/** Of the one form that is shown. */
const key = 'decision'

const listing = describeTool({
  title: 'What waits for a decision',
  description: 'Lists what participants propose to be done, oldest first, and what this identity may decide.',
  annotations: { readOnlyHint: true },
})

const deciding = describeTool<DecideArgs>({
  title: 'Approve or reject a proposal',
  description:
    'Approves a proposal, which has it done now exactly as proposed and gives back the result, or rejects it. Without a decision the user is asked for one, if this client can do so.',
  input: {
    id: { type: 'string', minLength: 1, description: 'id of the proposal' },
    decision: { enum: ['approve', 'reject'] },
    reason: { type: 'string', description: 'why it is rejected, for its proposer' },
    why: { type: 'string', description: 'why it is approved, for everybody to read' },
    timeout_seconds: timeoutSeconds(defaultSeconds),
  },
  required: ['id'],
  annotations: { openWorldHint: true, destructiveHint: true },
})

export function addProposals(server: McpServer, service: SpaceService): void {
  const { space, approvals } = service
  addTool(server, 'list_proposals', listing, async () =>
    dataResult({ proposals: approvals.list().map((each) => describe(service, each)) }),
  )
  addTool(server, 'decide_proposal', deciding, async (args, context) => {
    const { id, decision, reason = defaultReason } = args
    const proposal = approvals.view(id)
    if (decision === 'approve') return carryOut(service, args, { decision }, context.mcpReq.signal)
    if (decision === 'reject') return carryOut(service, args, { decision, reason }, context.mcpReq.signal)
    const response = inputResponse(context.mcpReq.inputResponses, key)
    if (response.kind !== 'elicit') {
      if (!canElicit(server, context)) throw undecided()
      const form = createForm(proposal, space.proposals.mayReject(id))
      return inputRequired({ inputRequests: { [key]: inputRequired.elicit(form) } })
    }
    const decided = response.action === 'accept' ? readDecision(response.content) : undefined
    if (decided === undefined)
      return textResult([`${id} stays open: the user has not decided`], { id, state: 'open' })
    return carryOut(service, args, decided, context.mcpReq.signal)
  })
}

const undecided = (): ProtocolError =>
  new ProtocolError('invalid_request', 'say the decision: this client cannot ask its user')

async function carryOut(
  { space, approvals }: SpaceService,
  { id, why, timeout_seconds: seconds = defaultSeconds }: DecideArgs,
  decision: Decision,
  signal: AbortSignal,
): Promise<CallToolResult> {
  if (decision.decision === 'reject') {
    await approvals.reject(id, decision.reason)
    return textResult([`${id} is rejected`], { id, state: 'rejected', by: space.id, reason: decision.reason })
  }
  const patience = { signal, timeoutMs: 1000 * seconds, ...(why !== undefined && { why }) }
  return relayedResult(await approvals.approve(id, patience))
}

/** A proposal for programs and models. */
function describe(
  { space: { proposals } }: SpaceService,
  { source, ...proposal }: ProposalView,
): Record<string, unknown> {
  const { from, to, context } = source
  const { id } = proposal
  const rights = { mayApprove: proposals.mayApprove(id), mayReject: proposals.mayReject(id) }
  return { from, ...(to && { to }), ...(context !== undefined && { context }), ...proposal, ...rights }
}
