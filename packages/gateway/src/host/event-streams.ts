import type { MayRead } from '@meup/folds'
import { closeCodes, omitUndefined } from '@meup/protocol'
import { isOutdated, splitPortions } from '../core/delivery/backfill.js'
import { broadcast, type Delivery, type Relayed } from '../core/delivery/broadcast.js'
import type { Slice } from '../core/delivery/log-reads.js'
import type { Session } from '../core/delivery/session.js'
import { mayRead } from '../core/may-read.js'
import type { Space, SpaceListener } from '../core/space.js'
import { yieldNow } from '../core/yielding.js'
import type { IndexedTurns } from '../index/indexer.js'
import { classifyReader, type TurnEvents, type TurnViewEvent } from '../index/turn-events.js'
import type { EndedTurn } from '../index/turn-index.js'
import type { Message, OutboundBatch } from '../ports/connection.js'

/** Maximum bytes of envelopes that wait in memory for the index; if more wait, all are dropped, and read from the log again. */
const maxWaitingBytes = 4 * 1024 * 1024
/** Maximum bytes of deltas (parts of unfinished answers) that wait; further ones are dropped. */
const maxDeltaBytes = 1024 * 1024
/** Characters charged for an event: per call or proposal in it, besides its rationale, and per envelope folded for it. */
const [decisionCharacters, foldedCharacters] = [128, 64]
/** Units of `work` per envelope served from the log, besides reading it: its turn is folded [MEUP-7.8]. */
const servedUnits = 8

/**
 * The event streams of a space. They get envelopes once these are indexed, so that the outcome of a batch of calls follows the
 * envelope that ended it [MEUP-11.11]. Nothing else waits for the index, and no stream waits for another.
 */
export class EventStreams implements SpaceListener {
  readonly #space: Space
  readonly #turns: IndexedTurns
  /** Streams that are served, caught up or not. */
  readonly #open = new Set<Session>()
  /** Streams that have been sent every envelope up to the seq `#shown`, and so get the next ones from memory. */
  readonly #upToDate = new Set<Session>()
  #shown: number
  /** Batches delivered after `#shown`, up to `maxWaitingBytes`. */
  #waiting: Delivery[] = []
  #bytes = 0
  /** Deltas, each with the last seq that was delivered before it. */
  #deltas: { readonly after: number; readonly relayed: Relayed }[] = []
  #deltaBytes = 0

  constructor(space: Space, turns: IndexedTurns) {
    const { indexer } = turns
    this.#space = space
    this.#turns = turns
    this.#shown = indexer.seq
    indexer.onAdvance = (through) => this.#advance(through)
    indexer.isWatched = () => this.#open.size > 0
  }

  /** Keeps the batch until its envelopes are indexed; if no stream is open, drops everything that waits. */
  delivered(batch: readonly Delivery[]): void {
    if (this.#open.size === 0) {
      this.forget()
      return
    }
    for (const delivery of batch) {
      this.#waiting.push(delivery)
      this.#bytes += delivery.entry.body.length
    }
    if (this.#bytes > maxWaitingBytes) this.forget()
  }

  /** Holds a delta back until the envelopes delivered before it are sent. */
  relayed(relayed: Relayed): void {
    if (this.#open.size === 0 || this.#deltaBytes + relayed.bytes > maxDeltaBytes) return
    this.#deltas.push({ after: this.#space.delivered, relayed })
    this.#deltaBytes += relayed.bytes
    this.#offerDeltas()
  }

  #offerDeltas(): void {
    const first = this.#deltas.findIndex(({ after }) => after > this.#shown)
    for (const { relayed } of this.#deltas.splice(0, first === -1 ? this.#deltas.length : first)) {
      this.#deltaBytes -= relayed.bytes
      for (const session of this.#upToDate) relayed.offer(session)
    }
  }

  /** Serves a feed from its position; with `received`, first the remaining events of the envelope at that position. */
  serve(session: Session, received?: number): void {
    this.#open.add(session)
    this.#serve(session, received).catch((err: unknown) => {
      const { config, logger } = this.#space
      const { participant } = session
      logger.error({ space: config.name, participant, err }, 'a stream of events cannot continue')
      session.close(closeCodes.draining, 'the log cannot be read; reconnect later')
    })
  }

