import type { ApproveOptions, OnElicitation } from '@meup/agent-sdk/internal'
import { exactText, head, type ProposalView, programEndedWords } from '@meup/folds'
import {
  CLIENT_INFO_META_KEY,
  type ElicitRequestFormParams,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { serveError } from '../errors.js'
import { formatCodedError } from '../results.js'
import type { SpaceService } from '../service.js'
import { createForm, readDecision } from './elicitation.js'

/** Maximum characters of proposals: in one result of `show_proposal`; of one proposal in a list; in a list. */
const [maxPartChars, maxListedChars, maxListChars] = [20_000, 2000, 20_000]

/** A part of a proposal's exact text: the JSON of all that an approval carries out, without masking. */
export interface ProposalPart {
  readonly text: string
  /** The proposing program has ended, so that no program waits for the result. */
  readonly programEnded: boolean
  readonly offset: number
  /** Absent if this is the last part. */
  readonly next_offset?: number
  readonly total_chars: number
}

/**
 * The decisions of one MCP client. The client may only approve a proposal after the complete text was shown to it, in a form or
 * by a tool.
 */
export class ClientApprovals {
  readonly #service: Pick<SpaceService, 'space' | 'approvals' | 'shown' | 'log'>
  readonly #client: string

  constructor(service: Pick<SpaceService, 'space' | 'approvals' | 'shown' | 'log'>, client: string) {
    this.#service = service
    this.#client = client
  }

  /**
   * Creates the form for deciding a proposal; `undefined` = no decision would be possible. Throws if the proposal is not open.
   */
  createForm(id: string): ElicitRequestFormParams | undefined {
    const view = this.#service.approvals.view(id)
    const proposal = this.#service.approvals.get(id)
    const { form, shownChars } = createForm(view, proposal, this.#service.space.proposals.mayReject(id))
    if (form !== undefined) this.#service.shown.add(this.#client, versionOf(proposal), 0, shownChars)
    return form
  }

  /** Returns the exact JSON of a proposal, starting at `offset`. Throws `ProtocolError` if it is not open. */
  show(id: string, offset: number): ProposalPart {
    const view = this.#service.approvals.view(id)
    const { text } = exactText(this.#service.approvals.get(id))
    const part = head(text.slice(offset), maxPartChars)
    const end = offset + part.length
    this.#service.shown.add(this.#client, versionOf(view), offset, end)
    return {
      text: part,
      programEnded: view.programEnded,
      offset,
      ...(end < text.length && { next_offset: end }),
      total_chars: text.length,
    }
  }

  /** The exact JSON of those proposals that are short enough for a list, by proposal id. */
  list(views: readonly ProposalView[]): ReadonlyMap<string, string> {
    const texts = new Map<string, string>()
    let left = maxListChars
    for (const view of views) {
      const { id } = view
      const { text, isWhole } = exactText(this.#service.approvals.get(id), Math.min(maxListedChars, left))
      if (!isWhole) continue
      left -= text.length
      texts.set(id, text)
      this.#service.shown.add(this.#client, versionOf(view), 0, text.length)
    }
    return texts
  }

  /** Throws `ProtocolError` if this client has not been shown the complete proposal. */
  mustBeShown(id: string): void {
    const view = this.#service.approvals.view(id)
    const { text } = exactText(this.#service.approvals.get(id))
    if (this.#service.shown.isWhole(this.#client, versionOf(view), text.length)) return
    const since = view.programEnded ? ` since ${view.source.from} stopped (${programEndedWords})` : ''
    throw serveError('not_shown', { proposal: id, since })
  }

  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    this.mustBeShown(id)
    return this.#service.approvals.approve(id, options)
  }

  /** Applies the decision in a filled-in form. Does not wait for the result, which is for the proposer. */
  applyForm(
    id: string,
    content: Readonly<Record<string, unknown>> | undefined,
    onElicitation?: OnElicitation,
  ): void {
    const decision = readDecision(content)
    if (decision === undefined) return
    const options = onElicitation === undefined ? {} : { onElicitation }
    const done =
      decision.decision === 'approve'
        ? this.approve(id, options)
        : this.#service.approvals.reject(id, decision.reason)
    done.catch((error: unknown) =>
      this.#service.log(`the proposal ${id} could not be decided: ${formatCodedError(error)}`),
    )
  }
}

/** Returns a key that changes when the proposing program ends, so that a client has to be shown the proposal again. */
const versionOf = ({ id, programEnded }: Pick<ProposalView, 'id'> & { readonly programEnded?: boolean }) =>
  programEnded === true ? `${id} ${programEndedWords}` : id

/**
 * Returns the identity of the client that sent a request. Over HTTP, clients of revision 2026-07-28 have no session, and are
 * identified by their self-description.
 */
export const readClient = ({ mcpReq }: Pick<ServerContext, 'mcpReq'>): string => {
  const envelope: { readonly [CLIENT_INFO_META_KEY]?: unknown } = mcpReq.envelope ?? {}
  return JSON.stringify(envelope[CLIENT_INFO_META_KEY] ?? null)
}
