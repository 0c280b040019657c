import { ConnectionError } from '../client/errors.js'
import { setLongTimeout } from '../client/wait.js'

/** Milliseconds between two questions to one that announces changes: after many of them, the last one counts. */
const minIntervalMs = 1000
/** Milliseconds for which one that did not answer in time is not waited for; doubled each time, up to the second. */
const [firstBackoffMs, maxBackoffMs] = [10_000, 600_000]
/** Milliseconds for which another answer is waited for where there was one before, which will do else. */
const refreshMs = 1000

interface Asked<Value> {
  /** What it answered last. */
  value: Value
  hasAnswered: boolean
  /** The answer may be another one by now. */
  isStale: boolean
  /** Its participant has said so. */
  isAnnounced: boolean
  /** There was no answer to the last question. */
  hasFailed: boolean
  /** Milliseconds, by `performance.now`: when it was asked last, or is to be. */
  askedAt: number
  /** While it is asked. */
  pending: Promise<void> | undefined
  /** How often it did not answer in time. It is never forgotten: a participant cannot buy patience by coming anew. */
  silences: number
  /** Milliseconds, by `performance.now`: before this it is asked, but not waited for. */
  backoffUntil: number
}

interface AnswersOptions<Value> {
  /** Rejects with a timeout where there is no answer in time. */
  readonly ask: (id: string) => Promise<Value>
  /** Stands for an answer until there is one. */
  readonly none: Value
  /** Called with what went wrong, but for silence and absence. */
  readonly onError: (error: unknown) => void
  /** Called when an answer is there for which nobody has waited. */
  readonly onLate?: (id: string) => void
}

/** What participants answer to one question: each is asked once, and again when its answer may have changed. */
export class Answers<Value> {
  readonly #options: AnswersOptions<Value>
  readonly #known = new Map<string, Asked<Value>>()

  constructor(options: AnswersOptions<Value>) {
    this.#options = options
  }

  /** What each has answered last, in their order; asks where that is not known, and waits as long as there is patience. */
  async read(ids: readonly string[], patience: Patience): Promise<readonly Value[]> {
    await patience.wait(ids.flatMap((id) => this.#refresh(id) ?? []))
    return ids.map((id) => this.#known.get(id)?.value ?? this.#options.none)
  }

  /** The answer may have changed: it is asked for again, at once where its participant says so. */
  expire(id: string, { isAnnounced = false } = {}): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    known.isStale = true
    known.isAnnounced ||= isAnnounced
    if (isAnnounced && known.hasFailed) this.#begin(id, known)
  }

  /** The participant has sent something: one that has not answered is asked again, ever more rarely where it goes on so. */
  onSent(id: string): void {
    const known = this.#known.get(id)
    if (known?.hasFailed !== true) return
    const retryMs = Math.min(maxBackoffMs, minIntervalMs * 2 ** Math.min(known.silences, 30))
    if (performance.now() >= known.askedAt + retryMs) this.#begin(id, known)
  }

  expireWhere(test: (value: Value) => boolean): void {
    for (const known of this.#known.values()) if (test(known.value)) known.isStale = true
  }

  /** Forgets one that will not come again. */
  delete(id: string): void {
    this.#known.delete(id)
  }

  /** What to wait for, if there is anything. */
  #refresh(id: string): Promise<void> | undefined {
    const known = this.#known.get(id) ?? this.#add(id)
    const now = performance.now()
    // One that leaves when it is asked, and comes again, is asked once a second.
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
      // One that leaves while it is asked has not answered either.
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

/** How long somebody waits for answers in all, however often: of a turn, its steps do not wait anew. */
export class Patience {
  #leftMs: number

  constructor(ms: number) {
    this.#leftMs = ms
  }

  /** Resolves when all are settled, or the patience is used up. None may reject. */
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
