import type { Envelope } from '@meup/protocol'
import type { SpaceModel } from './space-model.js'

/** Envelopes between two looks at the clock. */
const portion = 50
/** Milliseconds that a reader waits for the next envelope, at most, however long that took. */
const longestPause = 2000

/** A space as it was at the moment that its reader chooses: the log up to there, folded anew. */
export class Past {
  readonly #present: SpaceModel
  #model: SpaceModel | undefined
  #growing: SpaceModel
  #source: readonly Envelope[]
  #wanted = 0
  /** Milliseconds that were played since the last envelope. */
  #passed = 0

  constructor(present: SpaceModel) {
    this.#present = present
    this.#growing = present.atItsBeginning()
    this.#source = present.log.envelopes
  }

  /** What there was then; `undefined` until that is known for the first time. */
  get model(): SpaceModel | undefined {
    return this.#model
  }

  /** Seq of the last envelope that is shown when it is there. */
  get wanted(): number {
    return this.#wanted
  }

  /** How much of the way is done: from 0 to 1. */
  get progress(): number {
    const { log } = this.#present
    const count = log.countThrough(this.#wanted)
    return count === 0 ? 1 : Math.min(log.countThrough(this.#growing.log.last) / count, 1)
  }

  /** From now on `work` goes there. */
  seek(seq: number): void {
    this.#wanted = Math.max(seq, this.#present.log.first)
    this.#passed = 0
  }

  /** Lets so many milliseconds pass in the log. `speed`: how often they go into one of the reader's. */
  play(ms: number, speed: number): void {
    const { log } = this.#present
    this.#passed += ms
    for (let index = log.countThrough(this.#wanted); index < log.envelopes.length; index++) {
      const [last, next] = [log.envelopes[index - 1], log.envelopes[index]]
      const gap = Math.min(timeOf(next) - timeOf(last), longestPause * speed)
      if (next?.seq === undefined || gap > this.#passed) break
      this.#passed -= Math.max(gap, 0)
      this.#wanted = next.seq
    }
  }

  /** Goes towards what is wanted until its time is up. Whether it is there. */
  work(isTimeUp: () => boolean): boolean {
    const { log } = this.#present
    if (log.envelopes !== this.#source || this.#growing.log.last > this.#wanted) this.#beginAgain()
    const end = log.countThrough(this.#wanted)
    let index = log.countThrough(this.#growing.log.last)
    while (index < end) {
      if (isTimeUp()) return false
      const next = Math.min(index + portion, end)
      this.#growing.take(log.envelopes.slice(index, next), 0)
      void this.#growing.lists.stream.slots
      index = next
    }
    this.#growing.moment = timeOf(log.envelopes[end - 1]) + this.#passed
    this.#model = this.#growing
    return true
  }

  #beginAgain(): void {
    this.#source = this.#present.log.envelopes
    this.#growing = this.#present.atItsBeginning()
  }
}

const timeOf = (envelope: Envelope | undefined): number => Date.parse(envelope?.ts ?? '') || 0
