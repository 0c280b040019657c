import { ConnectionError } from '../client/errors.js'
import { setLongTimeout } from '../client/wait.js'

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
  /** While it is asked. */
  pending: Promise<void> | undefined
  /** How often it did not answer in time. It is never forgotten: a participant cannot buy patience by coming anew. */
  silences: number
  /** Milliseconds, by `performance.now`: before this it is not waited for, and asked only when it says that something has changed. */
  backoffUntil: number
}

interface AnswersOptions<Value> {
  /** Rejects with a timeout where there is no answer in time. */
  readonly ask: (id: string) => Promise<Value>
  /** Stands for an answer until there is one. */
  readonly none: Value
  /** Called with what went wrong, but for silence and absence. */
  readonly onError: (error: unknown) => void
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
    if (isAnnounced && known.backoffUntil > performance.now()) this.#begin(id, known)
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
    if (performance.now() < known.backoffUntil) return undefined
    if (known.isStale) this.#begin(id, known)
    const { pending, hasAnswered } = known
    return pending && hasAnswered ? new Patience(refreshMs).wait([pending]) : pending
  }

  #add(id: string): Asked<Value> {
    const { none } = this.#options
    const fresh = { hasAnswered: false, isStale: true, pending: undefined, silences: 0, backoffUntil: 0 }
    const added = { value: none, ...fresh }
    this.#known.set(id, added)
    return added
  }

  #begin(id: string, known: Asked<Value>): void {
    if (known.pending !== undefined) return
    const begin = performance.now()
    known.isStale = false
    known.pending = this.#options
      .ask(id)
      .then((value) => {
        if (known.hasAnswered && performance.now() - begin > refreshMs) backOff(known)
        known.value = value
        known.hasAnswered = true
      })
      .catch((error: unknown) => {
        known.isStale = true
        const code = error instanceof ConnectionError ? error.code : undefined
        // One that leaves while it is asked has not answered either.
        if (code === 'timeout' || code === 'participant_away') backOff(known)
        else this.#options.onError(error)
      })
      .finally(() => {
        known.pending = undefined
      })
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
