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

/** A program that runs, or a tool server that answers. */
export interface Running {
  readonly ended: Promise<ProgramEnd>
  /** `graceMs`: how long it may take to end before it is killed. */
  close(graceMs?: number): Promise<void>
}

/** Why a program is started: for the first time, again by its policy, or because something has changed. */
type StartCause = 'start' | 'failure' | 'files' | 'request' | 'kick_over'

/** Events of a program. */
export type ProgramEvent =
  | { readonly type: 'starting'; readonly cause: StartCause }
  /** The process runs, or the tool server answers; its participant may not have joined yet. */
  | { readonly type: 'started' }
  | { readonly type: 'joined'; readonly waitedMs: number }
  | { readonly type: 'late'; readonly waitedMs: number }
  | {
      readonly type: 'ended'
      readonly ending: ProgramEnd
      /** Counts of a program that failed. */
      readonly failures?: FailureCount
      readonly next: Next
    }
  /** It has ended and is not started before the kick ends. */
  | { readonly type: 'kicked'; readonly kick: Kick }
  /** It is no longer configured. */
  | { readonly type: 'removed' }
  /** It could not be stopped. */
  | { readonly type: 'stop_failed'; readonly error: unknown }

/**
 * `starting` → `running` when its participant has joined → `failed` until it is tried again → `restarting` → …, or `resting`
 * until it is started by hand.
 */
type ProgramState = ProgramInfo['state']

export interface ProgramStatus {
  readonly state: ProgramState
  /** Since when, and when it is tried again, in milliseconds since the epoch. */
  readonly since: number
  readonly nextTryAt?: number
  /** Failures in the last ten minutes, and the reason of the last one. */
  readonly count: number
  readonly lastError?: string
}

export interface KeepOptions {
  readonly restart: RestartPolicy
  /** After how many milliseconds a program that has not joined is late. */
  readonly lateMs: number
  /** Rejects when the signal is aborted. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  readonly isPresent: () => boolean
  readonly findKick: () => Kick | undefined
  readonly onEvent: (event: ProgramEvent, status: ProgramStatus) => void
  readonly clock: Clock
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number
}

export interface Keeper {
  readonly status: ProgramStatus
  /** Ends it if it runs, and starts it at once. */
  restart(cause: 'files' | 'request'): void
  close(): Promise<void>
}

/** Grace period of a program that is restarted, in milliseconds. */
const graceMs = 5000
/** Milliseconds between looks at who has joined: at first, and of a program that is late. */
const [lookMs, lateLookMs] = [50, 500]
/** Milliseconds between looks whether a kick has ended. */
const kickLookMs = 1000

/**
 * Keeps a program running: starts it at once, and again by its restart policy or on request, until it is closed. No failure of the
 * program is thrown; all are events.
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
  /** Whether it was reported as late since it joined last. */
  #isLate = false
  status: ProgramStatus

  constructor(options: KeepOptions) {
    this.#options = options
    this.#decider = new RestartDecider(options.restart, options.random)
    this.status = { state: 'starting', since: options.clock.now(), count: 0 }
  }

  wake(cause: StartCause): void {
    // Saving its files gives a kicked participant no access.
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
      // A program that was ended for a restart has not failed.
      if (!this.#waking.signal.aborted) await this.#onEnded(ended, cause)
      cause = this.#takeCause()
    }
  }

  /** Why it is started again now: what has changed, or its policy. */
  #takeCause(): StartCause {
    const { aborted, reason } = this.#waking.signal
    if (!aborted) return 'failure'
    this.#waking = new AbortController()
    this.#isLate = false
    this.#decider.reset()
    this.status = { ...this.status, count: 0 }
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
        this.#close(running) // Nothing is known of it any more.
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
    const onClosing = (): void => void (this.#waking.signal.aborted && end()) // Not after the grace of a restart.
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

  /** Reports when its participant has joined, and once when that takes long. Returns a function that stops it. */
  #lookForJoin(signal: AbortSignal): () => void {
    const { clock, isPresent, lateMs } = this.#options
    const began = clock.now()
    let wasAway = !isPresent() // The gateway may not have noticed yet that its last connection is closed.
    const look = (): void => {
      if (signal.aborted) return // It is being ended.
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

  /** Decides what follows, and waits until it is started again. */
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

  /** Waits until it is woken or closed, at most for `ms`. */
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

  /** `details`: of a program that has ended; otherwise the count and the last error stay. */
  #change(event: ProgramEvent, state: ProgramState, details?: Partial<ProgramStatus>): void {
    const { count, lastError } = this.status
    const kept = { count, ...omitUndefined({ lastError }) }
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

/** A program did not start, with what to do about it. */
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
