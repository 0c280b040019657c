import type { Clock, Kick } from '@meup/gateway'
import type { ProgramInfo } from '@meup/protocol'
import { getErrorMessage, omitUndefined } from '@meup/protocol'
import {
  type FailureCount,
  type Next,
  type ProgramEnd,
  RestartDecider,
  type RestartPolicy,
} from './restart-policy.js'

/** A running process, or a connected tool server. */
export interface Running {
  readonly ended: Promise<ProgramEnd>
  /** `graceMs`: milliseconds for the program to exit before it is killed. */
  close(graceMs?: number): Promise<void>
}

/** Cause of a start: the first one, the restart policy, changed files, a request, or the end of a kick. */
type StartCause = 'start' | 'failure' | 'files' | 'request' | 'kick_over'

/** Events in the life of a program. */
export type ProgramEvent =
  | { readonly type: 'starting'; readonly cause: StartCause }
  /** The process runs, or the tool server responds; its participant may not have joined yet. */
  | { readonly type: 'started' }
  | { readonly type: 'joined'; readonly waitedMs: number }
  | { readonly type: 'late'; readonly waitedMs: number }
  | {
      readonly type: 'ended'
      readonly ending: ProgramEnd
      /** Absent if the program has not failed. */
      readonly failures?: FailureCount
      readonly next: Next
    }
  /** The program has ended, and is not started until the kick ends. */
  | { readonly type: 'kicked'; readonly kick: Kick }
  /** The program is no longer configured. */
  | { readonly type: 'removed' }
  /** The program could not be stopped. */
  | { readonly type: 'stop_failed'; readonly error: unknown }

/**
 * `starting` → `running` once its participant has joined → `failed` until the next try → `restarting` → …, or `resting` until
 * it is restarted by hand.
 */
type ProgramState = ProgramInfo['state']

export interface ProgramStatus {
  readonly state: ProgramState
  /** Start of this state, in ms since the epoch; `nextTryAt`: time of the next try. */
  readonly since: number
  readonly nextTryAt?: number
  /** Number of failures in the last ten minutes; `lastError`: reason of the last one, until the program has joined again. */
  readonly count: number
  readonly lastError?: string
}

export interface KeepOptions {
  readonly restart: RestartPolicy
  /** Milliseconds after which a program that has not joined is late. */
  readonly lateMs: number
  /** Starts the program. Must reject when the signal is aborted. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  readonly isPresent: () => boolean
  readonly findKick: () => Kick | undefined
  readonly onEvent: (event: ProgramEvent, status: ProgramStatus) => void
  readonly clock: Clock
  /** Random number from 0 to 1, such as `Math.random`. */
  readonly random: () => number
}

export interface Keeper {
  readonly status: ProgramStatus
  /** Ends the program if it runs, and starts it immediately. */
  restart(cause: 'files' | 'request'): void
  close(): Promise<void>
}

/** Time for a program to exit on a restart before it is killed. */
const graceMs = 5000
/** Poll intervals for the program's participant to join: until the program is late, and after that. */
const [lookMs, lateLookMs] = [50, 500]
/** Poll interval for the end of a kick. */
const kickLookMs = 1000

/**
 * Starts a program, and restarts it by its policy or on request, until the keeper is closed. Failures are reported as events,
 * never thrown.
 */
export function keepRunning(options: KeepOptions): Keeper {
  const program = new KeptProgram(options)
  const running = program.run()
  return {
    get status() {
      return program.status
    },
    restart: (cause) => program.wake(cause),
    async close() {
      program.stop()
      await running
    },
  }
}

class KeptProgram {
  readonly #options: KeepOptions
  readonly #decider: RestartDecider
  readonly #closing = new AbortController()
  #waking = new AbortController()
  /** Whether `late` was reported since the participant last joined. */
  #isLate = false
  status: ProgramStatus

  constructor(options: KeepOptions) {
    this.#options = options
    this.#decider = new RestartDecider(options.restart, options.random)
    this.status = { state: 'starting', since: options.clock.now(), count: 0 }
  }

