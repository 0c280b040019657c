import { correlations, type Envelope } from '@meup/protocol'
import { Bounded } from '../bounded.js'

export type AwaitedSnapshot = readonly (readonly [key: string, runs: readonly string[]])[]

/** Runs about the same thing past this many are not told apart. */
const most = 100

/** Runs that an answer is awaited of: by their owner, to what they answer or to themselves [MEUP-2.10]. */
export class Awaited {
  readonly #runs = new Bounded<readonly string[]>(20_000)

  /** `start` opens a run. */
  begin(start: Envelope): void {
    for (const cause of [start.id, ...correlations(start)]) {
      const key = keyOf(start.from, cause)
      this.#runs.set(key, [...(this.#runs.get(key) ?? []), start.id].slice(-most))
    }
  }

  /** The runs that this chat is the answer of. */
  answeredBy(chat: Envelope): readonly string[] {
    const keys = correlations(chat).map((cause) => keyOf(chat.from, cause))
    const runs = keys.flatMap((key) => this.#runs.get(key) ?? [])
    for (const key of keys) this.#runs.delete(key)
    return runs
  }

  snapshot(): AwaitedSnapshot {
    return this.#runs.snapshot()
  }

  restore(snapshot: AwaitedSnapshot): void {
    this.#runs.restore(snapshot)
  }
}

const keyOf = (owner: string, cause: string): string => `${owner} ${cause}`
