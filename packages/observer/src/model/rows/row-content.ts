import {
  type ContextView,
  cut,
  type Description,
  describe,
  getCommandExitCode,
  getRationale,
  getToolName,
  isLate,
  isWithheld,
  onOneLine,
  type ProposalView,
  payloadText,
  printable,
  type Quoted,
  type Result,
  readResult,
  sentence,
  type Tone,
} from '@meup/folds'
import {
  contextRoot,
  correlations,
  type Envelope,
  GATEWAY,
  isKnownKind,
  isThought,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import { summarizeCall, summarizeCalls } from '../call-summary.js'
import { getFullSize } from '../log/truncate.js'
import { partChars, splitText } from '../split-text.js'
import {
  countText,
  dateText,
  getText,
  nameText,
  noRedaction,
  requestParametersText,
  sizeText,
  stripMarkdown,
} from '../text.js'
import type { Block, BlockEntry, CallEntry } from './blocks.js'
import type { CallRow, LogRow, RowHeading, SaidRow, Slot, Sources } from './row.js'

type Content = LogRow extends infer Each ? (Each extends LogRow ? Omit<Each, keyof Placed> : never) : never
type Placed = Pick<LogRow, 'key' | 'envelope' | 'depth' | 'height' | 'origin'>

/** Creates the current content of a row. */
export function getRow(slot: Slot, sources: Sources): LogRow {
  const { key, envelope, depth, height, origin, calls } = slot
  const place = { key, envelope, depth, height, origin }
  if (calls !== undefined) {
    const rows = calls.map((call) => getRow(call, sources)).filter((row) => row.type === 'call')
    return { type: 'batch', calls: rows, ...place }
  }
  return { ...createContent(slot, sources), ...place } as LogRow
}

function createContent(slot: Slot, sources: Sources): Content {
  const { type, of, envelope, context = '', part = 0 } = slot
  const { getContext, getProposal } = sources
  if (type === 'more') return { type, context, count: slot.count ?? 0 }
  if (type === 'heading') {
    const view = getContext(context)
    if (view !== undefined) return { type, ...createHeading(view, of, sources) }
  }
  if (type === 'proposal') {
    const proposal = getProposal(envelope.id)
    if (proposal !== undefined) return { type, proposal, summary: summarizeCall(envelope.payload) }
  }
  if (type === 'end') {
    const view = getContext(envelope.context ?? '')
    if (view !== undefined)
      return { type, text: printable(view.ending?.text ?? ''), isCancelled: view.state === 'cancelled' }
  }
  if (of.type === 'call') return callLine(of, sources, sources.isMuted(envelope.from))
  if (of.type === 'message') {
    const { text, parts } = readMessage(envelope)
    const [isFirst, isLast] = [part === 0, part === parts.length - 1]
    return { type: 'message', message: of.message, text, part: { text: parts[part] ?? '', isFirst, isLast } }
  }
  return createSaid(of, envelope, sources)
}

interface MessageText {
  readonly text: string
  /** The parts of the text, one for each row of the message. */
  readonly parts: readonly string[]
}

/** Cached texts of messages with several rows. */
const messageTexts = new WeakMap<Envelope, MessageText>()

function readMessage(envelope: Envelope): MessageText {
  const known = messageTexts.get(envelope)
  if (known !== undefined) return known
  const text = isWithheld(envelope.payload) ? '' : getText(envelope)
  const read = { text, parts: splitText(text) }
  if (read.parts.length > 1) messageTexts.set(envelope, read)
  return read
}

/** Number of rows of a message. */
export const countParts = (envelope: Envelope): number =>
  payloadText(envelope.payload).length <= partChars ? 1 : readMessage(envelope).parts.length

function createSaid(of: Block | BlockEntry, envelope: Envelope, sources: Sources): Content {
  const { getContext } = sources
  if (of.type === 'arrivals') {
    return {
      type: 'said',
      name: '',
      text: arrivalsText(of.envelopes),
      tone: 'event',
      isByAnother: false,
      isLate: false,
      replyTo: null,
    }
  }
  const { context } = envelope
  if (context === undefined) return saidLine(envelope, null, false)
  const owner = getContext(contextRoot(context))?.owner ?? null
  const replyTo = sources.getAnsweredThinker(envelope) ?? null
  return { ...saidLine(envelope, owner, isLate(envelope, getContext)), replyTo }
}

/** The heading of a context, as of now. */
function createHeading(view: ContextView, of: Block | BlockEntry, sources: Sources): RowHeading {
  const { folding, isMuted, getSummary, isGoingOn } = sources
  const { context, owner, counts, contributors, references, proposals, answer, metadata } = view
  const isLive = view.state === 'open' && isGoingOn(context)
  const state = view.state === 'open' && !isLive ? 'concluded' : view.state
  const confidence = metadata?.confidence
  return {
    context,
    state,
    reasoningVisible: view.reasoningVisible,
    hiddenBy: view.hiddenBy,
    startedAt: view.startedAt,
    expiresAt: view.expiresAt,
    duration: view.duration,
    owner: owner ?? contributors[0] ?? '',
    level: folding.getLevel(context),
    isMuted: isMuted(owner ?? ''),
    isNested: contextRoot(context) !== context,
    isLive,
    thoughts: counts.thoughts,
    summary: getSummary(context),
    calls: counts.calls,
    did: didText(of) || (counts.calls > 0 ? countText(counts.calls, 'tool') : ''),
    late: counts.late,
    // A free path, a context that no run has opened, has no opening text, but its name is descriptive.
    opening: shown(view.opening) ?? (state === 'free' ? nameText(context) : null),
    ending: shown(view.ending),
    isWithheld: isQuoteWithheld(view.opening) || isQuoteWithheld(view.ending),
    references,
    // Copied, because the fold mutates its list.
    proposals: [...proposals],
    confidence: typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null,
    answer: answer?.id ?? null,
    end: view.ending?.source.id ?? null,
  }
}

/** Summarizes the calls of a run; `''` for a nested context. */
const didText = (of: Block | BlockEntry): string =>
  of.type !== 'context'
    ? ''
    : summarizeCalls(of.entries.flatMap(({ type, envelope }) => (type === 'call' ? [envelope.payload] : [])))

/** Text on one line; `null` if there is none. */
const shown = (quoted: Quoted | null): string | null => stripMarkdown(printable(quoted?.text ?? '')) || null

const isQuoteWithheld = (quoted: Quoted | null): boolean => quoted !== null && quoted.text === null

const [maxResultChars, maxEventChars] = [1000, 2000]

type Unplaced<Row> = Omit<Row, keyof Placed>

/** The row of an envelope that is shown as text only. */
function saidLine(envelope: Envelope, owner: string | null, isLate: boolean): Unplaced<SaidRow> {
  const { kind, payload, from } = envelope
  const isByAnother = owner !== null && from !== owner && from !== GATEWAY
  const description = describe(envelope, noRedaction, { owner: owner ?? undefined })
  const { object, detail, tone } = description
  // Thoughts and messages show only their text, because their style or a chip shows the kind; other rows are sentences.
  const isQuote = wordy.has(tone) || !isKnownKind(kind)
  const text = isQuote
    ? printable(detail)
    : withDates(onOneLine(cut(withoutSender(description, from), maxEventChars)))
  return {
    type: 'said',
    name: isQuote ? object : '',
    text: isWithheld(payload) ? null : text,
    tone: isProblem(envelope) ? 'problem' : tone === 'thought' || tone === 'plan' ? tone : 'event',
    isByAnother,
    isLate,
    replyTo: null,
  }
}

/** Converts timestamps in a text to the reader's time zone. */
const withDates = (text: string): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?Z/g, (ts) => dateText(ts))

