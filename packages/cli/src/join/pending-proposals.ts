import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import {
  assessRisk,
  brief,
  capabilitySentence,
  defaultGuard,
  describeProposal,
  exactText,
  isObject,
  onOneLine,
  Participants,
  type ProposalView,
  ProposalViews,
  type ProposedCall,
  proposalKinds,
  proposerEndedText,
  reasonText,
  redact,
  SpaceView,
  sentence,
  shortenArguments,
  spellOut,
} from '@meup/folds'
import { summarizeProposal } from '@meup/observer/model'
import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import type { FormFiller } from '../lib/fill-form.js'
import { findByPrefix } from '../lib/options.js'
import { formatOutcome, formatTarget } from '../lib/proposal-text.js'
import { decideProposal, findOpenProposal, readProposals } from '../lib/proposals.js'
import { getResultText } from '../lib/result-text.js'

/** Maximum characters of a proposal's reason. */
const maxReasonChars = 2000

/** The connection's own id, and the proposals that it has received, with their exact texts. */
type KnownSpace = Pick<SpaceClient, 'id' | 'proposals'>

/** The lines that show a proposed call; `isWhole`: none are omitted or masked. */
interface Card {
  readonly lines: readonly string[]
  readonly isWhole: boolean
}

/** Open proposals, from the log and from the connection. */
export class PendingProposals {
  readonly #space: KnownSpace
  #view = this.#createView()
  readonly #requests = new Map<string, AnyEnvelope>()
  /** Time at which each proposal was shown in full, in ms: only such proposals can be approved. */
  readonly #shown = new Map<string, number>()
  /** The proposal that `y` and `n` decide, and since when, in ms. */
  #offered: { readonly id: string; readonly since: number } | undefined
  #endedAt = 0
  /**
   * Envelopes that arrive before the earlier proposals are read from the log, to be applied afterwards; `undefined` once they
   * are.
   */
  #early: AnyEnvelope[] | undefined = []

  constructor(space: KnownSpace) {
    this.#space = space
  }

  #createView() {
    const proposals = new ProposalViews(defaultGuard, () => this.#space.id)
    return new SpaceView({ participants: new Participants(), proposals })
  }

  /** Reads earlier proposals from the log. Envelopes that arrive while it is read are applied afterwards. */
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

