import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of work until a pause, and the maximum milliseconds of a pause. */
const [sliceMs, maxRestMs] = [5, 100]

/**
 * Limits the work on one program's output to half of this thread's time, in short slices: a program that writes as fast as it
 * can is read more slowly, and does not delay other work.
 */
export class Pacer {
  #workedMs = 0
  #began = performance.now()

  /** Call when work begins. */
  start(): void {
    this.#began = performance.now()
  }

  /** Call when work is interrupted to wait for input. */
  stop(): void {
    this.#workedMs += performance.now() - this.#began
  }

  /** Starts a pause if it is due; `undefined` = not yet. */
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
