import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import {
  brief,
  createProposalFold,
  describeProposal,
  type ProposalView,
  reasonText,
  sentence,
} from '@meup/folds'
import { type AnyEnvelope, ProtocolError } from '@meup/protocol'
import { type ConnectionFlags, enterSpace } from '../lib/connection.js'
import { findByPrefix } from '../lib/options.js'
import {
  findOpenProposal,
  formatArguments,
  formatOutcome,
  formatTarget,
  getContentText,
  isOpenProposal,
  proposalKinds,
  readProposals,
} from '../lib/proposals.js'

/** Characters of the arguments and of a text. */
const maxArgumentChars = 2000

/** Open proposals: those in the log, and those that arrive. */
export class PendingProposals {
  readonly #self: string
  #fold = createProposalFold()
  readonly #proposals = new Map<string, ProposalView>()
  /** Envelopes that came before the log was read. */
  #early: AnyEnvelope[] | undefined = []

  constructor(self: string) {
    this.#self = self
  }

  /** Reads earlier proposals from the log. Envelopes that arrive meanwhile are applied once. */
  async read(http: HttpClient): Promise<void> {
    try {
      for await (const envelope of http.readLog({ kind: proposalKinds })) this.#apply(envelope)
    } finally {
      const early = this.#early ?? []
      this.#early = undefined
      for (const envelope of early) this.#apply(envelope)
    }
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (!proposalKinds.includes(envelope.kind)) return
    if (this.#early === undefined) this.#apply(envelope)
    else this.#early.push(envelope)
  }

  /** The log was replaced. */
  restart(): void {
    this.#fold = createProposalFold()
    this.#proposals.clear()
  }

  /** Proposals that this participant can still decide, oldest first. */
  list(now = Date.now()): ProposalView[] {
    const own = (each: ProposalView): boolean => each.rejections.some(({ by }) => by === this.#self)
    return [...this.#proposals.values()].filter((each) => isOpenProposal(each, now) && !own(each))
  }

  /** A one-line summary for the footer; `undefined` = none is open. */
  summary(): string | undefined {
    const open = this.list()
    const latest = open.at(-1)
    if (latest === undefined) return undefined
    const { source, rationale } = latest
    return `⚠ ${open.length} pending · ${source.from}: ${formatTarget(latest)} — ${brief(reasonText(rationale), 60)} · Ctrl+P`
  }

  /** Formats each proposal in full, with the commands that decide it. */
  lines(now = Date.now()): string[] {
    const open = this.list(now)
    if (open.length === 0) return ['no proposal waits for a decision']
    return open.flatMap((each) => [
      `⚠ ${sentence(describeProposal(each, '{}'))}`,
      `    ${formatArguments(each.parameters, maxArgumentChars)}`,
      `    why: ${brief(reasonText(each.rationale), maxArgumentChars)}`,
      `    takes: mcp.request to ${each.source.to?.join(', ') ?? 'everyone'}, ${brief(each.tool, 128)} · ${formatOutcome(each, now)}`,
      `    /approve ${each.id} · /reject ${each.id} <why>`,
    ])
  }

  #apply(envelope: AnyEnvelope): void {
    for (const changed of this.#fold.apply(envelope)) {
      if (changed.usesLeft > 0 && changed.withdrawal === null) this.#proposals.set(changed.id, changed)
      else this.#proposals.delete(changed.id)
    }
  }
}

/** Time allowed for the tool call of an approved proposal. */
const approvalTimeoutMs = 60_000

/** Approves and rejects proposals for this participant. */
export class ProposalDecider {
  readonly #space: SpaceClient
  readonly #flags: ConnectionFlags
  readonly #http: HttpClient

  constructor(space: SpaceClient, flags: ConnectionFlags, http: HttpClient) {
    this.#space = space
    this.#flags = flags
    this.#http = http
  }

  /** Approves a proposal; `isAlways`: also grants its proposer the same from now on. Returns a line for people. */
  approve(start: string, isAlways: boolean): Promise<string> {
    return this.#with(start, async (space, id) => {
      if (isAlways) {
        const { recipient, id: grant } = await space.proposals.allowAlways(id)
        return `✓ approved; ${recipient} may do the same from now on (grant ${grant})`
      }
      const { content, isError } = await space.proposals.approve(id, { timeoutMs: approvalTimeoutMs })
      const text = getContentText(content, ' ') ?? ''
      return isError === true
        ? `✗ the tool failed: ${brief(text, 200)}`
        : `✓ approved: ${brief(text || 'done', 200)}`
    })
  }

  reject(start: string, why: string): Promise<string> {
    return this.#with(start, async (space, id) => {
      await space.proposals.reject(id, { reason: 'disagree', ...(why !== '' && { message: why }) })
      return '✓ rejected'
    })
  }

  /** A proposal older than this connection is decided on a second one, which is resumed before it. */
  async #with(start: string, act: (space: SpaceClient, id: string) => Promise<string>): Promise<string> {
    const known = findByPrefix(this.#space.proposals.list(), start, 'proposal')
    if (known !== undefined) return act(this.#space, known.id)
    const { id, source } = findOpenProposal(await readProposals(this.#http), start, Date.now())
    const space = await enterSpace(this.#flags, { after: source.seq - 1 })
    try {
      if (space.welcome.resume.from > source.seq)
        throw new ProtocolError('proposal_not_found', `${id} is pruned`)
      for await (const envelope of space.envelopes()) if (envelope.id === id) break
      return await act(space, id)
    } finally {
      space.close()
    }
  }
}
