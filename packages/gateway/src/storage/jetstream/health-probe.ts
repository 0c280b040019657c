import { setTimeout as delay } from 'node:timers/promises'
import { isNobodyThere } from './failure.js'

/** A gateway that leaves so many questions unanswered, one after the other, is silent; each waits so long [milliseconds]. */
const [questions, questionMs] = [4, 500]
/** Whoever cannot be reached is asked once more: it may be on its way from one server to another [milliseconds]. */
const againMs = 250
/** For so long nobody asks anew whether a silent gateway lives [milliseconds]. */
const believedMs = 2000

/** Whether other gateways live. It is asked once for all spaces, and for all who want to know. */
export class HealthProbe {
  readonly #ask: (gateway: string, timeoutMs: number) => Promise<unknown>
  readonly #asking = new Map<string, Promise<boolean>>()
  /** When each was found to be gone or silent. */
  readonly #silent = new Map<string, number>()

  constructor(ask: (gateway: string, timeoutMs: number) => Promise<unknown>) {
    this.#ask = ask
  }

  /** It has said something. */
  heard(gateway: string): void {
    this.#silent.delete(gateway)
  }

  /** Who could ask nobody for a while knows nothing of the others. */
  forget(): void {
    this.#silent.clear()
  }

  async lives(gateway: string): Promise<boolean> {
    const since = this.#silent.get(gateway)
    if (since !== undefined && performance.now() - since < believedMs) return false
    const asking = this.#asking.get(gateway) ?? this.#find(gateway)
    this.#asking.set(gateway, asking)
    return asking
  }

  async #find(gateway: string): Promise<boolean> {
    const lives = await this.#answers(gateway)
    this.#asking.delete(gateway)
    const now = performance.now()
    for (const [other, since] of this.#silent) if (now - since >= believedMs) this.#silent.delete(other)
    if (lives) this.#silent.delete(gateway)
    else this.#silent.set(gateway, now)
    return lives
  }

  async #answers(gateway: string): Promise<boolean> {
    let wasAway = false
    for (let i = 0; i < questions; i++) {
      try {
        await this.#ask(gateway, questionMs)
        return true
      } catch (error) {
        if (!isNobodyThere(error)) continue
        if (wasAway) return false
        wasAway = true
        await delay(againMs)
      }
    }
    return false
  }
}
