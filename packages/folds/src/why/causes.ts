import {
  contextParent,
  contextRoot,
  correlations,
  type DecisionPayload,
  type Envelope,
  isContextAncestor,
  Kind,
  namespaceOf,
  openedContext,
} from '@meup/protocol'
import { isNotification } from '../mcp/calls.js'

/** Limits of one search: envelopes that are examined, causes that are kept, and characters of those causes. */
const [maxLooked, maxCauses, maxChars] = [20_000, 1000, 8 * 1024 * 1024]
/**
 * Maximum number of replies that are followed in a row: from a result to its call, and from a call to the proposal that it
 * fulfils.
 */
const maxReplyDepth = 3

/** An envelope without its payload. */
export interface CauseHeading {
  readonly id: string
  readonly seq?: number
  readonly kind: string
  readonly from: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
}

/** Access to a log, limited to the envelopes that its reader may read. */
export interface ReadableLog<Page = readonly CauseHeading[]> {
  /** Whether the log is complete: from its first envelope on, without gaps. */
  readonly isWhole: boolean
  heading(id: string): CauseHeading | undefined
  get(id: string): Envelope | undefined
  /** Returns a page of the last envelopes before this seq, newest first; empty = none. */
  before(seq: number): Page
}

/** The runs, questions, calls and results that led to an envelope, in log order; the envelope is the last. */
export interface Causes {
  readonly envelopes: readonly Envelope[]
  /** Whether earlier causes may be missing: not in the log, or beyond the limits. */
  readonly isCut: boolean
}

/**
 * A search as a generator, which works on a log in memory and on one that is read page by page: it yields a seq, and expects
 * the page of envelopes before it.
 */
export type Reading<Found> = Generator<number, Found, readonly CauseHeading[]>

/** Finds the causes of an envelope, also those of other agents; none if the envelope is not in the log. */
export const findCauses = (log: Omit<ReadableLog, 'before'>, id: string): Reading<Causes> =>
  new Search(log).find(id)

/**
 * Scans the log once, backwards: a cause always has a smaller seq than its effect. Each cause refers to others: the envelope
 * that it answers, and its context.
 */
class Search {
  readonly #log: Omit<ReadableLog, 'before'>
  readonly #causes = new Map<string, Envelope>()
  /** Envelopes that causes refer to and that the scan has not reached yet: seqs by id. */
  readonly #named = new Map<string, number>()
  /** Contexts whose earlier envelopes are causes. */
  readonly #contexts = new Set<string>()
  /**
   * Participants with a question that they answered, as `<participant> <question id>`: their runs about the question are
   * causes.
   */
  readonly #answered = new Set<string>()
  readonly #starts = new Map<string, CauseHeading | undefined>()
  /** The smallest seq among known causes that were not read yet; the scan ends there. */
  #floor = Number.POSITIVE_INFINITY
  #looked = 0
  #chars = 0
  #isLost = false

  constructor(log: Omit<ReadableLog, 'before'>) {
    this.#log = log
  }

