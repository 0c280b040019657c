import { ProtocolError } from '@meup/agent-sdk'
import type { ProposalView } from '@meup/folds'
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { canElicit, createForm, defaultReason, readDecision } from './elicitation.js'
import { followCall } from './follow-call.js'
import type { Era, SpaceService } from './service.js'
import {
  addTool,
  dataResult,
  describeTool,
  type Outcome,
  type OwnTools,
  textResult,
  timeoutSeconds,
} from './tool.js'

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

export function addProposals(tools: OwnTools, server: McpServer, service: SpaceService, era: Era): void {
  const { space, approvals } = service
  addTool(tools, 'list_proposals', listing, async () =>
    dataResult({ proposals: approvals.list().map((each) => describe(service, each)) }),
  )
  addTool(tools, 'decide_proposal', deciding, async (args, context) => {
    const { id, decision, reason = defaultReason } = args
    const approve = (): Promise<Outcome> => approveFor(server, service, { ...args, era }, context)
    // The user has filled in what the tool asks.
    if (context.mcpReq.requestState() !== undefined) return approve()
    const proposal = approvals.view(id)
    if (decision === 'approve') return approve()
    if (decision === 'reject') return reject(service, id, reason)
    const response = inputResponse(context.mcpReq.inputResponses, key)
    if (response.kind !== 'elicit') {
      if (!canElicit(server, context)) throw undecided()
      const form = createForm(proposal, space.proposals.mayReject(id))
      return inputRequired({ inputRequests: { [key]: inputRequired.elicit(form) } })
    }
    const decided = response.action === 'accept' ? readDecision(response.content) : undefined
    if (decided === undefined)
      return textResult([`${id} stays open: the user has not decided`], { id, state: 'open' })
    return decided.decision === 'approve' ? approve() : reject(service, id, decided.reason)
  })
}

const undecided = (): ProtocolError =>
  new ProtocolError('invalid_request', 'say the decision: this client cannot ask its user')

async function reject(
  { space, approvals }: SpaceService,
  id: string,
  reason: string,
): Promise<CallToolResult> {
  await approvals.reject(id, reason)
  return textResult([`${id} is rejected`], { id, state: 'rejected', by: space.id, reason })
}

function approveFor(
  server: McpServer,
  service: SpaceService,
  { id, why, era, timeout_seconds: seconds = defaultSeconds }: DecideArgs & { readonly era: Era },
  context: ServerContext,
): Promise<Outcome> {
  return followCall(server, service, { era }, context, ({ signal, onElicitation }) =>
    service.approvals.approve(id, {
      ...{ signal, onElicitation, timeoutMs: 1000 * seconds },
      ...(why !== undefined && { why }),
    }),
  )
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
