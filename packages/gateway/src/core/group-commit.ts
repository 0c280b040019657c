import { contextRoot, type WorkMeter } from '@meup/protocol'
import { hashContent } from '../log/chain.js'
import type { Clock } from '../ports/clock.js'
import { createLoggedMessage, type Message } from '../ports/connection.js'
import type { DraftEntry, Entry, EnvelopeLog, Heading } from '../ports/envelope-log.js'

const maxRows = 512
const maxBytes = 1024 * 1024
/** Above this many waiting bytes, sockets are not read until the log has caught up. */
const slowingBytes = 2 * 1024 * 1024
/** Above this many waiting bytes the log has fallen behind, and envelopes are refused until it has caught up. */
const maxWaitingBytes = 64 * 1024 * 1024
/** The log has fallen behind if a batch takes longer than this. */
const commitTimeoutMs = 5000

/**
 * Appends admitted envelopes in batches, one batch at a time: while one is written, the next one collects. Under light load a
 * batch is one envelope and waits only for the end of the current event loop turn.
 */
export class GroupCommit {
  readonly #log: EnvelopeLog
  readonly #clock: Clock
  readonly #committed: (batch: readonly DraftEntry[], seconds: number) => void
  readonly #failed: (error: unknown, lost: readonly DraftEntry[]) => void
  #waiting: DraftEntry[] = []
  #waitingBytes = 0
  #running: Promise<void> | undefined
  #isOverdue = false
  #whenWritable: { readonly promise: Promise<void>; resolve(): void } | undefined

  constructor(
    log: EnvelopeLog,
    clock: Clock,
    on: {
      committed(batch: readonly DraftEntry[], seconds: number): void
      failed(error: unknown, lost: readonly DraftEntry[]): void
    },
  ) {
    this.#log = log
    this.#clock = clock
    this.#committed = on.committed
    this.#failed = on.failed
  }

  add(draft: DraftEntry): void {
    this.#waiting.push(draft)
    this.#waitingBytes += draft.body.length
    this.#running ??= this.#run()
  }

  get isBehind(): boolean {
    return this.#isOverdue || this.#waitingBytes > maxWaitingBytes
  }