  *find(id: string): Reading<Causes> {
    const of = this.#log.get(id)
    if (of === undefined) return { envelopes: [], isCut: false }
    this.#add(of)
    let before = of.seq ?? 0
    while (before > this.#floor && !this.#isFull) {
      const headings: readonly CauseHeading[] = yield before
      const last = headings.at(-1)
      if (last === undefined) break
      for (const each of headings) {
        if (this.#isFull || (each.seq ?? 0) < this.#floor) break
        this.#looked++
        if (this.#isCause(each)) this.#addById(each.id)
      }
      before = last.seq ?? 0
    }
    const isCut = this.#isLost || this.#isFull
    if (this.#isFull) this.#addNamed()
    return { envelopes: [...this.#causes.values()].sort(bySeq), isCut }
  }

  get #isFull(): boolean {
    return this.#looked >= maxLooked || this.#causes.size >= maxCauses || this.#chars >= maxChars
  }

  #addById(id: string): void {
    const envelope = this.#log.get(id)
    if (envelope === undefined || isNotification(envelope.payload)) return
    // The heading of a decision, which the scan reads, does not show whether it is about a cause, so read the decision itself.
    if (envelope.kind === Kind.systemDecision && !this.#named.has(id) && !this.#concerns(envelope)) return
    this.#add(envelope)
  }

  #add(envelope: Envelope): void {
    this.#named.delete(envelope.id)
    this.#causes.set(envelope.id, envelope)
    this.#chars += JSON.stringify(envelope.payload).length
    const { ids, context, from } = linksOf(envelope)
    for (const id of ids) {
      if (envelope.kind === Kind.chat && envelope.context === undefined) this.#answered.add(`${from} ${id}`)
      const cause = this.#look(id)
      if (cause === undefined) this.#lose()
      else this.#name(cause)
    }
    if (isStart(envelope)) this.#contexts.add(openedContext(envelope))
    if (context !== undefined) this.#enter(context)
  }

  /**
   * Makes the envelopes of a context causes. A context that no run has opened has no start, so they may go back to the start of
   * the log.
   */
  #enter(context: string): void {
    for (let place: string | undefined = context; place !== undefined; place = contextParent(place)) {
      if (this.#contexts.has(place)) return
      this.#contexts.add(place)
      const start = this.#findStart(place)
      if (start !== undefined) {
        this.#name(start)
        return
      }
    }
    if (this.#log.isWhole) this.#floor = 0
    else this.#lose()
  }

  #name({ id, seq = 0 }: CauseHeading): void {
    if (this.#causes.has(id)) return
    this.#named.set(id, seq)
    this.#floor = Math.min(this.#floor, seq)
  }

  #lose(): void {
    this.#isLost = true
    this.#floor = 0
  }

  /** Reads, by id, the causes that the scan did not reach. */
  #addNamed(): void {
    for (let left = maxReplyDepth * 10; left > 0; left--) {
      const [id] = this.#named.keys()
      if (id === undefined) return
      const envelope = this.#log.get(id)
      this.#named.delete(id)
      if (envelope !== undefined) this.#add(envelope)
    }
  }

  #isCause(each: CauseHeading): boolean {
    if (this.#named.has(each.id)) return true
    if (each.kind === Kind.systemDecision) return true
    const namespace = namespaceOf(each.kind)
    if (namespace !== 'reasoning' && namespace !== 'mcp' && each.kind !== Kind.chat) return false
    return this.#belongs(each)
  }

  /** Whether an envelope was sent in the context of a cause, or replies to such an envelope. */
  #belongs(each: CauseHeading, depth = maxReplyDepth): boolean {
    const place = isStart(each) ? openedContext(each) : each.context
    if (place !== undefined && (this.#isWithin(place) || this.#isAnswering(place))) return true
    const about = correlations(each)
    if (depth === 0 || (place !== undefined && !isReply(each))) return false
    if (each.kind !== Kind.chat && about.some((id) => this.#answered.has(`${each.from} ${id}`))) return true
    return about.some((id) => {
      const asked = this.#look(id)
      return asked !== undefined && this.#belongs(asked, depth - 1)
    })
  }

  #isWithin(place: string): boolean {
    if (this.#contexts.has(place)) return true
    for (const context of this.#contexts) if (isContextAncestor(context, place)) return true
    return false
  }

  /** Whether this run led to an answer: it has the same owner, and is about the same question. */
  #isAnswering(place: string): boolean {
    if (this.#answered.size === 0) return false
    const root = contextRoot(place)
    const start = this.#findStart(root)
    if (start === undefined) return false
    const about = [start.id, ...correlations(start)]
    const isAsked = about.some((id) => this.#answered.has(`${start.from} ${id}`))
    if (!isAsked) return false
    this.#contexts.add(root)
    this.#name(start)
    return true
  }

  #concerns(decision: Envelope): boolean {
    const { ids, context, from } = linksOf(decision)
    if (context !== undefined) return this.#isWithin(context) || this.#isAnswering(context)
    return ids.some((id) => this.#answered.has(`${from} ${id}`))
  }

  #findStart(context: string): CauseHeading | undefined {
    if (this.#starts.has(context)) return this.#starts.get(context)
    const found = this.#look(context.slice(context.lastIndexOf('/') + 1))
    const start =
      found !== undefined && isStart(found) && openedContext(found) === context ? found : undefined
    this.#starts.set(context, start)
    return start
  }

  #look(id: string): CauseHeading | undefined {
    return this.#looked++ < maxLooked ? this.#log.heading(id) : undefined
  }
}

/** Lists the ids and the context that an envelope refers to, and its sender. For a decision, those of the refused envelope. */
function linksOf(envelope: Envelope): {
  readonly ids: readonly string[]
  readonly context: string | undefined
  readonly from: string
} {
  const { kind, from, to, context, payload } = envelope
  if (kind !== Kind.systemDecision) return { ids: correlations(envelope), context, from }
  const { attemptedCorrelation, context: place } = payload as Partial<DecisionPayload>
  const about = attemptedCorrelation === undefined ? {} : { correlationId: attemptedCorrelation }
  return { ids: correlations(about), context: place, from: to?.[0] ?? '' }
}

const isStart = ({ kind }: CauseHeading): boolean => kind === Kind.reasoningStart

/** Responses and rejections belong to the call that they correlate to, not to their context. */
const isReply = ({ kind }: CauseHeading): boolean => kind === Kind.mcpResponse || kind === Kind.mcpReject

const bySeq = (one: Envelope, other: Envelope): number => (one.seq ?? 0) - (other.seq ?? 0)
