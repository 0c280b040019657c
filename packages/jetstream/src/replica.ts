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

/** What this gateway has of a space's log, most of it on its own disk. It can always be made again from the shared log. */
export class Replica {
  readonly epoch: string
  readonly #file: ReplicaFile
  readonly #name: string
  readonly #space: number
  readonly #ahead: WriteBehind
  /** The last row that is shown, and its hash. */
  #tip: { readonly seq: number; readonly hash: Uint8Array }
  #snapshot: Snapshot | undefined

  constructor(file: ReplicaFile, name: string, { space, epoch, head, hash, snapshot }: ReplicaSpace) {
    this.epoch = epoch
    this.#file = file
    this.#name = name
    this.#space = space
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
    this.#ahead = new WriteBehind((rows) => file.take(space, rows))
  }

  /** Called when the file could not be written: nothing more is taken before `recheck`. */
  set onFailure(told: () => void) {
    this.#ahead.onFailure = told
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
    await this.#ahead.stored().catch(() => undefined) // What the file has is found out below.
    const { head, hash, snapshot } = await this.#file.open(this.#name, this.epoch)
    this.#tip = { seq: head, hash }
    this.#snapshot = snapshot
    this.#ahead.forget()
  }

  /** Takes rows that the shared log has. They are shown at once, and are in the file a little later. */
  async take(rows: readonly Row[], snapshot?: Snapshot): Promise<void> {
    const last = rows.at(-1)
    if (last === undefined) return
    if (snapshot === undefined) await this.#ahead.add(rows)
    else {
      await this.#ahead.stored()
      await this.#file.take(this.#space, rows, snapshot)
      this.#snapshot = snapshot
    }
    this.#tip = { seq: last.seq, hash: last.hash }
  }

  async read(query: Query): Promise<Row[]> {
    const { after = 0, before = Infinity, limit, maxBytes = Infinity, order = 'asc', filter = {} } = query
    const ends = { after: Math.max(after, this.pruned), before: Math.min(before, this.head + 1) }
    const range = { space: this.#space, ...ends, limit, maxBytes, order, filter }
    await this.#ahead.stored()
    return this.#file.read(range)
  }

  find(id: string): Row | undefined {
    return this.#ifShown(this.#ahead.find(id) ?? this.#file.find(this.#space, id))
  }

  heading(id: string): Heading | undefined {
    return this.#ifShown(this.#ahead.find(id) ?? this.#file.heading(this.#space, id))
  }

  hasContext(root: string): boolean {
    return this.#ahead.hasContext(root) || this.#file.hasContext(this.#space, root)
  }

  async prune(through: number, bytes: Uint8Array): Promise<void> {
    await this.#ahead.stored()
    const hash = await this.#file.prune(this.#space, through, bytes)
    this.#snapshot = { through, hash, bytes }
  }

  async keep(checkpoint: Checkpoint): Promise<void> {
    await this.#ahead.stored()
    await this.#file.keep(this.#space, checkpoint)
  }

  checkpoint(): ReturnType<EnvelopeLog['checkpoint']> {
    return this.#file.checkpoint(this.#space)
  }

  async close(): Promise<void> {
    await this.#ahead.stored().catch(() => undefined) // The stream has it.
  }

  #ifShown<Found extends Heading>(found: Found | undefined): Found | undefined {
    return found && found.seq > this.pruned && found.seq <= this.head ? found : undefined
  }
}

/** So long rows are gathered before they are stored, unless somebody waits for them [milliseconds]. */
const gatherMs = 20
/** Of so many rows, or bytes of their bodies, no more are gathered. */
const [mostRows, mostBytes] = [1000, 1024 * 1024]

/**
 * Rows that the stream has and the file of the replica does not have yet: they are stored a little later, many with one
 * commit. What was acknowledged is in the stream, so nothing is lost with them; whoever reads the file waits for `stored`.
 */
class WriteBehind {
  readonly #store: (rows: readonly Row[]) => Promise<void>
  readonly #byId = new Map<string, Row>()
  #rows: Row[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** One after another; once one has failed, all that follow it do. */
  #storing: Promise<void> = Promise.resolve()
  #failure: { readonly reason: unknown } | undefined

  constructor(store: (rows: readonly Row[]) => Promise<void>) {
    this.#store = store
  }

  /** Called when rows could not be stored: nothing more is taken before `forget`. */
  onFailure: () => void = () => {}

  /** Resolves at once where the file keeps up; rejects where something before could not be stored. */
  async add(rows: readonly Row[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.reason
    for (const row of rows) {
      this.#rows.push(row)
      this.#byId.set(row.id, row)
      this.#bytes += row.body.length
    }
    this.#timer ??= setTimeout(() => this.#begin(), gatherMs)
    if (this.#rows.length < mostRows && this.#bytes < mostBytes) return
    const before = this.#storing
    this.#begin()
    await before
  }

  find(id: string): Row | undefined {
    return this.#byId.get(id)
  }

  hasContext(root: string): boolean {
    for (const { context } of this.#byId.values()) {
      if (context !== undefined && contextRoot(context) === root) return true
    }
    return false
  }

  /** Resolves when the file has all that was added so far; rejects where it cannot take that. */
  async stored(): Promise<void> {
    if (this.#rows.length > 0) this.#begin()
    await this.#storing
  }

  /** What was not stored is read from the stream again. */
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
