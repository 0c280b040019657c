import { abortedError, timeoutError } from './errors.js'
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
 * `end`: called when it is settled.
 */
export function wait<Value>(
  what: string,
  { signal, timeoutMs = defaultTimeoutMs }: WaitOptions,
  begin: (waiter: TimedWaiter<Value>) => void,
  end: (waiter: TimedWaiter<Value>) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      cancel()
      endListening()
      end(waiter)
    }
    const waiter: TimedWaiter<Value> = {
      allowMore(ms) {
        if (performance.now() + timeoutMs + ms <= until) return
        cancel()
        until = performance.now() + timeoutMs + ms
        cancel = setLongTimeout(timeoutMs + ms, late)
      },
      resolve: (value) => {
        finish()
        resolve(value)
      },
      reject: (error) => {
        finish()
        reject(error)
      },
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

/** The maximum delay of `setTimeout` in ms; with a longer one it fires immediately. */
const maxTimerMs = 2 ** 31 - 1

/** `setTimeout` without its limit of 24 days; `Infinity` never fires. Returns a function that cancels it. */
export function setLongTimeout(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (left: number): void => {
    if (left === Number.POSITIVE_INFINITY) return
    const part = Math.min(Math.max(left, 0), maxTimerMs)
    timer = setTimeout(() => (part < left ? arm(left - part) : callback()), part)
  }
  arm(ms)
  return () => clearTimeout(timer)
}

interface Closing {
  readonly ended: { readonly error: Error | undefined } | undefined
  on(event: 'closed', listener: (error: Error | undefined) => void): unknown
  off(event: 'closed', listener: (error: Error | undefined) => void): unknown
}

/**
 * Iterates over pushed values, and queues them in between. Ends when the source is closed; throws if an error closed it. Stops
 * listening when the loop is left.
 */
export function streamEvents<Value>(source: Closing, listen: (push: (value: Value) => void) => () => void) {
  const values: Value[] = []
  let wake: (() => void) | undefined
  let over = source.ended
  const closed = (error: Error | undefined): void => {
    over = { error }
    wake?.()
  }
  const stop = listen((value) => {
    values.push(value)
    wake?.()
  })
  source.on('closed', closed)

  async function* iterate(): AsyncGenerator<Value, void> {
    try {
      for (;;) {
        while (values.length > 0) yield values.shift() as Value
        if (over?.error !== undefined) throw over.error
        if (over !== undefined) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      stop()
      source.off('closed', closed)
    }
  }
  return iterate()
}
