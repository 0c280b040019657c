import { type DecisionPayload, type Erasure, isErasable, Kind } from '@meup/protocol'
import { parseEnvelope } from '../log/entries.js'
import type { Row } from '../ports/envelope-log.js'
import { type Refusal, refuse } from './admission/context.js'
import type { Checkpoints } from './checkpoints.js'
import { Recovery } from './group-commit.js'
import type { Space, SpaceListener } from './space.js'

/** So long somebody who erases waits until the bytes are gone. */
const maxWaitMs = 10_000

/** What is to be erased, by whom and why. */
interface Asked {
  readonly seq: number
  readonly by: string
  readonly reason: string
}

interface Receipt {
  readonly seq: number
  /** Seq of the record. */
  readonly recordedAt: number
  /** Whether the bytes are gone by now; else they go as soon as the log can. */
  readonly removed: boolean
}

/** What may keep a copy of an envelope. */
interface Copies {
  /** Drops those in memory. */
  forget(): void
  /** Resolves when the index has the log up to this seq: it keeps nothing then of what was erased by a record before. */
  reach(seq: number): Promise<unknown>
}

/** Erases envelopes [MEUP-10.10]. The record comes before the deed, as of a pruning: a start completes what was cut off. */
export class Erasing implements SpaceListener {
  readonly #space: Space
  readonly #checkpoints: Checkpoints
  readonly #copies: Copies
  readonly #recovery: Recovery
  /** Seqs whose records are in the log, while their bytes may be. */
  readonly #pending: Set<number>
  readonly #waiting = new Set<() => void>()
  #isRunning = false

  constructor(space: Space, checkpoints: Checkpoints, copies: Copies) {
    this.#space = space
    this.#checkpoints = checkpoints
    this.#copies = copies
    this.#pending = new Set(space.state.erasures.seqs)
    const { logger, config } = space
    this.#recovery = new Recovery(space.clock, (err, retryMs) =>
      logger.error(
        { space: config.name, err, retryMs },
        'what was erased is still in the log; this is tried again',
      ),
    )
  }

  /** Envelopes whose bytes are still to be removed. */
  get pending(): number {
    return this.#pending.size
  }

  begin(): void {
    this.#run()
  }

  close(): void {
    this.#recovery.close()
  }

  /** Resolves when no bytes are left to be removed. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look)
          resolve()
        }
        this.#waiting.add(look)
      })
    }
  }

  /** On every gateway that has the space open, whichever of them has logged the record. */
  erased(seqs: readonly number[]): void {
    this.#copies.forget()
    for (const seq of seqs) this.#pending.add(seq)
    this.#run()
  }

  async erase(asked: Asked): Promise<Receipt | Refusal> {
    const { seq } = asked
    const recordedAt = await this.#record(asked)
    if (typeof recordedAt === 'object') return recordedAt
    if (!(await this.#space.committed(recordedAt))) return unavailable
    return { seq, recordedAt, removed: await this.#removed(seq) }
  }

  async #record({ seq, by, reason }: Asked): Promise<number | Refusal> {
    const space = this.#space
    const [row] = await space.log.read({ after: seq - 1, before: seq + 1, limit: 1, only: 'headings' })
    if (row === undefined || seq > space.delivered)
      return refuse('not_found', `The log has no envelope ${seq}. Check the seq.`)
    // Also what is on its way to the log: of each envelope there is one record.
    if (space.state.erasures.seqs.has(seq))
      return refuse('not_found', `The envelope ${seq} is erased already.`)
    if (!isErasable(row.kind)) {
      const message = `The envelope ${seq} is ${row.kind}, which builds the state of the space: what it says of rights, presence and pauses has to stay.`
      return refuse('invalid_request', message)
    }
    const { text } = space.safety.guard(reason)
    const decided = row.kind === Kind.systemDecision ? pickDecision(space.log.find(row.id)) : undefined
    const record = {
      kind: Kind.systemSpace,
      payload: { event: 'erased', seq, id: row.id, by, reason: text, ...(decided && { decided }) },
    }
    try {
      return await (space.isFollower && space.elsewhere ? space.elsewhere.emit(record) : space.emit(record))
    } catch (err) {
      space.logger.warn({ space: space.config.name, seq, err }, 'an erasure could not be logged')
      return unavailable
    }
  }

  /** Resolves when the bytes are gone, or it has taken too long. */
  #removed(seq: number): Promise<boolean> {
    const { clock } = this.#space
    const isGone = (): boolean => !this.#pending.has(seq)
    if (isGone()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#waiting.delete(look)
        resolve(isGone())
      }
      const look = (): void => {
        if (isGone()) end()
      }
      const cancel = clock.after(maxWaitMs, end)
      this.#waiting.add(look)
    })
  }

  #run(): void {
    if (this.#isRunning || this.#pending.size === 0) return
    this.#isRunning = true
    this.#recovery.begin(() => this.#remove())
  }

  async #remove(): Promise<void> {
    const { log, logger, config } = this.#space
    let isChanged = false
    while (this.#pending.size > 0) {
      const [seqs, head] = [[...this.#pending], this.#space.delivered]
      await this.#checkpoints.settled() // One that was begun before tells of them.
      const found = await log.erase(seqs)
      await this.#copies.reach(head) // Also where an earlier attempt came no further than the log.
      if (found) logger.info({ space: config.name, seqs }, 'envelopes were erased')
      isChanged ||= found
      for (const seq of seqs) this.#pending.delete(seq)
      for (const look of [...this.#waiting]) look()
    }
    this.#isRunning = false
    if (isChanged) await this.#checkpoints.renew()
  }
}

/** What stays of a decision: nothing that its sender has written. */
function pickDecision(row: Row | undefined): Erasure['decided'] {
  if (row === undefined || row.body.length === 0) return undefined
  const { decision, reasonCode } = parseEnvelope(row).payload as unknown as DecisionPayload
  return { decision, reasonCode }
}

const unavailable = refuse('unavailable', 'The log cannot be written. Erase it again later.')
