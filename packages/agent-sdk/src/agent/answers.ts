import { ConnectionError } from '../client/errors.js'
import { setLongTimeout } from '../client/wait.js'

/** Minimum milliseconds between two requests to a participant that announces changes; the last announcement counts. */
const minIntervalMs = 1000
/** Milliseconds for which a participant that timed out is not awaited; doubles up to the maximum. */
const [firstBackoffMs, maxBackoffMs] = [10_000, 600_000]
/** Milliseconds to wait for a newer answer before the previous one is used. */
const refreshMs = 1000

interface Asked<Value> {
  /** Its last answer. */
  value: Value
  hasAnswered: boolean
  /** The answer may have changed. */
  isStale: boolean
  /** The participant announced the change. */
  isAnnounced: boolean
  /** The last request got no answer. */
  hasFailed: boolean
  /** Time of the last request, or of the scheduled one, by `performance.now`. */
  askedAt: number
  /** The pending request. */
  pending: Promise<void> | undefined
  /** Number of timeouts. Never reset, so that a participant cannot gain patience by reconnecting. */
  silences: number
  /** Time by `performance.now` before which it is asked, but not awaited. */
  backoffUntil: number
}

interface AnswersOptions<Value> {
  /** Rejects with a timeout if there is no answer in time. */
  readonly ask: (id: string) => Promise<Value>
  /** Used until there is an answer. */
  readonly none: Value
  /** Called with errors except timeouts and absence. */
  readonly onError: (error: unknown) => void
  /** Called when an answer arrives that is no longer awaited. */
  readonly onLate?: (id: string) => void
}

/** Caches the answers of participants to one request, and repeats it when an answer may have changed. */
export class Answers<Value> {
  readonly #options: AnswersOptions<Value>
  readonly #known = new Map<string, Asked<Value>>()

  constructor(options: AnswersOptions<Value>) {
    this.#options = options
  }

  /** The last answers in the order of `ids`; requests missing ones, and waits while there is patience. */
  async read(ids: readonly string[], patience: Patience): Promise<readonly Value[]> {
    await patience.wait(ids.flatMap((id) => this.#refresh(id) ?? []))
    return ids.map((id) => this.#known.get(id)?.value ?? this.#options.none)
  }

  /** Marks an answer as stale, and requests it again, at once if the participant announced the change. */
  expire(id: string, { isAnnounced = false } = {}): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    known.isStale = true
    known.isAnnounced ||= isAnnounced
    if (isAnnounced && known.hasFailed) this.#begin(id, known)
  }

  /** The participant has sent an envelope: asks one without an answer again, with growing intervals. */
  onSent(id: string): void {
    const known = this.#known.get(id)
    if (known?.hasFailed !== true) return
    const retryMs = Math.min(maxBackoffMs, minIntervalMs * 2 ** Math.min(known.silences, 30))
    if (performance.now() >= known.askedAt + retryMs) this.#begin(id, known)
  }

  expireWhere(test: (value: Value) => boolean): void {
    for (const known of this.#known.values()) if (test(known.value)) known.isStale = true
  }

  /** Forgets a participant that will not return. */
  delete(id: string): void {
    this.#known.delete(id)
  }

  /** The request to wait for, if any. */
  #refresh(id: string): Promise<void> | undefined {
    const known = this.#known.get(id) ?? this.#add(id)
    const now = performance.now()
    // A participant that leaves when asked and returns is asked at most once a second.
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

  /** Never rejects. */
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
      // A participant that leaves has not answered either.
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

/** The total time to wait for answers, however many requests: the steps of a turn share it. */
export class Patience {
  #leftMs: number

  constructor(ms: number) {
    this.#leftMs = ms
  }

  /** Resolves when all are settled, or the time is used up. None may reject. */
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
