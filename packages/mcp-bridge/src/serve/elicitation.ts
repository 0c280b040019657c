import type { OnElicitation } from '@meup/agent-sdk'
import { describeProposal, inlineJson, onOneLine, type ProposalView, reasonText, sentence } from '@meup/folds'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { SpaceService } from './service.js'
import { formatError } from './tool.js'

/** Characters of the parameters that are shown. */
const maxParameterChars = 1000

export type Decision =
  | { readonly decision: 'approve' }
  | { readonly decision: 'reject'; readonly reason: string }

/** The reason of a rejection without one. */
export const defaultReason = 'disagree'

/** The form for deciding a proposal. */
export function createForm(proposal: ProposalView, mayReject: boolean): ElicitRequestFormParams {
  const { parameters, rationale } = proposal
  return {
    mode: 'form',
    message: [
      sentence(describeProposal(proposal, onOneLine(inlineJson(parameters, maxParameterChars)))),
      `Why: ${onOneLine(reasonText(rationale))}`,
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          enum: mayReject ? ['approve', 'reject'] : ['approve'],
          description: 'to approve it is to have it done now, exactly as proposed',
        },
        ...(mayReject && {
          reason: { type: 'string', title: 'Reason', description: 'why you reject it, for its proposer' },
        }),
      },
      required: ['decision'],
    },
  }
}

/** The decision in a filled form; `undefined` = none. */
export function readDecision(content: Readonly<Record<string, unknown>> | undefined): Decision | undefined {
  const { decision, reason } = content ?? {}
  if (decision === 'approve') return { decision }
  if (decision !== 'reject') return undefined
  return { decision, reason: typeof reason === 'string' && reason.trim() !== '' ? reason : defaultReason }
}

/** Whether the client can show forms. */
export function canElicit({ server }: McpServer, { mcpReq }: Pick<ServerContext, 'mcpReq'>): boolean {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {}
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  return hasForms(declared?.elicitation)
}

/** Clients without modes support forms. */
export const hasForms = (elicitation: { form?: unknown; url?: unknown } | undefined): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)

/** Applies the decision of a filled form. Its result is for the proposer and is not awaited. */
export function applyDecision(
  { approvals, log }: Pick<SpaceService, 'approvals' | 'log'>,
  id: string,
  content: Readonly<Record<string, unknown>> | undefined,
  onElicitation?: OnElicitation,
): void {
  const decision = readDecision(content)
  if (decision === undefined) return
  const options = onElicitation === undefined ? {} : { onElicitation }
  const done =
    decision.decision === 'approve' ? approvals.approve(id, options) : approvals.reject(id, decision.reason)
  done.catch((error: unknown) => log(`the proposal ${id} could not be decided: ${formatError(error)}`))
}
