import type { ToolCall, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk'
import type { OpenProposal, SpaceClient } from '@meup/agent-sdk'
import {
  type CallDecision,
  defaultGuard,
  exactText,
  getParameters,
  guarded,
  guardedToolName,
  inertMarkdown,
  isObject,
  keepOffMargin,
  onOneLine,
  printable,
  proposerEndedText,
  redact,
} from '@meup/folds'
import { readFileDiffs, textContent } from './content.js'

/** A call or proposal to show. */
interface CallFields {
  readonly id: string
  /** The participant that proposes the call; absent for an actual call. */
  readonly proposer?: string
  readonly to?: readonly string[] | undefined
  /** The name with secrets masked. */
  readonly tool: string
  readonly rationale?: string | null | undefined
  /** The parameters as logged, without masking. */
  readonly parameters: unknown
}

type ShownCall = Pick<ToolCall, 'toolCallId' | 'title' | 'rawInput'> & { readonly content: ToolCallContent[] }

/** Renders a call for the client: arguments with masked secrets, and complete file changes. */
export function describeCall({ id, proposer, to, tool, rationale, parameters }: CallFields): ShownCall {
  const { value } = redact(parameters, defaultGuard)
  const asks = proposer === undefined ? 'Why' : `${proposer} asks`
  const why = rationale ?? (proposer === undefined ? '' : 'no reason given')
  return {
    toolCallId: id,
    title: onOneLine([...(to === undefined ? [] : [to.join(',')]), tool].join('/')),
    rawInput: value,
    content: [
      // Editors render Markdown: escapes it, and quotes further lines, so that they cannot imitate lines of this program.
      ...(why === '' ? [] : [textContent(`${asks}: ${keepOffMargin(inertMarkdown(printable(why)), '> ')}`)]),
      ...readFileDiffs(parameters),
    ],
  }
}

export const describeProposedCall = ({ id, from, to, rationale, ...payload }: OpenProposal): ShownCall =>
  describeCall({
    id,
    proposer: from,
    to,
    tool: guardedToolName(payload, defaultGuard),
    rationale,
    parameters: getParameters(payload),
  })

/** Maximum characters of a proposal's exact JSON that a client displays without scrolling. */
const maxExactChars = 16_000

/**
 * Renders a proposal for a decision by the user: the call in full, without masking. `isWhole`: the text is complete, so the
 * user may approve.
 */
export function describePermission(proposal: OpenProposal): { toolCall: ShownCall; isWhole: boolean } {
  const { content, ...call } = describeProposedCall(proposal)
  const { text, isWhole } = exactText(proposal, maxExactChars)
  const exact = isWhole
    ? `All that is carried out, exactly:\n\`\`\`json\n${text}\n\`\`\``
    : `It is too long to be shown and approved here. \`meup proposals show ${proposal.id}\` and the page of the space show all of it.`
  return {
    isWhole,
    toolCall: {
      ...call,
      ...(isWhole && { rawInput: getParameters({ ...proposal }) }),
      content: [
        ...(proposal.programEnded ? [textContent(proposerEndedText(proposal.from))] : []),
        ...content,
        textContent(exact),
      ],
    },
  }
}

/** Formats the outcome of a call or proposal, with the name of the decider. */
export function formatDecision(decision: CallDecision): string {
  const { state } = decision
  if (state === 'approved') return `approved by ${decision.by}`
  if (state === 'expired') return 'expired without a decision'
  if (state === 'abandoned') return state
  const { reason, message } = { message: undefined, ...decision }
  const why = guarded(message === undefined ? reason : `${reason} (${message})`, defaultGuard)
  if (state === 'rejected') return `rejected by ${decision.by}: ${why}`
  return state === 'withdrawn' ? `withdrawn: ${why}` : why
}

const kinds: readonly ToolKind[] = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch']

/** The ACP kind of a coding agent's own tool, in `_meta.kind`. */
export function readKind({ params }: Readonly<Record<string, unknown>>): ToolKind | undefined {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {}
  return kinds.find((kind) => kind === meta.kind)
}

/**
 * Derives the ACP kinds of tools from their annotations. Requests a participant's tools at the first call of one; until the
 * response the kind is `other`.
 */
export class ToolKinds {
  readonly #space: SpaceClient
  readonly #known = new Map<string, ReadonlyMap<string, ToolKind>>()

  constructor(space: SpaceClient) {
    this.#space = space
    space.on('tools', () => this.#known.clear())
  }

  get(participant: string, tool: string): ToolKind {
    const tools = this.#known.get(participant)
    if (tools === undefined) this.#ask(participant)
    return tools?.get(tool) ?? 'other'
  }

  #ask(participant: string): void {
    this.#known.set(participant, new Map())
    const keep = (tools: Awaited<ReturnType<SpaceClient['tools']>>): void => {
      this.#known.set(participant, new Map(tools.map(({ name, annotations }) => [name, toKind(annotations)])))
    }
    this.#space.tools([participant]).then(keep, () => {}) // The kinds stay `other`; they only determine icons.
  }
}

function toKind({ readOnlyHint, destructiveHint }: Readonly<Record<string, unknown>> = {}): ToolKind {
  if (readOnlyHint === true) return 'read'
  return destructiveHint === true ? 'edit' : 'other'
}
