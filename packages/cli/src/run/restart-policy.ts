import type { ProcessProgram } from '../config/config.js'

/** How a program ended, or why it did not start. */
export interface ProgramEnd {
  readonly failed: boolean
  /** It would fail again in the same way: it is not tried again by itself. */
  readonly isFinal?: boolean
  /** Whether it ended before it was ready. */
  readonly isStart?: boolean
  readonly reason: string
  /** Advice. */
  readonly remedy?: string
  /** The cause, if it is an error of this process. */
  readonly error?: unknown
}

export type RestartPolicy = ProcessProgram['restart']

/** The wait doubles with each try and varies randomly by a fifth, so that programs with one cause do not all return at once. */
const [firstWaitMs, maxWaitMs, randomPart] = [500, 60_000, 0.2]
/** A run of at least this many milliseconds resets the wait. */
const settledMs = 30_000
/** A program that fails so soon after its files changed is broken until they change again. */
const brokenMs = 10_000
/** A program rests after this many failures within this many milliseconds. */
export const [maxFailures, failureWindowMs] = [10, 600_000]

/** How often a program failed in the last ten minutes. */
export interface FailureCount {
  /** Including the last one. */
  readonly count: number
  /** Milliseconds since the first of them. */
  readonly sinceMs: number
  /** Whether the failure before had the same reason. */
  readonly isSame: boolean
}

/** The next step after a program has ended. `ended`: its `restart` does not ask for more; `broken`: trying again cannot help. */
export type Next =
  | { readonly tryMs: number; readonly rests?: never }
  | { readonly rests: 'ended' | 'broken' | 'failures'; readonly tryMs?: never }

/** Facts about a run that has ended. */
interface Run {
  readonly ranMs: number
  /** Whether it was started because its files had changed. */
  readonly isChanged: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Decides whether and when a program is tried again. */
export class RestartDecider {
  readonly #restart: RestartPolicy
  readonly #random: () => number
  #waitMs = firstWaitMs
  #failures: { readonly at: number; readonly reason: string }[] = []

  /** `random`: from 0 to 1, as `Math.random`. */
  constructor(restart: RestartPolicy, random: () => number) {
    this.#restart = restart
    this.#random = random
  }

  /** Forgets earlier failures, because something has changed. */
  reset(): void {
    this.#waitMs = firstWaitMs
    this.#failures = []
  }

  decide(ending: ProgramEnd, run: Run): { readonly next: Next; readonly failures?: FailureCount } {
    if (run.ranMs >= settledMs) this.#waitMs = firstWaitMs
    const failures = ending.failed ? this.#count(ending.reason, run.now) : undefined
    return { next: this.#choose(ending, run, failures?.count ?? 0), ...(failures && { failures }) }
  }

  #choose({ failed, isFinal = false }: ProgramEnd, { ranMs, isChanged }: Run, count: number): Next {
    if (isFinal || (failed && isChanged && ranMs <= brokenMs)) return { rests: 'broken' }
    const isWanted = this.#restart === 'always' || (this.#restart === 'on-failure' && failed)
    if (!isWanted) return { rests: 'ended' }
    if (count >= maxFailures) return { rests: 'failures' }
    const tryMs = Math.round(this.#waitMs * (1 - randomPart * this.#random()))
    this.#waitMs = Math.min(maxWaitMs, this.#waitMs * 2)
    return { tryMs }
  }

  #count(reason: string, now: number): FailureCount {
    const isSame = this.#failures.at(-1)?.reason === reason
    this.#failures = [...this.#failures.filter(({ at }) => now - at < failureWindowMs), { at: now, reason }]
    const first = this.#failures[0]?.at ?? now
    return { count: this.#failures.length, sinceMs: now - first, isSame: isSame && this.#failures.length > 1 }
  }
}
