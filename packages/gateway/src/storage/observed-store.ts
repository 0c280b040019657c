import type {
  Checkpoint,
  Draft,
  Entry,
  EnvelopeLog,
  Heading,
  LogStore,
  Query,
  Row,
  Snapshot,
} from '../ports/envelope-log.js'

/** Told what a log has committed: each envelope once, in order, by one process at a time. It must not throw. */
export type LogObserver = (entries: readonly Entry[]) => void

/**
 * The same store, with somebody who looks on. `observe` is called with each log when it is opened, and gives who is told of
 * it. They are told after the envelopes were delivered, so that nobody waits for them, and all of it before the store is closed.
 */
export function observedStore(
  store: LogStore,
  observe: (space: string, log: EnvelopeLog) => Promise<LogObserver>,
): LogStore {
  const logs = new WeakMap<EnvelopeLog, Promise<EnvelopeLog>>()
  const begin = async (space: string, log: EnvelopeLog) => new ObservedLog(log, await observe(space, log))
  return {
    ...(store.path !== undefined && { path: store.path }),
    async open(space) {
      const log = await store.open(space)
      const known = logs.get(log) ?? begin(space, log)
      logs.set(log, known)
      return known
    },
    async close() {
      await store.close()
      await nextTurn()
    },
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** More than one batch that was stored though its commit seemed to fail. */
const unnoticed = 1000

class ObservedLog implements EnvelopeLog {
  readonly #log: EnvelopeLog
  readonly #observer: LogObserver
  #notified: number

  constructor(log: EnvelopeLog, observer: LogObserver) {
    this.#log = log
    this.#observer = observer
    this.#notified = log.head
  }

  get epoch(): string {
    return this.#log.epoch
  }

  get head(): number {
    return this.#log.head
  }

  get oldest(): number {
    return this.#log.oldest
  }

  get snapshot(): Snapshot | undefined {
    return this.#log.snapshot
  }

  get maxFrameBytes(): number | undefined {
    return this.#log.maxFrameBytes
  }

  get shared(): EnvelopeLog['shared'] {
    return this.#log.shared
  }

  async append(batch: readonly Draft[]): Promise<void> {
    await this.#log.append(batch)
    this.#notify(batch)
  }

  async recover(): Promise<void> {
    await this.#log.recover()
    this.#notify(await this.#log.read({ after: this.#notified, limit: unnoticed }))
  }

  read(query: Query): Promise<Row[]> {
    return this.#log.read(query)
  }

  find(id: string): Row | undefined {
    return this.#log.find(id)
  }

  heading(id: string): Heading | undefined {
    return this.#log.heading(id)
  }

  hasContext(root: string): boolean {
    return this.#log.hasContext(root)
  }

  prune(through: number, snapshot: Uint8Array): Promise<void> {
    return this.#log.prune(through, snapshot)
  }

  keep(checkpoint: Checkpoint): Promise<void> {
    return this.#log.keep(checkpoint)
  }

  checkpoint(): ReturnType<EnvelopeLog['checkpoint']> {
    return this.#log.checkpoint()
  }

  close(): Promise<void> {
    return this.#log.close()
  }

  /** In a later turn of the event loop: the space delivers in this one. */
  #notify(entries: readonly Entry[]): void {
    this.#notified = entries.at(-1)?.seq ?? this.#notified
    if (entries.length > 0) setImmediate(this.#observer, entries)
  }
}
