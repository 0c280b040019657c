import type { OperatorLog } from '../lib/logger.js'

/** How a program ended. */
interface Ending {
  readonly failed: boolean
  /** It would fail again in the same way. */
  readonly isFinal?: boolean
  readonly reason: string
}

/** A running program. */
export interface Running {
  readonly ended: Promise<Ending>
  /** `graceMs`: how long it may take to end before it is killed. */
  close(graceMs?: number): Promise<void>
}

export interface KeepOptions {
  readonly name: string
  readonly restart: 'never' | 'on-failure' | 'always'
  /** Whether it restarts when its files change. */
  readonly isWatched: () => boolean
  /** Rejects when the signal is aborted. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  readonly log: OperatorLog
}

export interface Keeper {
  /** Rejects if the first start fails. */
  readonly started: Promise<void>
  /** Whether it has ended and waits for `restart`. */
  readonly isWaiting: boolean
  /** Ends it if it runs, and starts it at once. */
  restart(): void
  close(): Promise<void>
}

/** Milliseconds. The wait doubles with each early failure, and is reset after a run of `settled`. */
const [firstWaitMs, maxWaitMs, settled] = [500, 30_000, 10_000]
/** Grace period of a program that is restarted. */
const graceMs = 5000

/**
 * Keeps a program running by its restart policy, and restarts it on request. A program that fails soon after a requested restart
 * waits for the next request, because its files are still broken.
 */
export function keepRunning({ name, restart, isWatched, start, log }: KeepOptions): Keeper {
  const stop = new AbortController()
  let change = new AbortController()
  let running: Running | undefined
  let isWaiting = false

  async function run(changed: AbortSignal): Promise<Ending> {
    running = await start(stop.signal)
    return waitForEnd(running, changed)
  }

  function waitForEnd(present: Running, changed: AbortSignal): Promise<Ending> {
    const end = (): void => {
      present.close(stop.signal.aborted ? undefined : graceMs).catch((err: unknown) => {
        log.error({ participant: name, err }, `${name} could not be stopped`)
      })
    }
    const signal = AbortSignal.any([stop.signal, changed])
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    return present.ended.finally(() => signal.removeEventListener('abort', end))
  }

  async function loop(first: Promise<Ending>): Promise<void> {
    let wait = firstWaitMs
    let isChanged = false
    let attempt = first
    while (true) {
      const began = Date.now()
      const { failed, isFinal = false, reason } = await attempt.catch(failedToStart)
      if (stop.signal.aborted) return
      if (!change.signal.aborted) {
        const ranFor = Date.now() - began
        if (ranFor > settled) wait = firstWaitMs
        const isBroken = isFinal || (isChanged && failed && ranFor <= settled)
        const again = !isBroken && (restart === 'always' || (restart === 'on-failure' && failed))
        const fields = { participant: name, reason, again }
        const next = again ? '; restarting' : isWatched() ? '; restarting when its files change' : ''
        log[failed ? 'error' : 'notice'](fields, `${name} ended: ${reason}${next}`)
        if (!again && !isWatched()) return
        const either = AbortSignal.any([stop.signal, change.signal])
        isWaiting = !again
        await pause(again ? wait : undefined, either)
        isWaiting = false
        if (stop.signal.aborted) return
        wait = Math.min(maxWaitMs, wait * 2)
        isChanged &&= ranFor <= settled
      }
      if (change.signal.aborted) {
        isChanged = true
        wait = firstWaitMs
        change = new AbortController()
      }
      attempt = run(change.signal)
    }
  }

  let looping: Promise<void> = Promise.resolve()
  const started = (async () => {
    running = await start(stop.signal)
    looping = loop(waitForEnd(running, change.signal))
  })()
  return {
    started,
    get isWaiting() {
      return isWaiting
    },
    restart: () => change.abort(),
    async close() {
      stop.abort()
      await started.catch(() => {}) // The caller gets the rejection.
      await running?.close()
      await looping
    },
  }
}

const failedToStart = (error: unknown): Ending => ({
  failed: true,
  reason: error instanceof Error ? error.message : String(error),
})

/** Waits until aborted if `ms` is `undefined`. */
function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
