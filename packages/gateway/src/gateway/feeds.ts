import { closeCodes } from '@meup/protocol'
import type { BatchEnd } from '@meup/views'
import { portionsOf } from '../outbox/backfill.js'
import type { Delivery } from '../outbox/broadcast.js'
import { Ending } from '../outbox/ending.js'
import { show, showRest } from '../outbox/show.js'
import { readWhole } from '../outbox/whole.js'
import type { Row } from '../ports/envelope-log.js'
import { turn } from '../space/log-reads.js'
import type { Session } from '../space/session.js'
import type { Space } from '../space/space.js'
import type { Projector } from './projector.js'

/** Each comes with what is known of its turn. */
const endsAtOnce = 16
/** Bytes of envelopes that may wait for the projector; past that they are read from the log again. */
const mostWaiting = 4 * 1024 * 1024
/** Characters that an event has for each decision beside its rationale. */
const decisionCharacters = 128

/**
 * The streams of events of a space. They are served as far as turns are made of the log, so that what a batch of calls
 * came to follows the envelope that ended it [MEUP-11.11]. Nobody else waits for that, and none of them for another.
 */
export class Feeds {
  readonly #space: Space
  readonly #projector: Projector
  /** They are served, whether or not they have caught up. */
  readonly #open = new Set<Session>()
  /** They have got everything up to `#shown`. */
  readonly #upToDate = new Set<Session>()
  #shown: number
  /** What was delivered since, as far as there is room. */
  #waiting: Delivery[] = []
  #bytes = 0

  constructor(space: Space, projector: Projector) {
    this.#space = space
    this.#projector = projector
    this.#shown = projector.seq
    projector.onAdvance = (through, ends) => this.#advance(through, ends)
    projector.isWatched = () => this.#open.size > 0
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

  #advance(through: number, ends: readonly BatchEnd[]): void {
    const batch = this.#take(through)
    const isWhole = batch.length === through - this.#shown
    this.#shown = through
    // Where nobody looks on, no event is made.
    if (this.#upToDate.size > 0) for (const end of ends) this.#charge(end.turn.agent, end)
    for (const session of this.#open) if (session.closed) this.#leave(session)
    if (isWhole && this.#isShown(batch, ends)) return
    const behind = [...this.#upToDate]
    this.#upToDate.clear()
    for (const session of behind) this.serve(session)
  }

  /** Whether all who are up to date have got it. */
  #isShown(batch: readonly Delivery[], ends: readonly BatchEnd[]): boolean {
    try {
      show(batch, this.#endingsOf(ends), this.#upToDate)
      return true
    } catch (err) {
      const { config, logger } = this.#space
      logger.error({ space: config.name, err }, 'streams of events have to read the log again')
      return false
    }
  }

  /** An event tells of all of its turn so far: that may be a thousand times what has ended it [MEUP-7.8]. */
  #charge(payer: string, { turn: { decisions } }: BatchEnd): void {
    const { rates, clock } = this.#space
    const characters = decisions.reduce(
      (sum, { rationale }) => sum + decisionCharacters + (rationale?.length ?? 0),
      0,
    )
    rates.chargeView(payer, characters, clock.now())
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
        this.#projector.poke()
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

  /** Whether they were all served: not where one is missing, nor beyond what is known of the batches that ended. */
  async #serveRows(session: Session, rows: readonly Row[]): Promise<boolean> {
    const after = session.position
    const last = rows.at(-1)?.seq ?? after
    if (rows[0]?.seq !== after + 1) return false
    const { ends, through } = await this.#ends(after, last)
    for (const end of ends) this.#charge(session.payer, end)
    for (const portion of portionsOf(rows.filter(({ seq }) => seq <= through))) {
      const seqs = new Set(portion.map(({ seq }) => seq))
      const batch = portion.map((row) => this.#space.deliveryOf(row))
      show(batch, this.#endingsOf(ends.filter(({ seq }) => seqs.has(seq))), [session])
      await session.connection.drained()
      await turn()
    }
    return through === last
  }

  /** The batches that ended after `after`, at most up to `most`: all up to `through`. */
  async #ends(after: number, most: number): Promise<{ ends: readonly BatchEnd[]; through: number }> {
    const read = (limit: number) => this.#projector.ends({ after, through: most, limit })
    const { items, isAll } = await readWhole(endsAtOnce, read, ({ seq }) => seq)
    return { ends: items, through: isAll ? most : (items.at(-1)?.seq ?? most) }
  }

  async #serveRest(session: Session, told: number): Promise<void> {
    const { position } = session
    await this.#projector.reach(position)
    const { ends } = await this.#ends(position - 1, position)
    showRest(this.#endingsOf(ends), told, session)
  }

  #endingsOf(ends: readonly BatchEnd[]): Ending[] {
    return ends.map((end) => new Ending(end, this.#space))
  }
}
