import {
  type Capability,
  closeCodes,
  compilePattern,
  contextParent,
  type Detail,
  isShown,
  Kind,
  namespaceOf,
  StepBudget,
  type SubscribePayload,
  type WorkMeter,
} from '@meup/protocol'
import { matches } from '../../log/entries.js'
import {
  type Connection,
  type Message,
  messageFrom,
  type OutboundBatch,
  type Sender,
} from '../../ports/connection.js'
import type { Entry, Filter } from '../../ports/envelope-log.js'
import type { SpaceConfig } from '../config.js'
import { summaryFrame } from '../frames.js'
import { type Addressed, getRightsKey, type Reader, type ReadRights } from '../may-read.js'
import type { SpaceMetrics } from '../metering.js'
import type { LogReader } from './log-reads.js'
import { type ContextSummary, Summaries } from './summaries.js'

/** The participant that opens a session. */
export interface Visitor {
  readonly participant: string
  /** Key of the rate limits: the participant, or a guest's address. */
  readonly rateLimitKey: string
  readonly capabilities: readonly Capability[]
  /** The program that the session belongs to; absent = unnamed. */
  readonly session?: string
  /** When the token expires, in milliseconds since the epoch; absent = never. */
  readonly expiresAt?: number
  /** Whether the participant would still be admitted: its token or the guest profile may have been removed. */
  isWelcome(): boolean
}

/** The part of a space that a session uses. */
interface SessionSpace {
  readonly config: Pick<SpaceConfig, 'limits'>
  readonly metrics: SpaceMetrics
}

/**
 * Above this many unsent bytes a reader gets no deltas (parts of unfinished answers), nor other messages that are not logged.
 */
const behindBytes = 64 * 1024

/** One connection of one participant: its rights, its subscription, and how far it has been served. */
export class Session implements Sender, Reader, LogReader {
  readonly connection: Connection
  readonly participant: string
  readonly rateLimitKey: string
  readonly session?: string
  readonly isWelcome: () => boolean
  capabilities: readonly Capability[]
  readsTargeted: boolean
  readsRefusals: boolean
  readonly selection: Selection
  subscription: Subscription = compileSubscription({})
  /** Equal for sessions that get the same messages, except envelopes that they sent or that are addressed to them. */
  group: string
  /** Summaries of thoughts that the subscription filters out, if requested [MEUP-9.9]. */
  summaries: Summaries | undefined
  /** Totals that the subscription has filtered out since the connection opened. */
  readonly suppressed = { envelopes: 0, bytes: 0 }
  /** Last seq that was handled for this connection, sent or not. */
  position = 0
  /** Whether the session is served from broadcasts; before that, it is served from the log. */
  live = false
  closed = false
  /** The client has announced that its program ends with this connection. */
  isBye = false
  /** The first welcome has been sent. */
  isWelcomed = false
  /** Another welcome was sent during the replay, so the end of the replay has to be announced [MEUP-5.3]. */
  tellsEnd = false
  /**
   * Bytes of the last welcome, which may exceed the limit of unsent bytes until the buffer has first drained below that limit.
   */
  #excused = 0
  /** Bytes of unsent deltas, which do not count against the limit of unsent bytes. */
  #offered = 0
  readonly #space: SessionSpace
  readonly #resubscribed: (session: Session, id: string) => number

  /** `resubscribed` answers the `observe.subscribe` with this id, and returns the bytes of the answer. */
  constructor(
    connection: Connection,
    visitor: Visitor & ReadRights,
    space: SessionSpace,
    resubscribed: (session: Session, id: string) => number,
    selection: Selection = everything,
  ) {
    this.connection = connection
    this.participant = visitor.participant
    this.rateLimitKey = visitor.rateLimitKey
    if (visitor.session !== undefined) this.session = visitor.session
    this.isWelcome = () => visitor.isWelcome()
    this.capabilities = visitor.capabilities
    this.readsTargeted = visitor.readsTargeted
    this.readsRefusals = visitor.readsRefusals
    this.selection = selection
    this.group = getGroupKey(this)
    this.#space = space
    this.#resubscribed = resubscribed
  }

