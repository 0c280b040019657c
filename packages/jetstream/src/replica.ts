import type {
  Checkpoint,
  EnvelopeLog,
  Heading,
  Query,
  ReplicaFile,
  ReplicaSpace,
  Row,
  Snapshot,
} from '@meup/gateway'
import { contextRoot } from '@meup/protocol'

/** This gateway's copy of a space's log. If deleted, it is rebuilt from the stream. */
export class Replica {
  readonly epoch: string
  readonly #file: ReplicaFile
  readonly #name: string
  readonly #space: number
  readonly #writeBehind: WriteBehind
  /** The last row that readers can get, and its hash. */
  #tip: { readonly seq: number; readonly hash: Uint8Array }
  #snapshot: Snapshot | undefined

  constructor(file: ReplicaFile, name: string, { space, epoch, head, hash, snapshot }: ReplicaSpace) {
    this.epoch = epoch
    this.#file = file
    this.#name = name
    this.#space = space
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
    this.#writeBehind = new WriteBehind((rows) => file.append(space, rows))
  }

  /** Called when the file cannot be written: from then on, `append` rejects until `recheck`. */
  set onFailure(listener: () => void) {
    this.#writeBehind.onFailure = listener
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

  /** Rejects if the file cannot be written. Otherwise sets the end of the log to that of the file. */
  async recheck(): Promise<void> {
    await this.#writeBehind.stored().catch(() => undefined) // A failure shows when the file is read below.
    const { head, hash, snapshot } = await this.#file.openSpace(this.#name, this.epoch)
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
    this.#writeBehind.forget()
  }

  /** Appends rows of the stream. They can be found at once, and are written to the file a little later. */
  async append(rows: readonly Row[], snapshot?: Snapshot): Promise<void> {
    const last = rows.at(-1)
    if (last === undefined) return
    if (snapshot === undefined) await this.#writeBehind.add(rows)
    else {
      await this.#writeBehind.stored()
      await this.#file.append(this.#space, rows, snapshot)
      this.#snapshot = snapshot
    }
    this.#tip = { seq: last.seq, hash: last.hash }
  }

  async read(query: Query): Promise<Row[]> {
    const { after = 0, before = Infinity, limit, maxBytes = Infinity, order = 'asc', filter = {} } = query
    const ends = { after: Math.max(after, this.pruned), before: Math.min(before, this.head + 1) }
    const range = { space: this.#space, ...ends, limit, maxBytes, order, filter }
    await this.#writeBehind.stored()
    return this.#file.read(range)
  }

  find(id: string): Row | undefined {
    return this.#ifShown(this.#writeBehind.find(id) ?? this.#file.find(this.#space, id))
  }

  heading(id: string): Heading | undefined {
    return this.#ifShown(this.#writeBehind.find(id) ?? this.#file.heading(this.#space, id))
  }

  headingsFrom(start: string, after: string, limit: number): Heading[] {
    const stored = this.#file.headingsFrom(this.#space, start, after, limit)
    const all = new Map([...stored, ...this.#writeBehind.from(start, after)].map((row) => [row.id, row]))
    const ids = [...all.keys()].sort().slice(0, limit)
    return ids.flatMap((id) => this.#ifShown(all.get(id)) ?? [])
  }

  hasContext(root: string): boolean {
    return this.#writeBehind.hasContext(root) || this.#file.hasContext(this.#space, root)
  }

  async prune(through: number, bytes: Uint8Array): Promise<void> {
    await this.#writeBehind.stored()
    const hash = await this.#file.prune(this.#space, through, bytes)
    this.#snapshot = { through, hash, bytes }
  }

  /** Like `EnvelopeLog.erase`, in the local file. */
  async erase(seqs: readonly number[]): Promise<boolean> {
    await this.#writeBehind.stored()
    return this.#file.erase(this.#space, seqs)
  }

  async keep(checkpoint: Checkpoint): Promise<void> {
    await this.#writeBehind.stored()
    await this.#file.keep(this.#space, checkpoint)
  }

  checkpoint(): ReturnType<EnvelopeLog['checkpoint']> {
    return this.#file.checkpoint(this.#space)
  }

  async close(): Promise<void> {
    await this.#writeBehind.stored().catch(() => undefined) // The stream has the rows.
  }

  #ifShown<Found extends Heading>(found: Found | undefined): Found | undefined {
    return found && found.seq > this.pruned && found.seq <= this.head ? found : undefined
  }
}

/** Milliseconds for which rows are collected before they are stored, unless a reader waits. */
const collectMs = 20
/** Maximum number of collected rows, and of the bytes of their bodies. */
const [maxRows, maxBytes] = [1000, 1024 * 1024]

/**
 * Stores rows of the stream in the replica's file, in batches and a little later. After a crash, missing rows are read from the
 * stream again. Readers of the file wait for `stored`.
 */
class WriteBehind {
  readonly #store: (rows: readonly Row[]) => Promise<void>
  readonly #byId = new Map<string, Row>()
  #rows: Row[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** The last write to the file. Writes are sequential; after a failed write, all later ones fail. */
  #storing: Promise<void> = Promise.resolve()
  #failure: { readonly reason: unknown } | undefined

  constructor(store: (rows: readonly Row[]) => Promise<void>) {
    this.#store = store
  }

  /** Called when rows could not be stored: from then on, `add` rejects until `forget` has dropped them. */
  onFailure: () => void = () => {}

  /** Adds rows; waits only if the file does not keep up. Rejects if earlier rows could not be stored. */
  async add(rows: readonly Row[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.reason
    for (const row of rows) {
      this.#rows.push(row)
      this.#byId.set(row.id, row)
      this.#bytes += row.body.length
    }
    this.#timer ??= setTimeout(() => this.#begin(), collectMs)
    if (this.#rows.length < maxRows && this.#bytes < maxBytes) return
    const before = this.#storing
    this.#begin()
    await before
  }

  find(id: string): Row | undefined {
    return this.#byId.get(id)
  }

  from(start: string, after: string): Row[] {
    return [...this.#byId.values()].filter(({ id }) => id.startsWith(start) && id > after)
  }

  hasContext(root: string): boolean {
    for (const { context } of this.#byId.values()) {
      if (context !== undefined && contextRoot(context) === root) return true
    }
    return false
  }

  /** Resolves when the file has all rows added so far; rejects if it cannot be written. */
  async stored(): Promise<void> {
    if (this.#rows.length > 0) this.#begin()
    await this.#storing
  }

  /** Drops rows that were not stored, because they are read from the stream again. */
  forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#rows = []
    this.#bytes = 0
    this.#byId.clear()
    this.#storing = Promise.resolve()
    this.#failure = undefined
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    this.#storing = this.#storing.then(async () => {
      await this.#store(rows)
      for (const row of rows) if (this.#byId.get(row.id) === row) this.#byId.delete(row.id)
    })
    this.#storing.catch((reason: unknown) => {
      if (this.#failure !== undefined) return
      this.#failure = { reason }
      this.onFailure()
    })
  }
}
