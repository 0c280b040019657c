import { type Transferable, Worker } from 'node:worker_threads'
import { LogError, logTexts } from '../../log/error.js'
import type { Callable, Reply } from './calls.js'
import { asLogError } from './sqlite-error.js'

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: LogError) => void
}

/**
 * The main thread's end of a worker that answers calls in order. Once the worker has failed, pending and later calls are
 * rejected with the reason.
 */
export class Channel<Calls extends Callable> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  /** Pending calls by `callAside`, during which the worker counts as idle. */
  #aside = 0
  #failure: LogError | undefined
  #isStarting = true

  private constructor(script: URL, options: object) {
    this.#worker = new Worker(script, { workerData: options })
    this.#worker.on('message', (replies: readonly Reply[]) => {
      for (const reply of replies) this.#settle(reply)
    })
    this.#worker.on('error', (error) => this.#fail(arrived(error)))
    this.#worker.on('exit', () => this.#fail(new LogError('io', logTexts.endedThread, {})))
  }

  /** Resolves once the worker has started; rejects if it could not. */
  static async open<Calls extends Callable>(script: URL, options: object): Promise<Channel<Calls>> {
    const channel = new Channel<Calls>(script, options)
    await channel.#started()
    return channel
  }

  /** Like `open` without waiting: calls are answered once the worker has started, or rejected if it could not. */
  static start<Calls extends Callable>(script: URL, options: object): Channel<Calls> {
    const channel = new Channel<Calls>(script, options)
    channel.#started().catch(() => {}) // Pending calls are rejected with the error.
    return channel
  }

  async #started(): Promise<void> {
    try {
      await this.#answerTo(0)
    } catch (error) {
      this.#fail(asLogError(error))
      await this.#worker.terminate()
      throw error
    } finally {
      this.#isStarting = false
    }
  }

  /** Whether a call has to wait for the worker to start. */
  get isStarting(): boolean {
    return this.#isStarting
  }

  /** Calls a function of the worker. Transfers the buffers of `handOver` to the worker instead of copying them. */
  call<Name extends keyof Calls>(
    name: Name,
    args: Parameters<Calls[Name]>,
    handOver: Transferable[] = [],
  ): Promise<ReturnType<Calls[Name]>> {
    return this.#send(name, args, handOver) as Promise<ReturnType<Calls[Name]>>
  }

  /** Like `call`, for a call that does not affect other calls: during it, the worker counts as idle. */
  async callAside<Name extends keyof Calls>(
    name: Name,
    args: Parameters<Calls[Name]>,
  ): Promise<ReturnType<Calls[Name]>> {
    this.#aside++
    try {
      return await this.call(name, args)
    } finally {
      this.#aside--
    }
  }

  /** Whether the worker has started and has no pending calls. */
  get isIdle(): boolean {
    return this.#waiting.size === this.#aside && this.#failure === undefined
  }

  /** Waits for the calls made so far, then ends the worker. */
  async close(): Promise<void> {
    if (this.#failure === undefined) await this.#send('close', [], [])
    await this.#worker.terminate()
  }

  #send(name: PropertyKey, args: readonly unknown[], handOver: Transferable[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure)
    const id = ++this.#lastId
    this.#worker.postMessage({ id, name, args }, handOver)
    return this.#answerTo(id)
  }

  #answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #settle({ id, result, failure }: Reply): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (failure) waiting?.reject(revive(failure))
    else waiting?.resolve(result)
  }

  #fail(reason: LogError): void {
    this.#failure ??= reason
    for (const { reject } of this.#waiting.values()) reject(this.#failure)
    this.#waiting.clear()
  }
}

/** The error that ended a worker. A `LogError` from another thread has lost its class, but keeps its name and fields. */
function arrived(error: Error): LogError {
  return error.name === 'LogError' ? revive(error as LogError) : asLogError(error)
}

const revive = ({ code, details, message }: NonNullable<Reply['failure']>): LogError =>
  Object.assign(new LogError(code, message, {}), { details })