  updateRights({
    capabilities,
    readsTargeted,
    readsRefusals,
  }: Pick<Session, 'capabilities'> & ReadRights): void {
    this.capabilities = capabilities
    this.readsTargeted = readsTargeted
    this.readsRefusals = readsRefusals
    this.group = getGroupKey(this)
  }

  /** Closes a reader whose unsent bytes exceed the limit; it resumes from its last seq, so nothing is lost [MEUP-5.8]. */
  send(outboundBatch: OutboundBatch): void {
    if (this.closed) return
    const { metrics, config } = this.#space
    const { sendBufferBytes } = config.limits
    const { pending } = this.connection
    this.#offered = Math.min(this.#offered, pending)
    if (pending <= sendBufferBytes) this.#excused = 0
    else if (pending > sendBufferBytes + this.#excused + this.#offered) {
      metrics.slowCloses++
      this.close(closeCodes.tooSlow, `more than ${sendBufferBytes} bytes are unread; reconnect with after=`)
      return
    }
    this.connection.send(outboundBatch)
  }

  /** The session or its connection has ended, so that reading the log for it can stop. */
  isGone(): boolean {
    return this.closed || this.connection.isGone
  }

  /**
   * The size of a welcome does not count against the limit of unsent bytes; of several welcomes, only that of the last
   * [MEUP-5.8].
   */
  welcome(message: Message): void {
    this.tellsEnd = this.isWelcomed && !this.live
    this.isWelcomed = true
    this.reply(message)
    this.#excused = message.text.length
  }

  /**
   * Sends messages that may be dropped, such as deltas: skipped above `behindBytes`, and not counted against the limit of
   * unsent bytes [MEUP-3.25].
   */
  offer(outboundBatch: OutboundBatch, bytes: number): void {
    const { pending } = this.connection
    if (this.closed || pending > behindBytes) return
    this.#offered = Math.min(this.#offered, pending) + bytes
    this.connection.send(outboundBatch)
  }

  reply(message: Message): void {
    this.send({ messages: [message] })
  }

  echo(seq: number, message: Message): void {
    if (this.live || seq <= this.position) this.reply(message)
  }