  wake(cause: StartCause): void {
    // A kicked participant must not return because its files were saved.
    if (cause === 'files' && this.#options.findKick() !== undefined) return
    this.#waking.abort(cause)
  }

  stop(): void {
    this.#closing.abort()
  }

  async run(): Promise<void> {
    let cause: StartCause = 'start'
    while (!this.#closing.signal.aborted) {
      const ended = await this.#runOnce(cause)
      if (this.#closing.signal.aborted) return
      // A program stopped for a restart has not failed.
      if (!this.#waking.signal.aborted) await this.#onEnded(ended, cause)
      cause = this.#takeCause()
    }
  }

  /** Cause of the next start: the request that interrupted the wait for it, otherwise the restart policy. */
  #takeCause(): StartCause {
    const { aborted, reason } = this.#waking.signal
    if (!aborted) return 'failure'
    this.#waking = new AbortController()
    this.#isLate = false
    this.#decider.reset()
    const { lastError: _, ...status } = this.status
    this.status = { ...status, count: 0 }
    return reason
  }

  async #runOnce(cause: StartCause): Promise<{ readonly ending: ProgramEnd; readonly ranMs: number }> {
    const { clock, start } = this.#options
    const signal = AbortSignal.any([this.#closing.signal, this.#waking.signal])
    this.#change({ type: 'starting', cause }, cause === 'start' ? 'starting' : 'restarting')
    const stopLooking = this.#lookForJoin(signal)
    try {
      const running = await start(signal)
      const startedAt = clock.now()
      this.#notify({ type: 'started' })
      const ending = await this.#waitForEnd(running, signal).catch((error: unknown) => {
        this.#close(running) // The state of the program is unknown now.
        return toEnding(error)
      })
      return { ending, ranMs: clock.now() - startedAt }
    } catch (error) {
      return { ending: { ...toEnding(error), isStart: true }, ranMs: 0 }
    } finally {
      stopLooking()
    }
  }

  #close(running: Running): void {
    const grace = this.#closing.signal.aborted ? undefined : graceMs
    running.close(grace).catch((error: unknown) => this.#notify({ type: 'stop_failed', error }))
  }

  async #waitForEnd(running: Running, signal: AbortSignal): Promise<ProgramEnd> {
    const end = (): void => this.#close(running)
    const onClosing = (): void => void (this.#waking.signal.aborted && end()) // Closing kills a program without the grace period of a restart.
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    this.#closing.signal.addEventListener('abort', onClosing, { once: true })
    try {
      return await running.ended
    } finally {
      signal.removeEventListener('abort', end)
      this.#closing.signal.removeEventListener('abort', onClosing)
    }
  }

  /** Reports when the participant joins, and once if it is late. Returns a function that stops polling. */
  #lookForJoin(signal: AbortSignal): () => void {
    const { clock, isPresent, lateMs } = this.#options
    const began = clock.now()
    let wasAway = !isPresent() // A participant still present may be the previous run, whose connection the gateway has not closed yet.
    const look = (): void => {
      if (signal.aborted) return // The program is being stopped.
      const waitedMs = clock.now() - began
      const isThere = isPresent()
      wasAway ||= !isThere
      if (isThere && (wasAway || waitedMs >= lateMs)) {
        this.#isLate = false
        this.#change({ type: 'joined', waitedMs }, 'running')
        return
      }
      const isLate = waitedMs >= lateMs
      if (isLate && !this.#isLate) {
        this.#isLate = true
        this.#notify({ type: 'late', waitedMs })
      }
      cancel = clock.after(isLate ? lateLookMs : Math.min(lookMs, lateMs), look)
    }
    let cancel = clock.after(Math.min(lookMs, lateMs), look)
    return () => cancel()
  }

  /** Chooses the next step, and waits until the next start. */
  async #onEnded(
    { ending, ranMs }: { readonly ending: ProgramEnd; readonly ranMs: number },
    cause: StartCause,
  ): Promise<void> {
    const { clock, findKick } = this.#options
    const kick = findKick()
    if (kick !== undefined) {
      this.#change({ type: 'kicked', kick }, 'resting')
      return this.#waitForKickEnd()
    }
    const now = clock.now()
    const { next, failures } = this.#decider.decide(ending, { ranMs, isChanged: cause === 'files', now })
    const state = next.rests !== undefined ? 'resting' : ending.failed ? 'failed' : 'restarting'
    this.#change({ type: 'ended', ending, next, ...(failures && { failures }) }, state, {
      count: failures?.count ?? 0,
      ...(ending.failed && { lastError: ending.reason }),
      ...(next.tryMs !== undefined && { nextTryAt: now + next.tryMs }),
    })
    await this.#pause(next.tryMs)
  }

  async #waitForKickEnd(): Promise<void> {
    while (!this.#closing.signal.aborted && !this.#waking.signal.aborted) {
      await this.#pause(kickLookMs)
      if (this.#options.findKick() === undefined) this.wake('kick_over')
    }
  }

  /** Waits until woken or closed, at most `ms`. */
  #pause(ms: number | undefined): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.#waking.signal])
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const cancel = ms === undefined ? () => {} : this.#options.clock.after(ms, resolve)
      signal.addEventListener(
        'abort',
        () => {
          cancel()
          resolve()
        },
        { once: true },
      )
    })
  }

  /**
   * Changes the state, and reports the event. `details`: only for a program that has ended; otherwise count and last error
   * stay.
   */
  #change(event: ProgramEvent, state: ProgramState, details?: Partial<ProgramStatus>): void {
    const { count, lastError } = this.status
    const kept = { count, ...(event.type !== 'joined' && omitUndefined({ lastError })) }
    this.status = { ...kept, ...details, state, since: this.#options.clock.now() }
    this.#notify(event)
  }

  #notify(event: ProgramEvent): void {
    this.#options.onEvent(event, this.status)
  }
}

const toEnding = (error: unknown): ProgramEnd => ({
  failed: true,
  error,
  reason: getErrorMessage(error),
  ...(error instanceof StartError && { remedy: error.remedy }),
})

/** A program failed to start; `remedy` says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
  constructor(
    message: string,
    readonly remedy: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
