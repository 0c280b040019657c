import { Past, type SpaceModel } from '../model/index.js'
import { hiddenPageMs, requestFrame } from './frames.js'

export const speeds = [1, 4, 16, 64] as const
/** Milliseconds of work per frame: during playback, and while the reader waits for a moment. */
const frameBudgetMs = { playing: 12, seeking: 24 }
/** Interval of progress updates. */
const progressEveryMs = 100

/** Selects the moment that is shown: now, or one in the past, paused or playing. */
export class TimeTravel {
  speed: (typeof speeds)[number] = 1
  isPlaying = false
  readonly #present: () => SpaceModel
  readonly #onChange: () => void
  #past: Past | undefined
  /** Seq of the last envelope when the reader left the present. */
  #left = 0
  #isMoving = false
  /** Time of the last progress update. */
  #notifiedAt = 0

  constructor(present: () => SpaceModel, onChange: () => void) {
    this.#present = present
    this.#onChange = onChange
  }

  get isPast(): boolean {
    return this.#past !== undefined
  }

  /** The space at the chosen moment; `undefined` in the present, and until it is computed. */
  get past(): SpaceModel | undefined {
    return this.#past?.model
  }

  /** Seq of the last envelope at the moment that is shown or being computed. */
  get seq(): number {
    return this.#past?.target ?? this.#present().log.last
  }

  /** Progress of computing the moment, from 0 to 1. */
  get progress(): number {
    return this.#past === undefined || !this.#isMoving || this.isPlaying ? 1 : this.#past.progress
  }

  /** Number of envelopes that arrived since the reader left the present. */
  get news(): number {
    const { log } = this.#present()
    return this.#past === undefined ? 0 : log.envelopes.length - log.countThrough(this.#left)
  }

  /** Goes to the moment right after this envelope. */
  toMoment(seq: number): void {
    if (this.#present().log.last === 0) return
    if (this.#past === undefined) this.#left = this.#present().log.last
    this.#past ??= new Past(this.#present())
    this.#past.seek(seq)
    this.#move()
  }

  toStart(): void {
    this.toMoment(this.#present().log.first)
  }

  /** In the present, pauses; in the past, plays or pauses. */
  togglePlay(): void {
    if (this.#past === undefined) {
      this.toMoment(this.#present().log.last)
      return
    }
    this.isPlaying = !this.isPlaying
    if (this.isPlaying) this.#move()
    this.#onChange()
  }

  setSpeed(speed: number): void {
    this.speed = speeds.find((each) => each === speed) ?? 1
    this.#onChange()
  }

  toPresent(): void {
    if (this.#past === undefined) return
    this.#past = undefined
    this.isPlaying = false
    this.#present().redrawAll()
    this.#present().live.drainAnnouncements()
    this.#onChange()
  }

  /** Recomputes the past moment after earlier envelopes were loaded. */
  refresh(): void {
    if (this.#past !== undefined) this.#move()
  }

  #move(): void {
    this.#onChange()
    if (this.#isMoving) return
    this.#isMoving = true
    this.#next(performance.now())
  }

  #next(last: number): void {
    const step = (): void => {
      const past = this.#past
      if (past === undefined) {
        this.#isMoving = false
        return
      }
      const now = performance.now()
      const [before, shown] = [past.target, past.model]
      const budgetMs = this.isPlaying ? frameBudgetMs.playing : frameBudgetMs.seeking
      const isThere = past.work(() => performance.now() - now > budgetMs)
      if (isThere && this.isPlaying) past.play((now - last) * this.speed, this.speed)
      past.model?.live.drainAnnouncements()
      this.#isMoving = this.isPlaying || !isThere
      if (this.isPlaying && isThere && past.target >= this.#present().log.last) this.toPresent()
      else if (
        !this.#isMoving ||
        past.target !== before ||
        past.model !== shown ||
        now - this.#notifiedAt > progressEveryMs
      ) {
        this.#notifiedAt = now
        this.#onChange()
      }
      if (this.#isMoving) this.#next(isThere ? now : performance.now())
    }
    requestFrame(step, hiddenPageMs)
  }
}
