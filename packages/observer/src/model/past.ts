import type { Envelope } from '@meup/protocol'
import type { ModelCheckpoint, SpaceModel } from './space-model.js'

/** Envelopes between two checks of the time left in a frame. */
const envelopesPerStep = 50
/** Envelopes between two checkpoints: going back applies at most this many again. */
const checkpointEnvelopes = 5000
/** Maximum pause in playback, at any speed. */
const maxPauseMs = 2000

/** The space at a chosen moment in the past, folded from the last checkpoint before it. */
export class Past {
  readonly #present: SpaceModel
  readonly #between: number
  #model: SpaceModel | undefined
  #growing: SpaceModel
  #source: readonly Envelope[]
  /** Checkpoints, oldest first, `checkpointEnvelopes` apart. */
  #checkpoints: ModelCheckpoint[]
  /** Envelopes applied since the last checkpoint. */
  #since = 0
  #target = 0
  /** Playback time since the last envelope, in ms. */
  #passed = 0

  constructor(present: SpaceModel, checkpointEvery = checkpointEnvelopes) {
    this.#present = present
    this.#between = checkpointEvery
    this.#growing = present.atItsBeginning()
    this.#checkpoints = [this.#growing.checkpoint(undefined)]
    this.#source = present.log.envelopes
  }

  /** The space at the chosen moment; while seeking, at the previous one. `undefined` until a moment is first reached. */
  get model(): SpaceModel | undefined {
    return this.#model
  }

  /** Seq of the last envelope at the chosen moment. */
  get target(): number {
    return this.#target
  }

  /** Progress of seeking, from 0 to 1. */
  get progress(): number {
    const { log } = this.#present
    const count = log.countThrough(this.#target)
    return count === 0 ? 1 : Math.min(log.countThrough(this.#growing.log.last) / count, 1)
  }

  /** Chooses the moment right after this envelope; `work` then computes the space as of that moment. */
  seek(seq: number): void {
    this.#target = Math.max(seq, this.#present.log.first)
    this.#passed = 0
  }

  /** Plays `ms` milliseconds of log time: real time times `speed`, which is passed only for the maximum pause. */
  play(ms: number, speed: number): void {
    const { log } = this.#present
    this.#passed += ms
    for (let index = log.countThrough(this.#target); index < log.envelopes.length; index++) {
      const [last, next] = [log.envelopes[index - 1], log.envelopes[index]]
      const gap = Math.min(getTime(next) - getTime(last), maxPauseMs * speed)
      if (next?.seq === undefined || gap > this.#passed) break
      this.#passed -= Math.max(gap, 0)
      this.#target = next.seq
    }
  }

  /** Computes the chosen moment until out of time; returns `true` once it is reached. */
  work(isTimeUp: () => boolean): boolean {
    const { log } = this.#present
    if (log.envelopes !== this.#source) this.#restart()
    if (this.#growing.log.last > this.#target) this.#rewind()
    const end = log.countThrough(this.#target)
    let index = log.countThrough(this.#growing.log.last)
    while (index < end) {
      if (isTimeUp()) return false
      const next = Math.min(index + envelopesPerStep, end, index + this.#between - this.#since)
      this.#growing.append(log.envelopes.slice(index, next), 0)
      // Creates the rows of these envelopes in the time of this step; otherwise the first drawing creates all rows in one frame.
      void this.#growing.lists.stream.slots
      this.#onApplied(next - index)
      index = next
    }
    this.#growing.moment = getTime(log.envelopes[end - 1]) + this.#passed
    this.#model = this.#growing
    return true
  }

  #onApplied(count: number): void {
    this.#since += count
    if (this.#since < this.#between) return
    this.#since = 0
    const last = this.#checkpoints.at(-1)
    if (last === undefined || last.seq < this.#growing.log.last) {
      this.#checkpoints.push(this.#growing.checkpoint(last))
    }
  }

  #rewind(): void {
    const then = this.#checkpoints.findLast(({ seq }) => seq <= this.#target)
    if (then === undefined) return
    this.#growing.restore(then)
    this.#since = 0
  }

  #restart(): void {
    this.#source = this.#present.log.envelopes
    this.#growing = this.#present.atItsBeginning()
    this.#checkpoints = [this.#growing.checkpoint(undefined)]
    this.#since = 0
  }
}

const getTime = (envelope: Envelope | undefined): number => Date.parse(envelope?.ts ?? '') || 0
