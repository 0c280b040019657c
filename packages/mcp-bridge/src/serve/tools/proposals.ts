import { type ProposalView, proposerEndedText } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ClientApprovals } from '../approvals/client-approvals.js'
import { canElicit, defaultReason, readDecision } from '../approvals/elicitation.js'
import { beginTask, followCall } from '../calls/follow-call.js'
import type { TaskStart, TaskWork } from '../calls/tasks.js'
import { serveError } from '../errors.js'
import { dataResult, type ToolOutcome, textResult } from '../results.js'
import type { Era, SpaceService } from '../service.js'
import { addTool, describeTool, type OwnTools, timeoutSeconds } from './tool.js'

interface DecideArgs {
  readonly id: string
  readonly decision?: 'approve' | 'reject'
  readonly reason?: string
  readonly why?: string
  readonly timeout_seconds?: number
}

const defaultSeconds = 60
/** Key of the form in `inputRequests`. */
const key = 'decision'

const listing = describeTool({
  title: 'Proposals that wait for a decision',
  description:
    'Lists proposals of participants, oldest first, and which of them this identity may decide. `exact` is everything that would be carried out; if it is absent, use show_proposal. `parameters` are masked and cut.',
  annotations: { readOnlyHint: true },
})

interface ShowArgs {
  readonly id: string
  readonly offset?: number
}

const showing = describeTool<ShowArgs>({
  title: 'All that a proposal would carry out',
  description:
    'Shows everything that an approval would carry out: target, method and arguments, unmasked, with invisible characters as escapes. Long proposals take several calls: continue with next_offset until it is absent.',
  input: {
    id: { type: 'string', minLength: 1, description: 'id of the proposal' },
    offset: { type: 'integer', minimum: 0, description: 'next_offset of the call before; default 0' },
  },
  required: ['id'],
  annotations: { readOnlyHint: true },
})

const deciding = describeTool<DecideArgs>({
  title: 'Approve or reject a proposal',
  description:
    'Approves a proposal, which carries it out now exactly as proposed and returns the result, or rejects it. Only what list_proposals, show_proposal or a form has shown whole to this client can be approved. Without a decision the user is asked for one, if this client can do so.',
  input: {
    id: { type: 'string', minLength: 1, description: 'id of the proposal' },
    decision: { enum: ['approve', 'reject'] },
    reason: { type: 'string', description: 'why it is rejected, for its proposer' },
    why: { type: 'string', description: 'why it is approved, for everyone to read' },
    timeout_seconds: timeoutSeconds(defaultSeconds),
  },
  required: ['id'],
  annotations: { openWorldHint: true, destructiveHint: true },
})

export function addProposals(
  tools: OwnTools,
  server: McpServer,
  service: SpaceService,
  era: Era,
  getApprovals: (context: ServerContext) => ClientApprovals,
): void {
  const { approvals } = service
  addTool(tools, 'list_proposals', listing, async (_, context) => {
    const list = approvals.list()
    const texts = getApprovals(context).list(list)
    return dataResult({ proposals: list.map((each) => describe(service, each, texts.get(each.id))) })
  })
  addTool(tools, 'show_proposal', showing, async ({ id, offset = 0 }, context) => {
    const part = getApprovals(context).show(id, offset)
    const left = part.programEnded ? [proposerEndedText(approvals.view(id).source.from)] : []
    return textResult([...left, part.text], { id, ...part })
  })
  const decide = async (args: DecideArgs, context: ServerContext): Promise<ToolOutcome> => {
    const { id, decision, reason = defaultReason } = args
    const decisions = getApprovals(context)
    const approve = (): Promise<ToolOutcome> =>
      approveFor(server, service, decisions, { ...args, era }, context)
    // The proposal was approved before: the client repeats this call after its user has filled in a form that the proposed tool
    // sent.
    if (context.mcpReq.requestState() !== undefined) return approve()
    approvals.view(id)
    if (decision === 'approve') return approve()
    if (decision === 'reject') return reject(service, id, reason)
    const response = inputResponse(context.mcpReq.inputResponses, key)
    if (response.kind !== 'elicit') {
      if (!canElicit(server, context)) throw serveError('no_decision', {})
      const form = decisions.createForm(id)
      if (form === undefined) throw serveError('long_proposal', { proposal: id })
      return inputRequired({ inputRequests: { [key]: inputRequired.elicit(form) } })
    }
    const decided = response.action === 'accept' ? readDecision(response.content) : undefined
    if (decided === undefined)
      return textResult([`${id} stays open: the user has not decided`], { id, state: 'open' })
    return decided.decision === 'approve' ? approve() : reject(service, id, decided.reason)
  }
  const begin = (
    { id, decision, why, ...args }: DecideArgs,
    start: TaskStart,
    context: ServerContext,
  ): TaskWork => {
    if (decision !== 'approve') throw serveError('not_an_approval', {})
    const timeoutMs = args.timeout_seconds === undefined ? start.timeoutMs : 1000 * args.timeout_seconds
    const terms = { requestId: start.id, timeoutMs, ...omitUndefined({ why }) }
    return beginTask(server, { start }, context, ({ signal, onElicitation }) =>
      getApprovals(context).approve(id, { ...terms, signal, onElicitation }),
    )
  }
  addTool(tools, 'decide_proposal', deciding, decide, begin)
}

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
  decisions: ClientApprovals,
  { id, why, era, timeout_seconds: seconds = defaultSeconds }: DecideArgs & { readonly era: Era },
  context: ServerContext,
): Promise<ToolOutcome> {
  return followCall(server, service, { era }, context, ({ signal, onElicitation }) =>
    decisions.approve(id, {
      ...{ signal, onElicitation, timeoutMs: 1000 * seconds },
      ...omitUndefined({ why }),
    }),
  )
}

/** Describes a proposal as data for programs and models. */
function describe(
  { space: { proposals } }: SpaceService,
  { source, ...proposal }: ProposalView,
  exact: string | undefined,
): Record<string, unknown> {
  const { from, to, context } = source
  const { id } = proposal
  const rights = { mayApprove: proposals.mayApprove(id), mayReject: proposals.mayReject(id) }
  return {
    ...{ from, ...(to && { to }), ...omitUndefined({ context }), ...proposal, ...rights },
    ...omitUndefined({ exact }),
  }
}
