import { closeCodes } from '@meup/protocol'
import { portionsOf } from '../core/delivery/backfill.js'
import type { Delivery } from '../core/delivery/broadcast.js'
import { Ending } from '../core/delivery/ending.js'
import { turn } from '../core/delivery/log-reads.js'
import type { Session } from '../core/delivery/session.js'
import { show, showRest } from '../core/delivery/show.js'
import type { Space } from '../core/space.js'
import type { Ended } from '../index/turn-index.js'
import type { Turns } from '../index/turns.js'
import type { Row } from '../ports/envelope-log.js'

/** Bytes of envelopes that may wait for the index; past that they are read from the log again. */
const mostWaiting = 4 * 1024 * 1024
/** Characters that an event has for each decision beside its rationale, and that an envelope costs which is folded for it. */
const [decisionCharacters, foldedCharacters] = [128, 64]

/**
 * The streams of events of a space. They are served as far as the index has the log, so that what a batch of calls
 * came to follows the envelope that ended it [MEUP-11.11]. Nobody else waits for that, and none of them for another.
 */
export class Feeds {
  readonly #space: Space
  readonly #turns: Turns
  /** They are served, whether or not they have caught up. */
  readonly #open = new Set<Session>()
  /** They have got everything up to `#shown`. */
  readonly #upToDate = new Set<Session>()
  #shown: number
  /** What was delivered since, as far as there is room. */
  #waiting: Delivery[] = []
  #bytes = 0

  constructor(space: Space, turns: Turns) {
    const { indexer } = turns
    this.#space = space
    this.#turns = turns
    this.#shown = indexer.seq
    indexer.onAdvance = (through) => this.#advance(through)
    indexer.isWatched = () => this.#open.size > 0
  }

  /** To be told of every batch that is delivered. */
  add(batch: readonly Delivery[]): void {
    if (this.#open.size === 0) {
      this.#forget()
      return
    }
    for (const delivery of batch) {
      this.#waiting.push(delivery)
      this.#bytes += delivery.entry.body.length
    }
    if (this.#bytes > mostWaiting) this.#forget()
  }

  /** Serves a feed from its position on; with `told`, first what else came with the envelope there. */
  serve(session: Session, told?: number): void {
    this.#open.add(session)
    this.#serve(session, told).catch((err: unknown) => {
      const { config, logger } = this.#space
      const { participant } = session
      logger.error({ space: config.name, participant, err }, 'a stream of events cannot go on')
      session.close(closeCodes.draining, 'the log cannot be read; reconnect later')
    })
  }

  async #advance(through: number): Promise<void> {
    const after = this.#shown
    for (const session of this.#open) if (session.closed) this.#leave(session)
    const batch = this.#take(through)
    const isWhole = batch.length === through - after
    // Where nobody looks on, or all have to read the log, no event is made.
    const readers = isWhole ? [...this.#upToDate] : []
    const endings = readers.length > 0 ? await this.#endings(after, through, readers) : []
    for (const ending of endings) this.#charge(ending.agent, ending)
    this.#shown = through
    if (isWhole && this.#isShown(batch, endings)) return
    const behind = [...this.#upToDate]
    this.#upToDate.clear()
    for (const session of behind) this.serve(session)
  }

  /** Whether all who are up to date have got it. */
  #isShown(batch: readonly Delivery[], endings: readonly Ending[]): boolean {
    // Of those who have come meanwhile it may not be known what they are told.
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

  /** An event tells of all of its turn so far: that may be a thousand times what has ended it [MEUP-7.8]. */
  #charge(rateLimitKey: string, { size }: Ending): void {
    const { rates, clock } = this.#space
    const { characters, decisions, folded } = size
    const all = characters + decisions * decisionCharacters + folded * foldedCharacters
    rates.chargeView(rateLimitKey, all, clock.now())
  }

  #leave(session: Session): void {
    this.#open.delete(session)
    this.#upToDate.delete(session)
  }

  /** Who misses it reads the log. */
  #forget(): void {
    this.#waiting = []
    this.#bytes = 0
  }

  /** What waits of the log up to here. */
  #take(through: number): Delivery[] {
    const first = this.#waiting.findIndex(({ entry }) => entry.seq > through)
    const batch = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first)
    for (const { entry } of batch) this.#bytes -= entry.body.length
    return batch
  }

  async #serve(session: Session, told: number | undefined): Promise<void> {
    if (told !== undefined) await this.#serveRest(session, told)
    while (!session.isGone()) {
      const { position } = session
      if (position >= this.#shown) {
        this.#upToDate.add(session)
        this.#turns.indexer.poke()
        return
      }
      const range = { after: position, before: this.#shown + 1 }
      for await (const rows of this.#space.reads.slices(session, range)) {
        if (!(await this.#serveRows(session, rows))) break
      }
      if (session.position > position || session.isGone()) continue
      session.close(closeCodes.tooSlow, 'what came next has been pruned meanwhile; reconnect with after=')
    }
  }

  /** Whether they were served: not where one is missing. */
  async #serveRows(session: Session, rows: readonly Row[]): Promise<boolean> {
    const after = session.position
    if (rows[0]?.seq !== after + 1) return false
    const endings = await this.#endings(after, rows.at(-1)?.seq ?? after, [session])
    for (const ending of endings) this.#charge(session.rateLimitKey, ending)
    for (const portion of portionsOf(rows)) {
      const seqs = new Set(portion.map(({ seq }) => seq))
      const batch = portion.map((row) => this.#space.deliveryOf(row))
      show(
        batch,
        endings.filter(({ seq }) => seqs.has(seq)),
        [session],
      )
      await session.connection.drained()
      await turn()
    }
    return true
  }

  /** What may have ended after `after`, up to `through`, as these sessions are told of it. */
  async #endings(after: number, through: number, sessions: readonly Session[]): Promise<Ending[]> {
    const index = await this.#turns.indexer.reach(through)
    const ended = index.ended(after, through)
    const byTurn = new Map<number, Ended[]>()
    for (const each of ended) byTurn.set(each.turn.turn, [...(byTurn.get(each.turn.turn) ?? []), each])
    const endings = new Map<Ended, Ending>()
    for (const [first, ...others] of byTurn.values()) {
      if (first === undefined) continue
      const told = await this.#turns.folded.events(index, first.turn, { after, through }, sessions)
      endings.set(first, new Ending(first, told))
      for (const each of others) endings.set(each, new Ending(each, told, false))
    }
    return ended.flatMap((each) => endings.get(each) ?? [])
  }

  async #serveRest(session: Session, told: number): Promise<void> {
    const { position } = session
    showRest(await this.#endings(position - 1, position, [session]), told, session)
  }
}
