import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import {
  brief,
  createProposalFold,
  defaultGuard,
  describeProposal,
  isObject,
  type ProposalView,
  printableJson,
  reasonText,
  redact,
  sentence,
} from '@meup/folds'
import { describeChange, readSettings } from '@meup/observer/model'
import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import { type ConnectionFlags, enterSpace } from '../lib/connection.js'
import type { FormFiller } from '../lib/fill-form.js'
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

/** Lines of a change that are shown. */
const maxChangeLines = 40

/** What is asked for, in lines; `isWhole`: nothing of it is left out. */
interface Card {
  readonly lines: readonly string[]
  readonly isWhole: boolean
}

/** Open proposals: those in the log, and those that arrive. */
export class PendingProposals {
  readonly #space: Pick<SpaceClient, 'id' | 'can'>
  #fold = createProposalFold()
  readonly #proposals = new Map<string, ProposalView>()
  readonly #requests = new Map<string, AnyEnvelope>()
  /** When each was shown whole, in milliseconds since the epoch: nobody approves what they have not seen. */
  readonly #shown = new Map<string, number>()
  /** What `y` and `n` decide, and since when; before that, what they decided, and until when. */
  #offered: { readonly id: string; readonly since: number } | undefined
  #endedAt = 0
  /** Envelopes that came before the log was read. */
  #early: AnyEnvelope[] | undefined = []

