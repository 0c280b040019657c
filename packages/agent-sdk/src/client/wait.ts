import { abortedError, timeoutError } from './errors.js'
import { setLongTimeout } from './long-timeout.js'
import { onAbort } from './on-abort.js'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds to wait; default 60,000; `Infinity` = no limit. */
  readonly timeoutMs?: number
}

export const defaultTimeoutMs = 60_000

/** Resolves or rejects a promise; only the first call has an effect. */
export interface Waiter<Value> {
  resolve(value: Value): void
  reject(error: Error): void
}

export interface TimedWaiter<Value> extends Waiter<Value> {
  /** Extends the deadline to `timeoutMs` plus this many ms from now, unless it is already later. */
  allowMore(ms: number): void
}

/**
 * Creates a promise that rejects when the signal is aborted or the time is over. `begin`: gets the functions that settle it.
 * `end`: called once, when it is settled.
 */
export function wait<Value>(
  what: string,
  { signal, timeoutMs = defaultTimeoutMs }: WaitOptions,
  begin: (waiter: TimedWaiter<Value>) => void,
  end: (waiter: TimedWaiter<Value>) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let isSettled = false
    const settle = (carryOut: () => void): void => {
      if (isSettled) return
      isSettled = true
      cancel()
      endListening()
      end(waiter)
      carryOut()
    }
    const waiter: TimedWaiter<Value> = {
      allowMore(ms) {
        if (isSettled) return
        if (performance.now() + timeoutMs + ms <= until) return
        cancel()
        until = performance.now() + timeoutMs + ms
        cancel = setLongTimeout(timeoutMs + ms, late)
      },
      resolve: (value) => settle(() => resolve(value)),
      reject: (error) => settle(() => reject(error)),
    }
    const aborted = (): void => waiter.reject(abortedError(signal))
    const late = (): void => waiter.reject(timeoutError(what, timeoutMs))
    let cancel = setLongTimeout(timeoutMs, late)
    let until = performance.now() + timeoutMs
    const endListening = onAbort(signal, aborted)
    begin(waiter)
    if (signal?.aborted) aborted()
  })
}