  /**
   * Back-pressure: resolves when senders may be read again, because the log has caught up or has fallen so far behind that it
   * refuses envelopes.
   */
  whenWritable(): Promise<void> | undefined {
    if (this.#waitingBytes <= slowingBytes || this.isBehind) return undefined
    this.#whenWritable ??= createDeferred()
    return this.#whenWritable.promise
  }

  /** Envelopes that are not in a batch yet. */
  get waiting(): { readonly envelopes: number; readonly bytes: number } {
    return { envelopes: this.#waiting.length, bytes: this.#waitingBytes }
  }

  /** Resolves when every admitted envelope is committed or has failed. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch()
      const start = performance.now()
      try {
        await this.#append(batch)
      } catch (error) {
        const lost = [...batch, ...this.#waiting]
        this.#waiting = []
        this.#waitingBytes = 0
        this.#running = undefined
        this.#relieve()
        this.#failed(error, lost)
        return
      }
      if (this.#waitingBytes <= slowingBytes) this.#relieve()
      this.#committed(batch, (performance.now() - start) / 1000)
    }
    this.#running = undefined
  }

  async #append(batch: readonly DraftEntry[]): Promise<void> {
    const cancel = this.#clock.after(commitTimeoutMs, () => {
      this.#isOverdue = true
      this.#relieve()
    })
    try {
      await this.#log.append(batch)
    } finally {
      cancel()
      this.#isOverdue = false
    }
  }

  #relieve(): void {
    this.#whenWritable?.resolve()
    this.#whenWritable = undefined
  }

  #nextBatch(): DraftEntry[] {
    let [rows, bytes] = [0, 0]
    while (rows < this.#waiting.length && rows < maxRows && bytes < maxBytes) {
      bytes += this.#waiting[rows++]?.body.length ?? 0
    }
    this.#waitingBytes -= bytes
    return this.#waiting.splice(0, rows)
  }
}

function createDeferred() {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Callers that wait until a seq is in the log (`true`), or its commit has failed (`false`). */
export class Watchers {
  #waiting: { readonly seq: number; resolve(isCommitted: boolean): void }[] = []

  wait(seq: number): Promise<boolean> {
    return new Promise((resolve) => this.#waiting.push({ seq, resolve }))
  }

  /** Resolves the waiting callers with `true` up to this seq, which is now in the log. */
  delivered(through: number): void {
    if (this.#waiting.length === 0) return
    for (const { seq, resolve } of this.#waiting) if (seq <= through) resolve(true)
    this.#waiting = this.#waiting.filter(({ seq }) => seq > through)
  }

  /** Resolves all waiting callers with `false`: the pending envelopes are lost. */
  rejectAll(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }
}

/** Delay between attempts; it doubles up to the maximum. */
const [shortestMs, longestMs] = [500, 10_000]

/** Retries a task with growing delays until it succeeds. */
export class Recovery {
  readonly #clock: Clock
  readonly #failed: (error: unknown, retryMs: number) => void
  #cancel = (): void => {}
  #isOver = false

  constructor(clock: Clock, failed: (error: unknown, retryMs: number) => void) {
    this.#clock = clock
    this.#failed = failed
  }

  begin(attempt: () => Promise<void>): void {
    this.#run(attempt, shortestMs)
  }

  /** Stops retrying. */
  close(): void {
    this.#isOver = true
    this.#cancel()
  }

  #run(attempt: () => Promise<void>, retryMs: number): void {
    // An exception in `failed` counts as another failure.
    this.#try(attempt, retryMs).catch((error: unknown) => this.#failed(error, retryMs))
  }

  async #try(attempt: () => Promise<void>, retryMs: number): Promise<void> {
    if (this.#isOver) return
    try {
      await attempt()
    } catch (error) {
      if (this.#isOver) return
      this.#failed(error, retryMs)
      const next = Math.min(2 * retryMs, longestMs)
      this.#cancel = this.#clock.after(retryMs, () => this.#run(attempt, next))
    }
  }
}

/** The seq of a known envelope, and its message once it is committed. */
interface KnownId {
  readonly seq: number
  readonly message?: Message
}

/** Bytes of a row that the log reads in about a microsecond. */
const bytesPerUnit = 1024

/** Pending drafts by id, and the roots of their contexts. */
class InFlight {
  readonly drafts = new Map<string, DraftEntry>()
  readonly roots = new Set<string>()
}

/** The ids and contexts of a space, logged or pending [MEUP-1.10]. */
export class KnownIds {
  readonly #log: EnvelopeLog
  /**
   * Pending drafts in two generations, each replaced once it is empty: V8 links a map's outgrown tables to their successors, so
   * deleted entries of one long-lived map would survive young collections.
   */
  #older = new InFlight()
  #newer = new InFlight()

  constructor(log: EnvelopeLog) {
    this.#log = log
  }

  /**
   * `other` = the id belongs to different content or another sender. The meter pays for reading the sender's earlier envelope,
   * up to its limit.
   */
  find(id: string, from: string, content: Uint8Array, meter: WorkMeter): KnownId | 'other' | undefined {
    const draft = this.#findDraft(id)
    if (draft !== undefined) {
      return draft.from === from && Buffer.compare(draft.content, content) === 0
        ? { seq: draft.seq }
        : 'other'
    }
    const heading = this.#log.heading(id)
    if (heading === undefined) return undefined
    const row = heading.from === from ? this.#log.find(id) : undefined
    if (row === undefined) return 'other'
    meter.charge(Math.min(row.body.length / bytesPerUnit, Math.floor(meter.left)), 'bytes to read')
    const same = Buffer.compare(row.digest, hashContent(row.salt, content)) === 0
    return same ? { seq: row.seq, message: createLoggedMessage(row) } : 'other'
  }

  /** Finds the heading of an admitted envelope, committed or not. */
  findOrigin(id: string): Heading | undefined {
    return this.#findDraft(id) ?? this.#log.heading(id)
  }

  /** Like `findOrigin`, with the body. */
  findEntry(id: string): Entry | undefined {
    return this.#findDraft(id) ?? this.#log.find(id)
  }

  /** Whether an admitted envelope is in the context with this root, or below it [MEUP-2.12]. */
  hasContext(root: string): boolean {
    return this.#older.roots.has(root) || this.#newer.roots.has(root) || this.#log.hasContext(root)
  }

  admit(draft: DraftEntry): void {
    this.#newer.drafts.set(draft.id, draft)
    if (draft.context !== undefined) this.#newer.roots.add(contextRoot(draft.context))
  }

  settle(entries: readonly Entry[]): void {
    for (const { id } of entries) if (!this.#older.drafts.delete(id)) this.#newer.drafts.delete(id)
    if (this.#older.drafts.size > 0) return
    // Also drops the roots of drafts that were lost in a failed commit.
    this.#older = this.#newer.drafts.size > 0 ? this.#newer : new InFlight()
    this.#newer = new InFlight()
  }

  #findDraft(id: string): DraftEntry | undefined {
    return this.#older.drafts.get(id) ?? this.#newer.drafts.get(id)
  }
}
