import type { EnvelopeLog, Query, Row, Snapshot } from '../../ports/envelope-log.js'
import type { Projection, ProjectionOptions } from '../../ports/projection.js'
import type { ProjectionCalls, ReaderCalls } from '../sqlite/calls.js'
import type { Channel } from '../sqlite/channel.js'
import type { Lookup } from '../sqlite/lookup.js'
import { packPage, unpackPage } from '../sqlite/pack.js'
import { openSqliteProjection } from '../sqlite/sqlite-projection.js'
import type { ReplicaCalls, ReplicaSpace } from './replica-calls.js'

export interface ReplicaThreads {
  readonly writer: Channel<ReplicaCalls>
  readonly reader: Channel<ReaderCalls>
  readonly lookup: Lookup
  projecting(): Promise<Channel<ProjectionCalls>>
}

/** What this gateway has of a space's log on its own disk. It can always be made again from the shared log. */
export class Replica {
  readonly epoch: string
  readonly #threads: ReplicaThreads
  readonly #name: string
  readonly #space: number
  /** The last row that is shown, and its hash. */
  #tip: { readonly seq: number; readonly hash: Uint8Array }
  #snapshot: Snapshot | undefined
  #projection: Promise<Projection> | undefined

  constructor(threads: ReplicaThreads, name: string, { space, epoch, head, hash, snapshot }: ReplicaSpace) {
    this.epoch = epoch
    this.#threads = threads
    this.#name = name
    this.#space = space
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
  }

  get head(): number {
    return this.#tip.seq
  }

  get hash(): Uint8Array {
    return this.#tip.hash
  }

  get snapshot(): Snapshot | undefined {
    return this.#snapshot
  }

  get pruned(): number {
    return this.#snapshot?.through ?? 0
  }

  /** Whether the file can be written and is as it was; takes from it where the log ends. */
  async recheck(): Promise<void> {
    const { head, hash, snapshot } = await this.#threads.writer.call('open', [this.#name, this.epoch])
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
    this.#threads.lookup.refresh()
  }

  /** Stores rows that the shared log has. */
  async take(rows: readonly Row[], snapshot?: Snapshot): Promise<void> {
    const last = rows.at(-1)
    if (last === undefined) return
    const packed = packPage(rows)
    await this.#threads.writer.call('take', [this.#space, packed, snapshot], [packed.bytes.buffer])
    if (snapshot !== undefined) this.#snapshot = snapshot
    this.#tip = { seq: last.seq, hash: last.hash }
    this.#threads.lookup.refresh()
  }

  async read({ after = 0, before = Infinity, limit, order = 'asc', filter = {} }: Query): Promise<Row[]> {
    const ends = { after: Math.max(after, this.pruned), before: Math.min(before, this.head + 1) }
    const range = { space: this.#space, ...ends, limit, order, filter }
    return unpackPage(await this.#threads.reader.call('read', [range]))
  }

  find(id: string): Row | undefined {
    const row = this.#threads.lookup.find(this.#space, id)
    return row && row.seq > this.pruned && row.seq <= this.head ? row : undefined
  }

  async prune(through: number, bytes: Uint8Array): Promise<void> {
    const hash = await this.#threads.writer.call('prune', [this.#space, through, bytes])
    this.#snapshot = { through, hash, bytes }
  }

  async keep(...[checkpoint]: Parameters<EnvelopeLog['keep']>): Promise<void> {
    const bytes = new Uint8Array(checkpoint.bytes)
    await this.#threads.writer.call('keep', [this.#space, { ...checkpoint, bytes }], [bytes.buffer])
  }

  checkpoint(): ReturnType<EnvelopeLog['checkpoint']> {
    return this.#threads.reader.call('checkpoint', [this.#space])
  }

  project(options: ProjectionOptions): Promise<Projection> {
    this.#projection ??= this.#openProjection(options)
    return this.#projection
  }

  async close(): Promise<void> {
    await (await this.#projection?.catch(() => undefined))?.close()
  }

  async #openProjection(options: ProjectionOptions): Promise<Projection> {
    try {
      const { reader, projecting } = this.#threads
      const log = { space: this.#space, name: this.#name, epoch: this.epoch }
      return await openSqliteProjection({ writer: await projecting(), reader }, log, options)
    } catch (error) {
      this.#projection = undefined // The next to ask may be luckier.
      throw error
    }
  }
}