const wordy: ReadonlySet<Tone> = new Set(['message', 'start', 'end', 'thought', 'plan', 'error'])

/** Removes the sender's name, which the row already shows. */
function withoutSender(description: Description, from: string): string {
  const said = sentence(description)
  return said.startsWith(`${from} `) ? said.slice(from.length + 1) : said
}

/** Summarizes joins and leaves: `ana, bot are here · eve left`; `''` if all who left have returned. */
export function arrivalsText(envelopes: readonly Envelope[]): string {
  const parts: { verb: string; ids: string[] }[] = []
  for (const envelope of withoutReturns(envelopes)) {
    const { actor, verb } = describe(envelope, noRedaction)
    const last = parts.at(-1)
    if (last?.verb === verb) last.ids.push(actor)
    else parts.push({ verb, ids: [actor] })
  }
  const texts = parts.map(
    ({ verb, ids }) => `${ids.join(', ')} ${ids.length > 1 ? verb.replace('is', 'are') : verb}`,
  )
  return onOneLine(texts.join(' · '))
}

/** Omits participants that left and returned, as when a page is reloaded. */
function withoutReturns(envelopes: readonly Envelope[]): readonly Envelope[] {
  const changes = new Map<string, Envelope[]>()
  for (const envelope of envelopes) {
    const { id } = (envelope.payload as Partial<PresencePayload>).participant ?? { id: '' }
    changes.set(id, [...(changes.get(id) ?? []), envelope])
  }
  const isOver = (of: readonly Envelope[]): boolean =>
    of[0]?.payload.event === 'leave' && of.at(-1)?.payload.event === 'join'
  const left = new Set([...changes.values()].flatMap((of) => (isOver(of) ? [] : of)))
  return envelopes.filter((each) => left.has(each))
}

