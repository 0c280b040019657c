import { abortedError, ConnectionError } from './errors.js'
import { onAbort } from './on-abort.js'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds to wait; default 60,000; `Infinity` = no limit. */
  readonly timeoutMs?: number
}

export const defaultTimeoutMs = 60_000

/** The settlers of a promise; only the first call counts. */
export interface Waiter<Value> {
  resolve(value: Value): void
  reject(error: Error): void
}

export interface TimedWaiter<Value> extends Waiter<Value> {
  /** Extends the wait to this many ms from now beyond `timeoutMs`, unless it already is longer. */
  allowMore(ms: number): void
}

/** A promise that is rejected when it is aborted or takes too long. `begin` gets its settlers; `end` is called once it is settled. */
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
    const aborted = (): void => waiter.reject(abortedError({ reason: signal?.reason }))
    const late = (): void =>
      waiter.reject(
        new ConnectionError('timeout', `no ${what} within ${timeoutMs} ms`, { details: { timeoutMs } }),
      )
    let cancel = setLongTimeout(timeoutMs, late)
    let until = performance.now() + timeoutMs
    const endListening = onAbort(signal, aborted)
    begin(waiter)
    if (signal?.aborted) aborted()
  })
}

/** The longest delay of `setTimeout`; a longer one fires immediately. */
const maxTimerMs = 2 ** 31 - 1

/** `setTimeout` without its limit of 24 days; `Infinity` never fires. Returns the function that cancels it. */
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
 * An iterator over pushed values that loses none. Ends when its source closes, throws if an error closed it, and stops
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
