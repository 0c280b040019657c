import type { OpenProposal } from '@meup/agent-sdk'
import {
  describeProposal,
  exactText,
  type ProposalView,
  proposerEndedText,
  quoteReason,
  quoteToolName,
  sentence,
} from '@meup/folds'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** Characters of the exact text in a form. */
const maxExactChars = 8000

type Decision = { readonly decision: 'approve' } | { readonly decision: 'reject'; readonly reason: string }

/** Default reason of a rejection. */
export const defaultReason = 'disagree'

interface ProposalForm {
  /** `undefined` = it would allow neither approval nor rejection. */
  readonly form: ElicitRequestFormParams | undefined
  /** Characters of the exact text in the form; 0 = it does not fit, so that it can only be rejected. */
  readonly shownChars: number
}

/** The form for deciding a proposal. A proposal that does not fit can only be rejected. */
export function createForm(view: ProposalView, proposal: OpenProposal, mayReject: boolean): ProposalForm {
  const { text, isWhole } = exactText(proposal, maxExactChars)
  const choices = [...(isWhole ? ['approve'] : []), ...(mayReject ? ['reject'] : [])]
  if (choices.length === 0) return { form: undefined, shownChars: 0 }
  const shown = isWhole
    ? ['All that is carried out, exactly:', text]
    : [
        `It is too long to be shown and approved here. The tool show_proposal shows it in full, as do \`meup proposals show ${view.id}\` and the page of the space.`,
      ]
  const form: ElicitRequestFormParams = {
    mode: 'form',
    message: [
      sentence(describeProposal({ ...view, tool: quoteToolName(view.tool) }, '{}')),
      ...(view.programEnded ? [`${proposerEndedText(view.source.from)}.`] : []),
      `Why: ${quoteReason(view.rationale)}`,
      ...shown,
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          enum: choices,
          description: isWhole
            ? 'to approve it is to have it done now, exactly as shown'
            : 'it can be rejected here alone',
        },
        ...(mayReject && {
          reason: { type: 'string', title: 'Reason', description: 'why you reject it, for its proposer' },
        }),
      },
      required: ['decision'],
    },
  }
  return { form, shownChars: isWhole ? text.length : 0 }
}

/** The decision in a filled-in form; `undefined` = none. */
export function readDecision(content: Readonly<Record<string, unknown>> | undefined): Decision | undefined {
  const { decision, reason } = content ?? {}
  if (decision === 'approve') return { decision }
  if (decision !== 'reject') return undefined
  return { decision, reason: typeof reason === 'string' && reason.trim() !== '' ? reason : defaultReason }
}

/** Whether the client supports forms. */
export function canElicit({ server }: McpServer, { mcpReq }: Pick<ServerContext, 'mcpReq'>): boolean {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {}
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  return hasForms(declared?.elicitation)
}

/** Clients that declare no modes support forms. */
export const hasForms = (elicitation: { form?: unknown; url?: unknown } | undefined): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