  constructor(space: Pick<SpaceClient, 'id' | 'can'>) {
    this.#space = space
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
    for (const kept of [this.#proposals, this.#requests, this.#shown]) kept.clear()
  }

  /** Proposals that this participant can still decide, oldest first. */
  list(now = Date.now()): ProposalView[] {
    const own = (each: ProposalView): boolean => each.rejections.some(({ by }) => by === this.#space.id)
    return [...this.#proposals.values()].filter((each) => isOpenProposal(each, now) && !own(each))
  }

  /**
   * The one that `y` and `n` decide: the oldest that this participant may decide. `since`: when it was both that and shown
   * whole; absent = it was not shown whole.
   */
  offer(
    now = Date.now(),
  ): { readonly proposal: ProposalView; readonly since: number | undefined } | undefined {
    const proposal = this.list(now).find((each) => this.#mayDecide(each))
    if (proposal?.id !== this.#offered?.id) {
      if (this.#offered !== undefined) this.#endedAt = now
      this.#offered = proposal && { id: proposal.id, since: now }
    }
    const shown = proposal && this.#shown.get(proposal.id)
    const since = shown === undefined ? undefined : Math.max(shown, this.#offered?.since ?? now)
    return proposal && { proposal, since }
  }

  /** When the one before ended that `y` and `n` decided, in milliseconds since the epoch; 0 = there was none. */
  get endedAt(): number {
    return this.#endedAt
  }

  /** A one-line summary for the footer; `undefined` = none is open. */
  summary(): string | undefined {
    const offer = this.offer()
    const open = this.list()
    if (open.length === 0) return undefined
    const shown = offer?.proposal ?? open[0]
    if (shown === undefined) return undefined
    const [keys, more] =
      offer === undefined
        ? ['', 'Ctrl+P']
        : offer.since === undefined
          ? ['', 'Ctrl+P shows it']
          : ['y/n · ', '/always']
    const { source, rationale } = shown
    return `⚠ ${open.length} pending · ${keys}${source.from}: ${formatTarget(shown)} — ${brief(reasonText(rationale), 60)} · ${more}`
  }

  /** What a proposal asks for, to be printed below its line at once. */
  card(id: string, now = Date.now()): readonly string[] {
    const request = this.#requests.get(id)
    if (request === undefined) return []
    const { lines, isWhole } = describeRequest(request)
    if (isWhole) this.#shown.set(id, now)
    return lines
  }

  /** Formats each proposal in full, with the commands that decide it. */
  lines(now = Date.now()): string[] {
    const open = this.list(now)
    if (open.length === 0) return ['no proposal waits for a decision']
    return open.flatMap((each) => [
      `⚠ ${sentence(describeProposal(each, '{}'))}`,
      ...this.card(each.id, now),
      `    why: ${brief(reasonText(each.rationale), maxArgumentChars)}`,
      `    takes: mcp.request to ${each.source.to?.join(', ') ?? 'everyone'}, ${brief(each.tool, 128)} · ${formatOutcome(each, now)}`,
      `    /approve ${each.id} · /reject ${each.id} <why> · /always ${each.id}`,
    ])
  }

  /** What the proposer sent. */
  request(id: string): AnyEnvelope | undefined {
    return this.#requests.get(id)
  }

  #mayDecide({ id, source }: ProposalView): boolean {
    const request = this.#requests.get(id)
    if (request === undefined || source.from === this.#space.id) return false
    const { to, context, payload } = request
    const draft = { ...(to && { to: [...to] }), ...(context !== undefined && { context }) }
    return this.#space.can({ kind: Kind.mcpRequest, payload: { ...payload }, ...draft })
  }

  #apply(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.mcpProposal) this.#requests.set(envelope.id, envelope)
    for (const changed of this.#fold.apply(envelope)) {
      if (changed.usesLeft > 0 && changed.withdrawal === null) this.#proposals.set(changed.id, changed)
      else {
        this.#proposals.delete(changed.id)
        this.#requests.delete(changed.id)
        this.#shown.delete(changed.id)
      }
    }
  }
}

/** Rows of a terminal of 80 columns that a card may take, so that its line stays on the screen. */
const [maxCardRows, rowChars] = [40, 72]

/** The change that a request makes, its few arguments, or all of them as JSON. Secrets are masked, and then it is not whole. */
function describeRequest({ payload }: AnyEnvelope): Card {
  const { value } = redact(payload, defaultGuard)
  const shown = isObject(value) ? value : {}
  const { lines, isAll } = cardLines(shown)
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / rowChars)), 0)
  const isSame = JSON.stringify(shown) === JSON.stringify(payload)
  return { lines, isWhole: isAll && isSame && !hasInexactNumber(payload) && rows <= maxCardRows }
}

/** Whether there is a number of which more was sent than a double can hold. */
const hasInexactNumber = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isInteger(value) && !Number.isSafeInteger(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(hasInexactNumber)

function cardLines(payload: Readonly<Record<string, unknown>>): { lines: readonly string[]; isAll: boolean } {
  const change = describeChange(payload)
  if (change?.isAll === true) {
    const lines = change.lines
      .slice(0, maxChangeLines)
      .map(({ sign, text }) => `    ${sign === '@' ? ' ' : sign}${text}`)
    const left = change.lines.length - lines.length
    const more = left > 0 ? [`    … ${left} more lines: \`meup open\` shows all`] : []
    return { lines: [`    ${change.sentence}`, ...lines, ...more], isAll: left === 0 }
  }
  const settings = readSettings(payload)
  if (settings !== undefined) {
    const width = Math.max(...settings.map(([name]) => name.length))
    return { lines: settings.map(([name, text]) => `    ${name.padEnd(width)}  ${text}`), isAll: true }
  }
  const params = isObject(payload.params) ? payload.params : {}
  const isAll = printableJson(params).length <= maxArgumentChars
  return { lines: [`    ${formatArguments(params, maxArgumentChars)}`], isAll }
}

/** Time allowed for the tool call of an approved proposal. */
const approvalTimeoutMs = 60_000

export type AlwaysOptions = NonNullable<Parameters<SpaceClient['proposals']['allowAlways']>[1]>

interface DeciderOptions {
  readonly space: SpaceClient
  readonly flags: ConnectionFlags
  readonly http: HttpClient
  /** Puts to the user what tools ask while they do what was approved. */
  readonly forms: FormFiller
}

/** Approves and rejects proposals for this participant. */
export class ProposalDecider {
  readonly #space: SpaceClient
  readonly #flags: ConnectionFlags
  readonly #http: HttpClient
  readonly #forms: FormFiller

  constructor({ space, flags, http, forms }: DeciderOptions) {
    this.#space = space
    this.#flags = flags
    this.#http = http
    this.#forms = forms
  }

  /** Approves a proposal, and allows the like from now on. Returns a line for people. */
  allowAlways(start: string, options: AlwaysOptions): Promise<string> {
    return this.#with(start, async (space, id) => {
      const { recipient, id: grant } = await space.proposals.allowAlways(id, {
        ...options,
        ...this.#ask(space, id),
      })
      return `✓ approved; ${recipient} may do the like from now on (grant ${grant})`
    })
  }

  /** Returns a line for people. */
  approve(start: string): Promise<string> {
    return this.#with(start, async (space, id) => {
      const options = { timeoutMs: approvalTimeoutMs, ...this.#ask(space, id) }
      const { content, isError } = await space.proposals.approve(id, options)
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

  #ask(space: SpaceClient, id: string): Pick<AlwaysOptions, 'onElicitation'> {
    const { to = [] } = space.proposals.get(id) ?? {}
    return { onElicitation: this.#forms.answer(to.join(', ')) }
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