  async #advance(through: number): Promise<void> {
    const after = this.#shown
    for (const session of this.#open) if (session.closed) this.#leave(session)
    const batch = this.#nextBatch(through)
    const isWhole = batch.length === through - after
    // Prepares events for the streams that are up to date. If `#waiting` lacks a part of the batch, it prepares none, because
    // all streams then read the batch from the log.
    const readers = isWhole ? [...this.#upToDate] : []
    const endings = readers.length > 0 ? await this.#endings(after, through, readers) : []
    for (const ending of endings) this.#charge(ending.agent, ending)
    this.#shown = through
    if (!isWhole || !this.#isShown(batch.map(this.#asOfNow), endings)) {
      const behind = [...this.#upToDate]
      this.#upToDate.clear()
      for (const session of behind) this.serve(session)
    }
    this.#offerDeltas()
  }

  /** Creates the delivery again if its envelope was erased while the index was behind. */
  readonly #asOfNow = (delivery: Delivery): Delivery =>
    this.#space.wasErased(delivery.entry.seq) ? this.#space.createDelivery(delivery.entry) : delivery

  /** Whether every caught-up stream has been sent the batch. */
  #isShown(batch: readonly Delivery[], endings: readonly BatchEnd[]): boolean {
    // A stream that caught up during this call may lack a prepared event: it is served from the log.
    for (const session of this.#upToDate) {
      if (endings.every((ending) => ending.isKnownTo(session))) continue
      this.#upToDate.delete(session)
      this.serve(session)
    }
    try {
      show(batch, endings, this.#upToDate)
      return true
    } catch (err) {
      const { config, logger } = this.#space
      logger.error({ space: config.name, err }, 'streams of events have to read the log again')
      return false
    }
  }

  /**
   * An event describes its whole turn so far, which may be a thousand times larger than the envelope, so its size is charged
   * [MEUP-7.8].
   */
  #charge(rateLimitKey: string, { size }: BatchEnd): void {
    const { rates, clock } = this.#space
    const { characters, decisions, folded } = size
    const all = characters + decisions * decisionCharacters + folded * foldedCharacters
    rates.chargeView(rateLimitKey, all, clock.now())
  }

  #leave(session: Session): void {
    this.#open.delete(session)
    this.#upToDate.delete(session)
  }

  /** Drops the waiting batches, which streams then read from the log, and the waiting deltas, which are lost. */
  forget(): void {
    this.#waiting = []
    this.#bytes = 0
    this.#deltas = []
    this.#deltaBytes = 0
  }

