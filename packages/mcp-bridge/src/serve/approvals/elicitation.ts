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

/** Maximum characters of a form's exact text: the JSON of all that an approval carries out. */
const maxExactChars = 8000

type Decision = { readonly decision: 'approve' } | { readonly decision: 'reject'; readonly reason: string }

/** The reason of a rejection if the user gives none. */
export const defaultReason = 'disagree'

interface ProposalForm {
  /** `undefined` = neither approval nor rejection would be possible. */
  readonly form: ElicitRequestFormParams | undefined
  /**
   * Number of characters of the exact text that the form shows; 0 = the text is too long, so that the proposal can only be
   * rejected.
   */
  readonly shownChars: number
}

/** Creates the form for deciding a proposal. A proposal whose text is too long can only be rejected in it. */
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
      // Without arguments: the exact text below has them.
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
            : 'here it can only be rejected',
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

/**
 * Reads the decision in a filled-in form; `undefined` = none was made. A client may approve what the form did not offer:
 * `ClientApprovals.approve` refuses proposals that were not shown completely.
 */
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

/** Whether a client supports forms, by its capability `elicitation`. It need not name `form` if it names no mode. */
export const hasForms = (elicitation: { form?: unknown; url?: unknown } | undefined): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