  /** Forgets everything, because the log was replaced. */
  restart(): void {
    this.#view = this.#createView()
    for (const kept of [this.#requests, this.#shown]) kept.clear()
  }

  /** Proposals that this participant can still decide, oldest first. */
  list(now = Date.now()): ProposalView[] {
    return [...this.#view.facts.proposals.open(now)]
  }

  /**
   * The proposal that `y` and `n` decide: the oldest that this participant may decide. `since`: time from which on `y` and `n`
   * refer to this proposal; `undefined` if it was not shown in full.
   */
  offer(
    now = Date.now(),
  ): { readonly proposal: ProposalView; readonly since: number | undefined } | undefined {
    const proposal = this.list(now).find(({ id }) => this.#space.proposals.mayApprove(id))
    if (proposal?.id !== this.#offered?.id) {
      if (this.#offered !== undefined) this.#endedAt = now
      this.#offered = proposal && { id: proposal.id, since: now }
    }
    const shown = proposal && this.#shown.get(proposal.id)
    const since = shown === undefined ? undefined : Math.max(shown, this.#offered?.since ?? now)
    return proposal && { proposal, since }
  }

  /** Time at which the previous offered proposal was decided or expired, in ms; 0 if there was none. */
  get endedAt(): number {
    return this.#endedAt
  }

  /** The footer's summary of open proposals; `undefined` if there are none. */
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
    const { source, parameters, rationale, programEnded } = shown
    const left = programEnded ? `${proposerEndedText(source.from)} · ` : ''
    // Shows the arguments in place of the tool's name, because arguments such as a shell command say more.
    const act = brief(shortenArguments(parameters) ?? formatTarget(shown), 60)
    return `⚠ ${open.length} pending · ${left}${keys}${source.from}: ${act} — ${brief(reasonText(rationale), 60)} · ${more}`
  }

  /** The lines that show a proposed call, printed immediately below its envelope. `size`: as on arrival, or in full. */
  card(id: string, now = Date.now(), size: CardOptions['size'] = 'card'): readonly string[] {
    // While the log is being read, a new proposal is only in `#early`.
    const request = this.#requests.get(id) ?? this.#early?.find((each) => each.id === id)
    const view = this.#view.facts.proposals.get(id)
    const call = this.#space.proposals.get(id) ?? (request && view && toCall(request, view))
    if (request === undefined || call === undefined) return []
    const { lines, isWhole } = describeRequest(request, call, {
      mayDecide: this.#space.proposals.mayApprove(id),
      size,
    })
    if (isWhole) this.#shown.set(id, now)
    const danger = view && findDanger(view)
    return danger === undefined ? lines : [`    ${danger}`, ...lines]
  }

  /** Whether the proposal was shown in full, as approval requires. */
  isShown(id: string): boolean {
    return this.#shown.has(id)
  }

  /** All open proposals in full, with the commands that decide them. */
  lines(now = Date.now()): string[] {
    const open = this.list(now)
    if (open.length === 0) return ['no proposal waits for a decision']
    return open.flatMap((each) => [
      `⚠ ${sentence(describeProposal(each, '{}'))}`,
      ...this.card(each.id, now, 'all'),
      `    why: ${brief(reasonText(each.rationale), maxReasonChars)}`,
      `    takes: mcp.request to ${each.source.to?.join(', ') ?? 'everyone'}, ${brief(each.tool, 128)} · ${formatOutcome(each, now)}`,
      `    /approve ${each.id} · /reject ${each.id} <why> · /always ${each.id}`,
    ])
  }

  /** The envelope that made a proposal. */
  request(id: string): AnyEnvelope | undefined {
    return this.#requests.get(id)
  }

  #apply(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.mcpProposal) this.#requests.set(envelope.id, envelope)
    for (const { id, state } of this.#view.apply(envelope)?.proposals ?? []) {
      if (state === 'open') continue
      this.#requests.delete(id)
      this.#shown.delete(id)
    }
  }
}

/** Warns if the arguments make a proposal destructive. The tool's own annotations are not available here. */
export function findDanger({ tool, parameters }: ProposalView): string | undefined {
  const { level, reason } = assessRisk({ tool, parameters, effects: ['writes'] })
  return level === 'destructive' ? `⚠ destructive: ${brief(reason, maxRiskChars)}` : undefined
}

/** Maximum characters of the warning, which may quote an argument. */
const maxRiskChars = 160

/** The call that a proposal's envelope contains. */
function toCall({ to, context, payload }: AnyEnvelope, { usesLeft, expiresAt }: ProposalView): ProposedCall {
  const { method = '', params } = payload as { readonly method?: string; readonly params?: unknown }
  return { to, context, method, params, usesLeft, expiresAt }
}

/** Maximum rows of a card on arrival, so that the proposal's first line stays on the screen; assumed columns per row. */
const [maxCardRows, rowChars] = [40, 72]
/** Rows shown of a card with more than `maxCardRows` rows. */
const maxCutRows = 12
/** Maximum characters of one proposal shown in full. */
const maxExactChars = 16_000

interface CardOptions {
  /** Whether the reader may decide the proposal, and therefore sees unmasked values. */
  readonly mayDecide: boolean
  /** `card`: shortened, on arrival; `all`: in full. */
  readonly size: 'card' | 'all'
}

/** Shows a call as a change, as a few settings, or otherwise as JSON. */
function describeRequest(request: AnyEnvelope, call: ProposedCall, { mayDecide, size }: CardOptions): Card {
  const { lines, isExact } = mayDecide ? cardLines(request, call) : maskedLines(request, call)
  const chars = lines.reduce((sum, line) => sum + line.length, 0)
  const fits = size === 'card' ? countRows(lines) <= maxCardRows : chars <= maxExactChars
  const indented = (shown: readonly string[]): string[] => shown.map((line) => `    ${line}`)
  if (fits) return { lines: indented(lines), isWhole: mayDecide && isExact }
  const more =
    size === 'card'
      ? '… cut: Ctrl+P shows all of it'
      : `… too long to be shown and approved here: reject it, or see all of it with \`meup proposals show ${request.id}\` or on the page (\`meup open\`)`
  return { lines: indented([...firstRows(lines), more]), isWhole: false }
}

const countRows = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / rowChars)), 0)

const firstRows = (lines: readonly string[]): string[] =>
  lines.slice(0, maxCutRows).map((line) => brief(line, rowChars * 3))

interface ExactLines {
  readonly lines: readonly string[]
  /** Whether every value is exact, numbers to the last digit. */
  readonly isExact: boolean
}

function cardLines({ payload }: AnyEnvelope, call: ProposedCall): ExactLines {
  const { change, settings, isAll } = summarizeProposal({ ...payload })
  const { sentence: what, lines = [] } = change ?? { sentence: '' }
  const changed = lines.map(({ sign, text }) => `${sign === '@' ? ' ' : sign}${text}`)
  if (!isAll) {
    const { text, isWhole } = exactText(call)
    return {
      lines: [...(change === undefined ? [] : [what, ...changed]), ...text.split('\n')],
      isExact: isWhole,
    }
  }
  const terms = formatTerms(call)
  if (settings !== undefined) {
    const width = Math.max(...settings.map(([name]) => name.length))
    return {
      lines: [...settings.map(([name, text]) => `${name.padEnd(width)}  ${text}`), ...terms],
      isExact: true,
    }
  }
  return { lines: [what, ...changed, ...terms], isExact: true }
}

/** The lines for participants that may not decide: secrets are masked. */
function maskedLines({ payload }: AnyEnvelope, call: ProposedCall): ExactLines {
  const { value } = redact(payload, defaultGuard)
  const masked = isObject(value) ? value : {}
  return cardLines({ payload: masked } as unknown as AnyEnvelope, { ...call, params: masked.params })
}

/** Formats context, number of uses and expiry; omits those that have the default value. */
function formatTerms({ context, usesLeft = 1, expiresAt }: ProposedCall): string[] {
  const terms = [
    ...(context === undefined ? [] : [`in ${spellOut(context)}`]),
    ...(usesLeft > 1 ? [`${usesLeft} times`] : []),
    ...(typeof expiresAt === 'string' ? [`until ${onOneLine(expiresAt)}`] : []),
  ]
  return terms.length === 0 ? [] : [terms.join(' · ')]
}

/** Timeout of the tool call of an approved proposal. */
const approvalTimeoutMs = 60_000

export type AlwaysOptions = NonNullable<Parameters<SpaceClient['proposals']['allowAlways']>[1]>

interface DeciderOptions {
  readonly space: SpaceClient
  readonly http: HttpClient
  /** Asks the user when the approved tool sends an elicitation. */
  readonly forms: FormFiller
}

/** Approves and rejects proposals for this participant. */
export class ProposalDecider {
  readonly #space: SpaceClient
  readonly #http: HttpClient
  readonly #forms: FormFiller

