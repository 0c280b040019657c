import {
  contextParent,
  correlations,
  type DecisionPayload,
  type Envelope,
  GUEST,
  Kind,
  openedContext,
} from '@meup/protocol'

/** Steps of one chain, and envelopes that are examined for all of them. */
const [maxSteps, maxLooked] = [200, 20_000]

/** The causes of an envelope, from the first one to the envelope itself. */
export interface Chain {
  readonly steps: readonly Envelope[]
  /** Whether earlier causes may be missing, because the log lacks them or they are too far back. */
  readonly isCut: boolean
}

/** An envelope without its payload. */
export interface Heading {
  readonly id: string
  readonly seq?: number
  readonly kind: string
  readonly from: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
}

/** Access to a log, limited to what its reader may read. */
export interface ReadableLog<Page = readonly Heading[]> {
  /** Whether the log is complete: from its first envelope on, without gaps. */
  readonly isWhole: boolean
  heading(id: string): Heading | undefined
  get(id: string): Envelope | undefined
  /** The last envelopes before this seq, newest first, as many as are read at once; empty = there are no earlier ones. */
  before(seq: number): Page
}

type Lookups = Omit<ReadableLog, 'before'>

/** Finds the causes of an envelope, across agents. The chain has no steps if the log lacks the envelope. */
export function explain(log: ReadableLog, id: string): Chain {
  const search = new Search(log).explain(id)
  for (let next = search.next(); ; next = search.next(log.before(next.value))) {
    if (next.done) return next.value
  }
}

/** Does the same as `explain` with a log that is read asynchronously, page by page. */
export async function explainLogged(
  log: ReadableLog<Promise<readonly Heading[]>>,
  id: string,
): Promise<Chain> {
  const search = new Search(log).explain(id)
  for (let next = search.next(); ; next = search.next(await log.before(next.value))) {
    if (next.done) return next.value
  }
}

/** The first text from outside the space among the causes: the result of a tool, or what a guest says. */
export function findOutsideText(log: Pick<ReadableLog, 'heading'>, { steps }: Chain): Heading | undefined {
  const last = steps.at(-1)
  const behind = steps.flatMap((step) => [
    ...correlations(step).flatMap((id) => log.heading(id) ?? []),
    ...(step === last ? [] : [step]),
  ])
  return behind.find(({ kind, from }) => kind === Kind.mcpResponse || from.startsWith(GUEST))
}

/** A search that yields a seq and is given the page before it. */
type Reading<Found> = Generator<number, Found, readonly Heading[]>

/** Finds the causes of an envelope, and examines a bounded number of envelopes to do so. */
class Search {
  readonly #log: Lookups
  /** The page that was read last, and the seq that it precedes. */
  #page: { readonly before: number; readonly headings: readonly Heading[] } | undefined
  #looked = 0

  constructor(log: Lookups) {
    this.#log = log
  }

  *explain(id: string): Reading<Chain> {
    const steps: Envelope[] = []
    const seen = new Set<string>()
    let at = this.#log.get(id)
    while (at !== undefined && !seen.has(at.id) && steps.length < maxSteps) {
      steps.push(at)
      seen.add(at.id)
      const cause: Heading | undefined = yield* this.#findCause(at)
      at = cause && this.#log.get(cause.id)
    }
    const first = steps.at(-1)
    const isTooLong = steps.length >= maxSteps || this.#looked >= maxLooked
    return { steps: steps.reverse(), isCut: isTooLong || (first !== undefined && this.#isLost(first)) }
  }

  /** Whether the log lacks something that it refers to. In a complete log, a context without a start is a free path. */
  #isLost(envelope: Envelope): boolean {
    const { ids, context } = linksOf(envelope)
    return ids.some((id) => this.#look(id) === undefined) || (context !== undefined && !this.#log.isWhole)
  }

  /** The most direct cause of an envelope. */
  *#findCause(envelope: Envelope): Reading<Heading | undefined> {
    const { kind, seq = 0 } = envelope
    const { ids, context, from } = linksOf(envelope)
    const answered = ids.flatMap((id) => this.#look(id) ?? [])
    const proposed = answered.find((each) => each.kind === Kind.mcpProposal)
    if (kind === Kind.mcpRequest && proposed !== undefined) return proposed
    if (kind === Kind.chat) return (yield* this.#findConclusion(envelope, answered)) ?? answered[0]
    const isDirect = kind === Kind.mcpResponse || (kind === Kind.reasoningStart && answered.length > 0)
    const step = isDirect || context === undefined ? undefined : yield* this.#findStep(context, seq, from)
    return step ?? answered[0]
  }

  /** The last step of the run whose answer a chat is. */
  *#findConclusion(chat: Envelope, answered: readonly Heading[]): Reading<Heading | undefined> {
    const { from, seq = 0, context } = chat
    const about = new Set(correlations(chat))
    if (context === undefined && about.size === 0) return undefined
    const isTheirs = (place: string): boolean => {
      if (place === context) return true
      const start = this.#look(place.slice(place.lastIndexOf('/') + 1))
      return (
        start !== undefined &&
        isStart(start) &&
        start.from === from &&
        [start.id, ...correlations(start)].some((id) => about.has(id))
      )
    }
    const isKnown = context === undefined && answered.length > 0
    const first = isKnown ? Math.min(...answered.map((each) => each.seq ?? 0)) : 0
    return yield* this.#findBefore(seq, (each) => {
      // A run has no step before what it is about, nor before its start.
      if ((each.seq ?? 0) < first) return 'stop'
      if (each.from === from) return this.#isIn(each, isTheirs)
      return isStart(each) && openedContext(each) === context && 'stop'
    })
  }