  subscribe(asked: SubscribePayload, id: string, meter: WorkMeter): number {
    this.subscription = compileSubscription(asked, meter)
    for (const message of this.#say(this.summaries?.takeDue(Number.POSITIVE_INFINITY))) this.reply(message)
    this.summaries = asked.reasoning === 'summary' ? new Summaries() : undefined
    this.group = getGroupKey(this)
    return this.#resubscribed(this, id)
  }

  suppress(envelopes: number, bytes: number): void {
    for (const total of [this.suppressed, this.#space.metrics.suppressed]) {
      total.envelopes += envelopes
      total.bytes += bytes
    }
  }

  /** The summaries to send before an entry. */
  summarizeBefore(entry: Entry): readonly Message[] {
    return this.#say(this.summaries?.takeBefore(entry))
  }

  /** The summaries that are due at the time `ts` of the log. */
  summarizeAt(ts: string): readonly Message[] {
    return this.#say(this.summaries?.takeDue(Date.parse(ts)))
  }

  #say(summaries: readonly ContextSummary[] = []): readonly Message[] {
    return summaries.map((summary) => messageFrom(summaryFrame(this.participant, summary)))
  }

  close(code: number, reason: string): void {
    if (this.closed) return
    this.closed = true
    this.connection.close(code, reason)
  }
}

const getGroupKey = (session: Session): string =>
  `${getRightsKey(session)} ${session.selection.key} ${session.subscription.key}`

/** The filter of one connection [MEUP-9.1]. Equal `key` = same filter. */
interface Subscription {
  readonly asked: SubscribePayload
  readonly key: string
  /** Only `kinds` filters deltas, even those addressed to the reader [MEUP-8.3]. */
  wantsLive(kind: string): boolean
  /** Whether an envelope passes for a reader that is neither its sender nor its addressee. */
  passes(entry: Entry): boolean
}

/** Namespaces that no subscription filters out [MEUP-8.3]. */
const uncut: ReadonlySet<string> = new Set(['mcp', 'system', 'capability', 'space', 'participant'])

/**
 * Maximum steps of pattern matching per envelope and subscription. Anyone may subscribe with any pattern; an envelope that
 * needs more steps does not match [MEUP-9.3].
 */
const maxPatternSteps = 2 ** 13

/** Throws `PatternError`, with a path relative to the payload, if a pattern does not compile. */
export function compileSubscription(asked: SubscribePayload, meter?: WorkMeter): Subscription {
  const tests: ((entry: Entry, budget: StepBudget) => boolean)[] = []
  const { reasoning, contexts, excludeContexts, from, kinds } = asked
  const unwanted = new Set<string>()
  if (reasoning !== undefined && reasoning !== 'full') tests.push((entry) => isShown(reasoning, entry))
  if (contexts) {
    const wanted = underAny(contexts, '/contexts', meter)
    tests.push(({ context }, budget) => context === undefined || wanted(context, budget))
  }
  if (excludeContexts) {
    const unwanted = underAny(excludeContexts, '/excludeContexts', meter)
    tests.push(({ context }, budget) => context === undefined || !unwanted(context, budget))
  }
  if (from) {
    const wanted = compilePattern(from, { path: '/from', meter })
    tests.push(({ from }, budget) => wanted(from, budget))
  }
  if (kinds) {
    const wanted = compilePattern(kinds, { kinds: true, path: '/kinds', meter })
    for (const kind of [Kind.chatDelta, Kind.observeTyping])
      if (!wanted(kind, new StepBudget(maxPatternSteps))) unwanted.add(kind)
    tests.push(({ kind }, budget) => wanted(kind, budget))
  }
  return {
    asked,
    key: tests.length === 0 ? '' : JSON.stringify([reasoning, contexts, excludeContexts, from, kinds]),
    wantsLive: (kind) => !unwanted.has(kind),
    passes(entry) {
      if (isUncut(entry)) return true
      const budget = new StepBudget(maxPatternSteps)
      return tests.every((test) => test(entry, budget))
    },
  }
}

const isUncut = ({ kind, context }: Entry): boolean =>
  uncut.has(namespaceOf(kind)) || (kind === Kind.chat && context === undefined)

/** A pattern matches a context and everything below it. */
function underAny(
  patterns: string[],
  path: string,
  meter: WorkMeter | undefined,
): (context: string, budget: StepBudget) => boolean {
  const matches = compilePattern(patterns, { path, meter })
  return (context, budget) => {
    for (let at: string | undefined = context; at !== undefined; at = contextParent(at)) {
      if (matches(at, budget)) return true
    }
    return false
  }
}

/**
 * The filter of an HTTP request [MEUP-11.3, 11.4]. Unlike a subscription it also filters the reader's own envelopes. Equal
 * `key` = same filter.
 */
export interface Selection {
  readonly key: string
  includes(entry: Entry): boolean
  /**
   * Whether the selection includes the event about the batch of calls that this call belongs to; such events count as reasoning
   * [MEUP-11.11].
   */
  includesCall(call: Addressed): boolean
}

const everything: Selection = { key: '', includes: () => true, includesCall: () => true }

export function createSelection(filter: Filter, reasoning: Detail): Selection {
  const { kinds, from, context, correlationId } = filter
  return {
    key: JSON.stringify([kinds, from, context, correlationId, reasoning]),
    includes: (entry) => matches(filter, entry) && isShown(reasoning, entry),
    includesCall: (call) => reasoning === 'full' && matches(filter, call),
  }
}
