import { ConnectionError } from './errors.js'
import { after } from './timer.js'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds until waiting is given up; default 60,000; `Infinity` = never. */
  readonly timeoutMs?: number
}

/** Milliseconds. */
export const defaultTimeout = 60_000

/** Someone who waits for a value; the first settling counts. */
export interface Waiter<Value> {
  resolve(value: Value): void
  reject(error: Error): void
}

/**
 * A promise that is rejected when it is aborted or takes too long. `begin` gets its settlers; `end` is called once,
 * however it is settled.
 */
export function wait<Value>(
  what: string,
  { signal, timeoutMs = defaultTimeout }: WaitOptions,
  begin: (waiter: Waiter<Value>) => void,
  end: (waiter: Waiter<Value>) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      cancel()
      signal?.removeEventListener('abort', aborted)
      end(waiter)
    }
    const waiter: Waiter<Value> = {
      resolve: (value) => {
        finish()
        resolve(value)
      },
      reject: (error) => {
        finish()
        reject(error)
      },
    }
    const aborted = (): void =>
      waiter.reject(new ConnectionError('aborted', `aborted: ${String(signal?.reason)}`))
    const late = (): void =>
      waiter.reject(new ConnectionError('timeout', `no ${what} within ${timeoutMs} ms`))
    const cancel = after(timeoutMs, late)
    begin(waiter)
    if (signal?.aborted) aborted()
    else signal?.addEventListener('abort', aborted)
  })
}