  /** The last step of a participant in a context, or else in those around it: a thought, a result, or the start. */
  *#findStep(context: string, seq: number, from: string): Reading<Heading | undefined> {
    for (let place: string | undefined = context; place !== undefined; place = contextParent(place)) {
      const here = place
      const step: Heading | undefined = yield* this.#findBefore(seq, (each) => {
        if (!this.#isIn(each, (context) => context === here)) return false
        return this.#isFor(each, from) || (isStart(each) && 'stop')
      })
      if (step !== undefined) return step
    }
    return undefined
  }

  /** Whether an envelope can be a cause in a context that `is` accepts. A call cannot; its result can. */
  #isIn(each: Heading, is: (context: string) => boolean): boolean {
    if (isStart(each)) return is(openedContext(each))
    if (isAnswer(each)) {
      return correlations(each).some((id) => {
        const context = this.#look(id)?.context
        return context !== undefined && is(context)
      })
    }
    const isCall = each.kind === Kind.mcpRequest || each.kind === Kind.mcpProposal
    return !isCall && each.context !== undefined && is(each.context)
  }

  /** Whether the participant has sent the envelope, or has asked what it answers. */
  #isFor(each: Heading, participant: string): boolean {
    return isAnswer(each)
      ? correlations(each).some((id) => this.#listAskers(id).includes(participant))
      : each.from === participant
  }

  /** The sender of a request, and the proposer if the request fulfils a proposal. */
  #listAskers(id: string): string[] {
    const asked = this.#look(id)
    if (asked === undefined) return []
    const proposed = correlations(asked).flatMap((each) => this.#look(each) ?? [])
    return [asked.from, ...proposed.filter(({ kind }) => kind === Kind.mcpProposal).map(({ from }) => from)]
  }

  /** The last envelope before a seq for which `is` returns `true`; `'stop'` ends the search without one. */
  *#findBefore(seq: number, is: (each: Heading) => boolean | 'stop'): Reading<Heading | undefined> {
    for (let before = seq; this.#looked < maxLooked; ) {
      const headings: readonly Heading[] = yield* this.#read(before)
      for (const each of headings) {
        if (++this.#looked > maxLooked) return undefined
        const found = is(each)
        if (found !== false) return found === true ? each : undefined
      }
      const last = headings.at(-1)
      if (last === undefined) return undefined
      before = last.seq ?? 0
    }
    return undefined
  }

  /** The page before a seq: the last page if it reaches far enough back, since most steps are close to each other. */
  *#read(before: number): Reading<readonly Heading[]> {
    if (this.#page !== undefined && before <= this.#page.before) {
      const rest = this.#page.headings.filter(({ seq = 0 }) => seq < before)
      if (rest.length > 0) return rest
    }
    const headings = yield before
    this.#page = { before, headings }
    return headings
  }

  #look(id: string): Heading | undefined {
    return this.#looked++ < maxLooked ? this.#log.heading(id) : undefined
  }
}

/** The ids and the context that an envelope refers to, and who acted there; a decision refers to what the refused envelope refers to. */
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

/** Whether it answers something: a result, a rejection, or a chat outside of contexts. */
const isAnswer = ({ kind, context }: Heading): boolean =>
  kind === Kind.mcpResponse || kind === Kind.mcpReject || (kind === Kind.chat && context === undefined)

const isStart = ({ kind }: Heading): boolean => kind === Kind.reasoningStart
