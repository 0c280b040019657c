import type { Clock } from '../../model/options.js'

interface StallListener {
  /** Called once per silence, after half of the limit; `ms` = that half. */
  onQuiet(ms: number): void
  onStall(): void
}

/** Detects that a model has stopped sending. */
export class StallWatch {
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #listener: StallListener
  #lastWord: number
  #isQuiet = false
  #cancel: () => void
  isStalled = false

  constructor(clock: Clock, stallMs: number, listener: StallListener) {
    this.#clock = clock
    this.#stallMs = stallMs
    this.#listener = listener
    this.#lastWord = clock.now()
    this.#cancel = clock.after(stallMs / 2, () => this.#look())
  }

  onWord(): void {
    this.#lastWord = this.#clock.now()
    this.#isQuiet = false
  }

  stop(): void {
    this.#cancel()
  }

  /** Checks the silence, and starts the next timer here, so that no timer is needed per part of the stream. */
  #look(): void {
    const silentMs = this.#clock.now() - this.#lastWord
    if (silentMs >= this.#stallMs) {
      this.isStalled = true
      this.#listener.onStall()
      return
    }
    if (silentMs >= this.#stallMs / 2 && !this.#isQuiet) {
      this.#isQuiet = true
      this.#listener.onQuiet(this.#stallMs / 2)
    }
    const nextMs = this.#isQuiet ? this.#stallMs : this.#stallMs / 2
    this.#cancel = this.#clock.after(Math.max(1, nextMs - silentMs), () => this.#look())
  }
}