/** Whether the call failed, or the command that it ran. */
export const hasFailed = ({ isError, response }: CallEntry): boolean =>
  isError === true || (response !== undefined && (getCommandExitCode(response.payload) ?? 0) !== 0)

function callLine(
  entry: CallEntry,
  { getProposal, isOpenElicitation }: Pick<Sources, 'getProposal' | 'isOpenElicitation'>,
  isMuted: boolean,
): Unplaced<CallRow> {
  const { envelope, response } = entry
  const proposal = correlations(envelope)
    .map((id) => getProposal(id))
    .find((each) => isBySomebodyElse(each, envelope))
  const exitCode = response && getCommandExitCode(response.payload)
  const result = response === undefined ? null : formatResult(response)
  return {
    type: 'call',
    tool: nameText(getToolName(envelope.payload)),
    parameters: requestParametersText(envelope),
    summary: summarizeCall(envelope.payload),
    rationale: isMuted ? null : printable(proposal?.rationale ?? getRationale(envelope) ?? '') || null,
    result,
    size: response === undefined ? '' : getSizeText(response),
    hasFailed: hasFailed(entry),
    exitCode,
    response: response ?? null,
    answeredAt: response?.ts ?? null,
    approvedBy: proposal === undefined ? null : envelope.from,
    proposedBy: proposal?.source.from ?? null,
    isOpenElicitation: isOpenElicitation(envelope.id),
  }
}

/** The result of a call; a long text is truncated, with its total size. */
function formatResult(response: Envelope): Result {
  const result = readResult(response.payload, noRedaction)
  const bytes = getFullSize(response)
  const size = bytes === undefined ? result.size : { count: bytes, unit: 'bytes' }
  return { ...result, size, text: printable(cut(result.text, maxResultChars)) }
}

/** The size of a result that is longer than one line. */
function getSizeText(response: Envelope): string {
  const bytes = getFullSize(response)
  if (bytes !== undefined) return sizeText(bytes)
  const { text, size } = readResult(response.payload, noRedaction)
  if (size?.unit === 'bytes') return sizeText(size.count)
  if (size !== null && size.unit !== 'chars')
    return `${size.count.toLocaleString('en')} ${onOneLine(size.unit)}`
  const lines = text.trimEnd().split('\n').length
  return lines > 1 ? countText(lines, 'line') : ''
}

const isBySomebodyElse = (proposal: ProposalView | undefined, request: Envelope): boolean =>
  proposal !== undefined && proposal.source.from !== request.from

/** Whether a proposal has no row, because the row of the call that fulfilled it shows it. */
export function isCarriedOut(entry: BlockEntry, { getProposal, isLoaded }: Sources): boolean {
  if (entry.type !== 'proposal') return false
  const { state, fulfilments } = getProposal(entry.envelope.id) ?? {}
  return state === 'fulfilled' && fulfilments?.some(({ id }) => isLoaded(id)) === true
}

/** Whether an entry is shown even in a folded context: failures, refusals, and open decisions. */
export function isPressing(
  entry: BlockEntry,
  { getProposal, isOpenElicitation }: Pick<Sources, 'getProposal' | 'isOpenElicitation'>,
): boolean {
  switch (entry.type) {
    case 'proposal':
      return getProposal(entry.envelope.id)?.state === 'open'
    case 'call':
      return entry.isError === true || isOpenElicitation(entry.envelope.id)
    case 'said':
      return isProblem(entry.envelope)
    case 'nested':
      return false
  }
}

/** Whether an envelope is a thought about an error, or a refusal by the gateway. */
export const isProblem = ({ kind, payload }: Envelope): boolean =>
  (isThought(kind) && payload.phase === 'error') ||
  (kind === Kind.systemDecision && payload.decision !== 'review')
