import { type DecisionPayload, type Erasure, isErasable, Kind } from '@meup/protocol'
import { parseEnvelope } from '../log/entries.js'
import type { Row } from '../ports/envelope-log.js'
import type { Checkpoints } from './checkpoints.js'
import { Recovery } from './group-commit.js'
import { type Refusal, refuse } from './refusal.js'
import { texts } from './refusal-texts.js'
import type { Space, SpaceListener } from './space.js'

/** Longest wait of a request for the bytes to be removed. */
const maxWaitMs = 10_000

interface Asked {
  readonly seq: number
  readonly by: string
  readonly reason: string
}

interface Receipt {
  readonly seq: number
  /** Seq of the logged record of the erasure. */
  readonly recordedAt: number
  /** Whether the bytes are already removed; if not, they will be as soon as the log can remove them. */
  readonly removed: boolean
}

/** Caches that may hold a copy of an envelope. */
interface Copies {
  /** Drops the copies in memory. */
  forget(): void
  /** Resolves when the index has processed this seq, and so has removed what earlier records erased. */
  reach(seq: number): Promise<unknown>
}

/**
 * Erases envelopes [MEUP-10.10]. The record is logged before the bytes are removed, so that a start completes an interrupted
 * erasure.
 */
export class Erasing implements SpaceListener {
  readonly #space: Space
  readonly #checkpoints: Checkpoints
  readonly #copies: Copies
  readonly #recovery: Recovery
  /** Seqs with a logged record whose bytes may still exist. */
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
        'erased envelopes are still in the log; removing them is tried again',
      ),
    )
  }

  /** Envelopes whose bytes still have to be removed. */
  get pending(): number {
    return this.#pending.size
  }

  begin(): void {
    this.#run()
  }

  close(): void {
    this.#recovery.close()
  }

  /** Resolves when no bytes have to be removed. */
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

  /** Called on every gateway that has the space open, whichever one logged the record. */
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
    if (row === undefined || seq > space.delivered) return refuse('not_found', texts.unknownSeq, { seq })
    // Also refuses if a record is admitted and not delivered yet, because an envelope gets only one record.
    if (space.state.erasures.seqs.has(seq)) return refuse('not_found', texts.erasedAlready, { seq })
    if (!isErasable(row.kind)) return refuse('invalid_request', texts.inerasable, { seq, kind: row.kind })
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

  /** Resolves when the bytes are removed, or after `maxWaitMs`. */
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
      await this.#checkpoints.settled() // A checkpoint that was begun earlier may contain the envelope.
      const found = await log.erase(seqs)
      await this.#copies.reach(head) // An earlier attempt may have failed after removing the bytes from the log.
      if (found) logger.info({ space: config.name, seqs }, 'envelopes were erased')
      isChanged ||= found
      for (const seq of seqs) this.#pending.delete(seq)
      for (const look of [...this.#waiting]) look()
    }
    this.#isRunning = false
    if (isChanged) await this.#checkpoints.renew()
  }
}

/** The part of a decision that is kept: nothing that its sender wrote. */
function pickDecision(row: Row | undefined): Erasure['decided'] {
  if (row === undefined || row.body.length === 0) return undefined
  const { decision, reasonCode } = parseEnvelope(row).payload as unknown as DecisionPayload
  return { decision, reasonCode }
}

const unavailable = refuse('unavailable', texts.unwritableLog)
