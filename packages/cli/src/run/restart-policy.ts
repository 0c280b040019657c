import type { ProcessProgram } from '../config/config.js'

/** How a program ended, or why it failed to start. */
export interface ProgramEnd {
  readonly failed: boolean
  /** The program would fail again in the same way, so it is not restarted automatically. */
  readonly isFinal?: boolean
  /** Whether the program failed before it was ready. */
  readonly isStart?: boolean
  readonly reason: string
  /** Advice for the user of `meup up` on how to correct the cause. */
  readonly remedy?: string
  /** The error, if it was thrown in this process. */
  readonly error?: unknown
}

export type RestartPolicy = ProcessProgram['restart']

/** Exponential backoff with 20 % jitter, so that programs that failed for one reason do not restart at the same time. */
const [firstWaitMs, maxWaitMs, randomPart] = [500, 60_000, 0.2]
/** A run of at least this many milliseconds resets the backoff. */
const settledMs = 30_000
/** A program that fails this soon after its files changed is not restarted until they change again. */
const brokenMs = 10_000
/** After this many failures within this interval a program is no longer restarted. */
export const [maxFailures, failureWindowMs] = [10, 600_000]

/** Failures of a program in the last ten minutes. */
export interface FailureCount {
  /** Number of failures, including the last one. */
  readonly count: number
  /** Milliseconds since the first of these failures. */
  readonly sinceMs: number
  /** Whether the previous failure had the same reason. */
  readonly isSame: boolean
}

/**
 * The next step after a program has ended. `ended`: its policy does not restart it; `broken`: it would fail again; `failures`:
 * it failed too often.
 */
export type Next =
  | { readonly tryMs: number; readonly rests?: never }
  | { readonly rests: 'ended' | 'broken' | 'failures'; readonly tryMs?: never }

/** A run of a program that has ended. */
interface Run {
  readonly ranMs: number
  /** Whether the run was started because files had changed. */
  readonly isChanged: boolean
  /** Current time, in ms since the epoch. */
  readonly now: number
}

/** Decides whether and when a program is tried again. */
export class RestartDecider {
  readonly #restart: RestartPolicy
  readonly #random: () => number
  #waitMs = firstWaitMs
  #failures: { readonly at: number; readonly reason: string }[] = []

  /** `random`: number from 0 to 1, such as `Math.random`. */
  constructor(restart: RestartPolicy, random: () => number) {
    this.#restart = restart
    this.#random = random
  }

  /** Forgets earlier failures, because the program's files or settings have changed. */
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
