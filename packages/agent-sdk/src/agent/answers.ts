import { ConnectionError } from '../client/errors.js'
import { setLongTimeout } from '../client/long-timeout.js'

/**
 * Minimum milliseconds between two requests to a participant that announces changes. Announcements in between lead to one
 * request.
 */
const minIntervalMs = 1000
/**
 * Milliseconds during which requests to a participant that timed out are not awaited: the first, and the maximum; they double
 * each time.
 */
const [firstBackoffMs, maxBackoffMs] = [10_000, 600_000]
/** Milliseconds to wait for a new answer before the cached one is used. */
const refreshMs = 1000

interface Asked<Value> {
  /** The cached answer. */
  value: Value
  hasAnswered: boolean
  /** The participant's answer may have changed since it was cached. */
  isStale: boolean
  /** The participant itself announced that its answer has changed. */
  isAnnounced: boolean
  /** The last request failed. */
  hasFailed: boolean
  /** Time by `performance.now` of the last request; in the future if it is scheduled. */
  askedAt: number
  /** Settles when the request in progress has ended. */
  pending: Promise<void> | undefined
  /**
   * Number of requests that timed out or were answered late. Never reset: otherwise a participant could make turns wait again
   * by reconnecting.
   */
  silences: number
  /** Until this time by `performance.now`, requests to the participant are sent but not awaited. */
  backoffUntil: number
}

interface AnswersOptions<Value> {
  /** Sends the request to a participant. Rejects with a timeout if it does not answer in time. */
  readonly ask: (id: string) => Promise<Value>
  /** The value of a participant that has not answered yet. */
  readonly none: Value
  /** Called with errors other than timeouts, absence and a closed connection. */
  readonly onError: (error: unknown) => void
  /** Called when a request succeeds after a failure, or later than `refreshMs`. */
  readonly onLate?: (id: string) => void
}

/** Caches the answers of participants to one kind of request, and repeats the request when an answer may have changed. */
export class Answers<Value> {
  readonly #options: AnswersOptions<Value>
  readonly #known = new Map<string, Asked<Value>>()

  constructor(options: AnswersOptions<Value>) {
    this.#options = options
  }

  /**
   * Returns the cached answers in the order of `ids`. Requests missing and stale ones, and waits for them while `patience`
   * lasts.
   */
  async read(ids: readonly string[], patience: Patience): Promise<readonly Value[]> {
    await patience.wait(ids.flatMap((id) => this.#refresh(id) ?? []))
    return ids.map((id) => this.#known.get(id)?.value ?? this.#options.none)
  }

  /**
   * Marks an answer as stale, so that the next `read` requests a new one. If the participant announced the change and its last
   * request had failed, requests it immediately.
   */
  expire(id: string, { isAnnounced = false } = {}): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    known.isStale = true
    known.isAnnounced ||= isAnnounced
    if (isAnnounced && known.hasFailed) this.#begin(id, known)
  }

  /** Called when a participant sends an envelope: if its last request failed, repeats it at growing intervals. */
  onSent(id: string): void {
    const known = this.#known.get(id)
    if (known?.hasFailed !== true) return
    const retryMs = Math.min(maxBackoffMs, minIntervalMs * 2 ** Math.min(known.silences, 30))
    if (performance.now() >= known.askedAt + retryMs) this.#begin(id, known)
  }

  expireWhere(test: (value: Value) => boolean): void {
    for (const known of this.#known.values()) if (test(known.value)) known.isStale = true
  }

  /** Removes the answer of a participant that will not return. */
  delete(id: string): void {
    this.#known.delete(id)
  }

  /** Starts a request if the answer is stale. Returns the promise to wait for, if any. */
  #refresh(id: string): Promise<void> | undefined {
    const known = this.#known.get(id) ?? this.#add(id)
    const now = performance.now()
    // Limits a participant that times out, leaves and returns again to one request per second.
    if (known.isStale && (known.silences === 0 || now >= known.askedAt + minIntervalMs))
      this.#begin(id, known)
    const { pending, hasAnswered, askedAt, backoffUntil } = known
    if (now < backoffUntil) return undefined
    return pending && hasAnswered
      ? new Patience(refreshMs + Math.max(0, askedAt - now)).wait([pending])
      : pending
  }

  #add(id: string): Asked<Value> {
    const { none } = this.#options
    const state = {
      hasAnswered: false,
      isStale: true,
      isAnnounced: false,
      hasFailed: false,
      pending: undefined,
    }
    const added = { value: none, ...state, askedAt: Number.NEGATIVE_INFINITY, silences: 0, backoffUntil: 0 }
    this.#known.set(id, added)
    return added
  }

  #begin(id: string, known: Asked<Value>): void {
    if (known.pending !== undefined) return
    const now = performance.now()
    const waitMs = known.isAnnounced ? known.askedAt + minIntervalMs - now : 0
    known.askedAt = now + Math.max(0, waitMs)
    const asking =
      waitMs > 0
        ? new Promise<void>((resolve) => setLongTimeout(waitMs, resolve)).then(() => this.#ask(id, known))
        : this.#ask(id, known)
    known.pending = asking.finally(() => {
      known.pending = undefined
    })
  }

  /** Sends the request and caches the answer. Never rejects. */
  async #ask(id: string, known: Asked<Value>): Promise<void> {
    const begin = performance.now()
    known.isStale = false
    known.isAnnounced = false
    try {
      const value = await this.#options.ask(id)
      const isSlow = performance.now() - begin > refreshMs
      const isLate = known.hasFailed || isSlow
      if (known.hasAnswered && isSlow) backOff(known)
      known.value = value
      known.hasAnswered = true
      known.hasFailed = false
      if (isLate) this.#options.onLate?.(id)
    } catch (error) {
      known.isStale = true
      known.hasFailed = true
      const code = error instanceof ConnectionError ? error.code : undefined
      // A participant that leaves during the request counts like a timeout.
      if (code === 'timeout' || code === 'participant_away') backOff(known)
      else if (code !== 'closed') this.#options.onError(error)
    }
  }
}

function backOff(known: Asked<unknown>): void {
  const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(known.silences, 30))
  known.backoffUntil = performance.now() + backoffMs
  known.silences++
}

/** A time budget for waiting on any number of requests, shared by the steps of a turn. */
export class Patience {
  #leftMs: number

  constructor(ms: number) {
    this.#leftMs = ms
  }

  /** Resolves when all promises are settled or the budget is used up. The promises must not reject. */
  async wait(pending: readonly Promise<void>[]): Promise<void> {
    if (pending.length === 0 || this.#leftMs <= 0) return
    const begin = performance.now()
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = setLongTimeout(this.#leftMs, resolve)
    })
    await Promise.race([Promise.all(pending), late])
    cancel()
    this.#leftMs -= performance.now() - begin
  }
}