  constructor({ space, http, forms }: DeciderOptions) {
    this.#space = space
    this.#http = http
    this.#forms = forms
  }

  /** Approves a proposal and grants similar calls from now on. Returns the message for the user. */
  allowAlways(start: string, options: AlwaysOptions): Promise<string> {
    return this.#with(start, async (space, id) => {
      const {
        recipient,
        id: grant,
        capabilities,
      } = await space.proposals.allowAlways(id, {
        ...options,
        ...this.#ask(space, id),
      })
      return `✓ approved; ${recipient} may ${capabilities.map(capabilitySentence).join('; ')} from now on (grant ${grant})`
    })
  }

  /** Approves a proposal that was shown in full. Returns the message for the user. */
  approve(start: string, pending: Pick<PendingProposals, 'isShown'>): Promise<string> {
    return this.#with(start, async (space, id) => {
      if (!pending.isShown(id))
        throw new ProtocolError('invalid_request', `${id} was not shown: /pending shows it`)
      const options = { timeoutMs: approvalTimeoutMs, ...this.#ask(space, id) }
      const result = await space.proposals.approve(id, options)
      const text = getResultText(result, ' ')
      return result.isError === true
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

  async #with(start: string, act: (space: SpaceClient, id: string) => Promise<string>): Promise<string> {
    const known = findByPrefix(this.#space.proposals.list(), start, 'proposal')
    const { id } = known ?? findOpenProposal(await readProposals(this.#http), start, Date.now())
    return decideProposal(this.#http, id, () => act(this.#space, id))
  }
}