  /** The waiting deliveries up to `through`. */
  #nextBatch(through: number): Delivery[] {
    const first = this.#waiting.findIndex(({ entry }) => entry.seq > through)
    const batch = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first)
    for (const { entry } of batch) this.#bytes -= entry.body.length
    return batch
  }

  async #serve(session: Session, received: number | undefined): Promise<void> {
    if (received !== undefined) await this.#serveRest(session, received)
    while (!session.isGone()) {
      const { position } = session
      if (position >= this.#shown) {
        this.#upToDate.add(session)
        this.#turns.indexer.poke()
        return
      }
      const range = { after: position, before: this.#shown + 1 }
      let lacksBodies = false
      for await (const slice of this.#space.reads.replay(session, range)) {
        lacksBodies = !(await this.#serveSlice(session, slice))
        if (lacksBodies) break
      }
      if (lacksBodies || session.position > position || session.isGone()) continue
      session.close(closeCodes.tooSlow, 'the next envelopes were pruned; reconnect with after=')
    }
  }

  /**
   * Sends a stream a slice of the log, unless it is outdated or not the next one. Returns whether it had all bodies that the
   * session may read.
   */
  async #serveSlice(session: Session, slice: Slice): Promise<boolean> {
    const [{ rows }, after] = [slice, session.position]
    if (rows[0]?.seq !== after + 1) return true
    const endings = await this.#endings(after, rows.at(-1)?.seq ?? after, [session])
    for (const ending of endings) this.#charge(session.rateLimitKey, ending)
    const { rates, clock } = this.#space
    rates.charge(session.rateLimitKey, 'work', rows.length * servedUnits, clock.now())
    for (const portion of splitPortions(rows)) {
      if (isOutdated(slice, session, this.#space)) return false
      const seqs = new Set(portion.map(({ seq }) => seq))
      const batch = portion.map((row) => this.#space.createDelivery(row))
      show(
        batch,
        endings.filter(({ seq }) => seqs.has(seq)),
        [session],
      )
      await session.connection.drained()
      await yieldNow()
    }
    return true
  }

  /** Envelopes that may have ended a batch of calls, after `after` up to `through`, with the events for these sessions. */
  async #endings(after: number, through: number, sessions: readonly Session[]): Promise<BatchEnd[]> {
    const index = await this.#turns.indexer.reach(through)
    const ended = index.ended(after, through)
    const byTurn = new Map<number, EndedTurn[]>()
    for (const each of ended) byTurn.set(each.turn.turn, [...(byTurn.get(each.turn.turn) ?? []), each])
    const endings = new Map<EndedTurn, BatchEnd>()
    for (const [first, ...others] of byTurn.values()) {
      if (first === undefined) continue
      const turnEvents = await this.#turns.folded.events(index, first.turn, { after, through }, sessions)
      endings.set(first, new BatchEnd(first, turnEvents))
      for (const each of others) endings.set(each, new BatchEnd(each, turnEvents, false))
    }
    return ended.flatMap((each) => endings.get(each) ?? [])
  }

  async #serveRest(session: Session, received: number): Promise<void> {
    const { position } = session
    showRest(await this.#endings(position - 1, position, [session]), received, session)
  }
}

/** Sends feeds a part of the log, each envelope followed by the events of the batches of calls that it ended [MEUP-11.11]. */
function show(batch: readonly Delivery[], endings: readonly BatchEnd[], sessions: Iterable<Session>): void {
  const ended = new Map<number, BatchEnd[]>()
  for (const ending of endings) ended.set(ending.seq, [...(ended.get(ending.seq) ?? []), ending])
  let plain: Delivery[] = []
  for (const delivery of batch) {
    const here = ended.get(delivery.entry.seq)
    if (here === undefined) {
      plain.push(delivery)
      continue
    }
    broadcast(plain, sessions, isAnyone)
    showWithEndings(delivery, here, sessions)
    plain = []
  }
  broadcast(plain, sessions, isAnyone)
}

/** Sends a feed the remaining events of an envelope that it already has: those after the first `received` ones. */
function showRest(endings: readonly BatchEnd[], received: number, session: Session): void {
  const all = endings.flatMap((ending) => ending.messageFor(session) ?? [])
  const rest = all.map((message, index) => (index < received ? undefined : message))
  const messages = inPlace([undefined, ...rest])
  if (messages.length > 0) session.send({ messages })
}

const isAnyone = (): boolean => true

function showWithEndings(
  delivery: Delivery,
  endings: readonly BatchEnd[],
  sessions: Iterable<Session>,
): void {
  const { entry, audience } = delivery
  const isForAll = audience === undefined && endings.every((ending) => ending.isForAll)
  const batches = new Map<string, OutboundBatch>()
  for (const session of sessions) {
    if (session.position >= entry.seq) continue
    const outboundBatch = batches.get(session.group) ?? createBatchFor(session, delivery, endings)
    if (isForAll) batches.set(session.group, outboundBatch)
    session.position = entry.seq
    if (outboundBatch.messages.length > 0) session.send(outboundBatch)
  }
}

function createBatchFor(
  session: Session,
  { entry, audience, message }: Delivery,
  endings: readonly BatchEnd[],
): OutboundBatch {
  const isShown = mayRead(session, audience) && session.selection.includes(entry)
  const messages = endings.flatMap((ending) => ending.messageFor(session) ?? [])
  return { messages: inPlace([isShown ? message : undefined, ...messages]) }
}

/**
 * An envelope and the batches of calls that it ended share a seq; resuming after it skips all of them. Every id but the last
 * adds the event's position among them, so that a disconnect in between neither loses nor repeats an event.
 */
function inPlace(messages: readonly (Message | undefined)[]): Message[] {
  const last = messages.findLast((message) => message !== undefined)
  return messages.flatMap((message, place) => {
    if (message === undefined || message === last) return message ?? []
    const { text, seq, name } = message
    return { text, ...omitUndefined({ seq }), ...(name && { name }), id: `${seq}.${place}` }
  })
}

/** An envelope that may have ended a batch of calls, for the feeds [MEUP-11.11]. */
class BatchEnd {
  readonly seq: number
  readonly agent: string
  /** Whether the event is the same for every reader. */
  readonly isForAll: boolean
  readonly #turnEvents: TurnEvents
  readonly #folded: number
  readonly #messages = new Map<TurnViewEvent, Message>()

  /** `isFirst`: the first event of several for one envelope. */
  constructor({ seq, turn }: EndedTurn, turnEvents: TurnEvents, isFirst = true) {
    this.seq = seq
    this.agent = turn.agent
    this.#turnEvents = turnEvents
    this.#folded = isFirst ? turnEvents.folded : 0
    this.isForAll = turnEvents.audiences.length === 0
  }

  /** Whether the event for this feed is prepared. */
  isKnownTo(session: Session): boolean {
    return this.#turnEvents.events.has(classifyReader(session, this.#turnEvents.audiences))
  }

  /** The cost of the event: its calls and proposals, the characters of their rationales, and the envelopes folded for it. */
  get size(): { readonly decisions: number; readonly characters: number; readonly folded: number } {
    const own = [...this.#turnEvents.events.values()].flat().filter(({ seq }) => seq === this.seq)
    const decisions = own.flatMap(({ event }): { readonly rationale: string }[] => [...event.tool_decisions])
    const characters = decisions.reduce((sum, { rationale }) => sum + rationale.length, 0)
    return { decisions: decisions.length, characters, folded: this.#folded }
  }

  /** The event for a feed; `undefined` if it may not read, or did not select, any of the calls. */
  messageFor(session: Session): Message | undefined {
    const events = this.#turnEvents.events.get(classifyReader(session, this.#turnEvents.audiences)) ?? []
    const ended = events.find(({ seq }) => seq === this.seq)
    const isAsked: MayRead = (said) => session.selection.includesCall({ ...said, from: this.agent })
    if (ended === undefined || !ended.said.some(isAsked)) return undefined
    const known = this.#messages.get(ended)
    if (known !== undefined) return known
    const { event, seq } = ended
    const message = { text: Buffer.from(JSON.stringify(event)), seq, name: event.type }
    this.#messages.set(ended, message)
    return message
  }
}
