import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of work before others get their turn, and the longest pause. */
const [sliceMs, maxRestMs] = [5, 100]

/**
 * Keeps the work on what one program writes to half of the time of this thread, in short slices: a program that writes as fast
 * as it can is read more slowly, and others do not notice it.
 */
export class Pacer {
  #workedMs = 0
  #began = performance.now()

  /** There is something to work on. */
  start(): void {
    this.#began = performance.now()
  }

  /** It waits for more: that is no work. */
  stop(): void {
    this.#workedMs += performance.now() - this.#began
  }

  /** A pause, if one is due. */
  rest(): Promise<void> | undefined {
    const workedMs = this.#workedMs + performance.now() - this.#began
    return workedMs < sliceMs ? undefined : this.#pause(workedMs)
  }

  async #pause(ms: number): Promise<void> {
    await sleep(Math.min(ms, maxRestMs))
    this.#workedMs = 0
    this.start()
  }
}
