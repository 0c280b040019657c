import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of work before a pause, and the longest pause. */
const [sliceMs, maxRestMs] = [5, 100]

/**
 * Limits the work on one program's output to half of this thread's time, in short slices: a program that writes as fast as it
 * can is read more slowly, without delaying others.
 */
export class Pacer {
  #workedMs = 0
  #began = performance.now()

  /** Work starts. */
  start(): void {
    this.#began = performance.now()
  }

  /** Work stops to wait for input. */
  stop(): void {
    this.#workedMs += performance.now() - this.#began
  }

  /** The pause, if one is due. */
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
