import {
  type Capability,
  checkWithin,
  closeCodes,
  compilePattern,
  contextParent,
  type Detail,
  isShown,
  Kind,
  namespaceOf,
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

/** Who opens a session. */
export interface Visitor {
  readonly participant: string
  /** Whose buckets pay: the participant, or a guest's address. */
  readonly rateLimitKey: string
  /** What it may do at present. */
  readonly capabilities: readonly Capability[]
  /** The program that it belongs to; absent = it has named none. */
  readonly session?: string
  /** Milliseconds since the epoch; absent = it may stay. */
  readonly expiresAt?: number
  /** Whether it would still be let in: its token or the guest profile may have been taken away. */
  isWelcome(): boolean
}

/** What is needed of the space. */
interface SessionSpace {
  readonly config: Pick<SpaceConfig, 'limits'>
  readonly metrics: SpaceMetrics
}

/** A reader for whom more waits is behind. */
const behindBytes = 64 * 1024

/** One connection of one participant: what it may read, what it asked to see, how far it has been served. */
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
  /** Sessions of one group differ only in what is addressed to them and what they sent. */
  group: string
  /** Of what the subscription cuts, if it asks for them [MEUP-9.9]. */
  summaries: Summaries | undefined
  /** What the subscription has cut since the connection opened. */
  readonly suppressed = { envelopes: 0, bytes: 0 }
  /** Last seq of the log that was decided on for this connection. */
  position = 0
  /** Served as commits happen; before that, from the log. */
  live = false
  closed = false
  /** Its client has said that its program ends with this connection. */
  isBye = false
  /** The first welcome has been sent. */
  isWelcomed = false
  /** Another welcome was sent before the replay was over, so that its end has to be told [MEUP-5.3]. */
  tellsEnd = false
  /** Bytes of the last welcome, until little waits for the first time. */
  #excused = 0
  /** Bytes of deltas that may wait. */
  #offered = 0
  readonly #space: SessionSpace
  readonly #resubscribed: (session: Session, id: string) => number

  /** `resubscribed` answers the envelope `id` that asked for it, and gives the bytes of the answer. */
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

  /** Gives it the rights that it has from now on. */
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

  /** A reader too slow for what waits is closed, and resumes from its last seq: nothing is dropped [MEUP-5.8]. */
  send(outboundBatch: OutboundBatch): void {
    if (this.closed) return
    const { metrics, config } = this.#space
    const { sendBufferBytes } = config.limits
    const { pending } = this.connection
    this.#offered = Math.min(this.#offered, pending)
    if (pending <= sendBufferBytes) this.#excused = 0
    else if (pending > sendBufferBytes + this.#excused + this.#offered) {
      metrics.slowCloses++
      this.close(closeCodes.tooSlow, `more than ${sendBufferBytes} bytes wait; reconnect with after=`)
      return
    }
    this.connection.send(outboundBatch)
  }

  /** Whether there is nobody to read for any more. */
  isGone(): boolean {
    return this.closed || this.connection.isGone
  }

  /** However large a welcome is, it makes nobody slow; only one at a time is excused [MEUP-5.8]. */
  welcome(message: Message): void {
    this.tellsEnd = this.isWelcomed && !this.live
    this.isWelcomed = true
    this.reply(message)
    this.#excused = message.text.length
  }

  /** Sends so many bytes that nobody has to get, unless much waits to be read. They make nobody slow [MEUP-3.25]. */
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

  /** Gives the summaries that come before an entry. */
  summarizeBefore(entry: Entry): readonly Message[] {
    return this.#say(this.summaries?.takeBefore(entry))
  }

  /** Gives the summaries that are due at a time of the log. */
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

/** What one connection asked to see [MEUP-9.1]. Connections with the same `key` see the same. */
interface Subscription {
  readonly asked: SubscribePayload
  readonly key: string
  /** Nothing but `kinds` cuts deltas, and it does so whomever they are addressed to [MEUP-8.3]. */
  wantsLive(kind: string): boolean
  /** Whether an envelope passes for a reader that it is neither from nor addressed to. */
  passes(entry: Entry): boolean
}

/** Namespaces that no subscription cuts [MEUP-8.3]. */
const uncut: ReadonlySet<string> = new Set(['mcp', 'system', 'capability', 'space', 'participant'])

/**
 * Steps that one envelope may take of one subscription. Anybody may subscribe, to whatever pattern: what is too long to
 * be decided on within these is what the pattern does not match [MEUP-9.3].
 */
const maxPatternSteps = 2 ** 13

/** Throws `PatternError`, its path relative to the payload, for a pattern that does not compile. */
export function compileSubscription(asked: SubscribePayload, meter?: WorkMeter): Subscription {
  const tests: ((entry: Entry) => boolean)[] = []
  const { reasoning, contexts, excludeContexts, from, kinds } = asked
  const unwanted = new Set<string>()
  if (reasoning !== undefined && reasoning !== 'full') tests.push((entry) => isShown(reasoning, entry))
  if (contexts) {
    const wanted = underAny(contexts, '/contexts', meter)
    tests.push(({ context }) => context === undefined || wanted(context))
  }
  if (excludeContexts) {
    const unwanted = underAny(excludeContexts, '/excludeContexts', meter)
    tests.push(({ context }) => context === undefined || !unwanted(context))
  }
  if (from) {
    const wanted = compilePattern(from, { path: '/from', meter })
    tests.push((entry) => wanted(entry.from))
  }
  if (kinds) {
    const wanted = compilePattern(kinds, { kinds: true, path: '/kinds', meter })
    for (const kind of [Kind.chatDelta, Kind.observeTyping])
      if (!checkWithin(maxPatternSteps, () => wanted(kind))) unwanted.add(kind)
    tests.push(({ kind }) => wanted(kind))
  }
  return {
    asked,
    key: tests.length === 0 ? '' : JSON.stringify([reasoning, contexts, excludeContexts, from, kinds]),
    wantsLive: (kind) => !unwanted.has(kind),
    passes: (entry) =>
      isUncut(entry) || checkWithin(maxPatternSteps, () => tests.every((test) => test(entry))),
  }
}

const isUncut = ({ kind, context }: Entry): boolean =>
  uncut.has(namespaceOf(kind)) || (kind === Kind.chat && context === undefined)

/** A pattern names a context and everything below it. */
function underAny(
  patterns: string[],
  path: string,
  meter: WorkMeter | undefined,
): (context: string) => boolean {
  const matches = compilePattern(patterns, { path, meter })
  return (context) => {
    for (let at: string | undefined = context; at !== undefined; at = contextParent(at)) {
      if (matches(at)) return true
    }
    return false
  }
}

/**
 * What a request over HTTP asks for out of what its sender may read [MEUP-11.3, 11.4]. Unlike a subscription it cuts
 * whatever does not fit, one's own envelopes too. Selections with the same `key` select the same.
 */
export interface Selection {
  readonly key: string
  includes(entry: Entry): boolean
  /** Whether it includes events that tell why this call was made; they are reasoning. */
  includesCall(call: Addressed): boolean
}

const everything: Selection = { key: '', includes: () => true, includesCall: () => true }

export function select(filter: Filter, reasoning: Detail): Selection {
  const { kinds, from, context, correlationId } = filter
  return {
    key: JSON.stringify([kinds, from, context, correlationId, reasoning]),
    includes: (entry) => matches(filter, entry) && isShown(reasoning, entry),
    includesCall: (call) => reasoning === 'full' && matches(filter, call),
  }
}
