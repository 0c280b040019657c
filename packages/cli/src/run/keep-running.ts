import type { Logger } from '@meup/gateway'

/** Something that runs until it ends by itself or is closed. */
export interface Running {
  /** Why it ended; `failed` = not as it should. */
  readonly ended: Promise<{ failed: boolean; reason: string }>
  close(): Promise<void>
}

export interface KeepOptions {
  readonly name: string
  readonly restart: 'never' | 'on-failure' | 'always'
  /** Gives up, and rejects, when the signal is aborted. */
  readonly start: (signal: AbortSignal) => Promise<Running>
  readonly logger: Logger
}

/** Milliseconds; the wait doubles while it keeps failing soon, and starts anew after it ran for `settled`. */
const [firstWait, longestWait, settled] = [500, 30_000, 10_000]

/** Keeps a program running as its restart policy says. `started` rejects when it cannot be started at all. */
export function keepRunning({ name, restart, start, logger }: KeepOptions): {
  started: Promise<void>
  close(): Promise<void>
} {
  const stop = new AbortController()
  let running: Running | undefined

  async function run(): Promise<{ failed: boolean; reason: string }> {
    running = await start(stop.signal)
    if (stop.signal.aborted) await running.close()
    return await running.ended
  }

  async function loop(first: Promise<{ failed: boolean; reason: string }>): Promise<void> {
    let wait = firstWait
    let attempt = first
    while (!stop.signal.aborted) {
      const began = Date.now()
      const { failed, reason } = await attempt.catch((error: unknown) => ({
        failed: true,
        reason: String(error),
      }))
      if (stop.signal.aborted) return
      const again = restart === 'always' || (restart === 'on-failure' && failed)
      logger[failed ? 'error' : 'info']({ participant: name, reason, again }, `${name} ended: ${reason}`)
      if (!again) return
      if (Date.now() - began > settled) wait = firstWait
      await pause(wait, stop.signal)
      if (stop.signal.aborted) return
      wait = Math.min(longestWait, wait * 2)
      attempt = run()
    }
  }

  let looping: Promise<void> = Promise.resolve()
  const started = (async () => {
    running = await start(stop.signal)
    looping = loop(running.ended)
  })()
  return {
    started,
    async close() {
      stop.abort()
      await started.catch(() => {}) // Whoever started it has been told.
      await running?.close()
      await looping
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
