/**
 * A logged envelope [MEUP-10.1]. Delivery uses these fields and never parses the body again. `body` is the envelope's exact
 * UTF-8 bytes without `seq`.
 */
export interface Entry {
  readonly seq: number
  readonly id: string
  /** RFC 3339 UTC with milliseconds. */
  readonly ts: string
  readonly from: string
  readonly kind: string
  /** Addressees; absent = everyone. */
  readonly to?: readonly string[]
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly body: Uint8Array
}

/** An entry without its body, which may be large. */
export type Heading = Omit<Entry, 'body'>

/** An entry that is to be appended; `content` is the normalised submission that a retry must repeat [MEUP-1.12]. */
export interface DraftEntry extends Entry {
  readonly content: Uint8Array
}

/** A logged entry with its place in the hash chain. Hashes and salt are raw bytes. An erased one has no body, salt and digest. */
export interface Row extends Entry {
  readonly salt: Uint8Array
  /** SHA-256(salt ‖ body) */
  readonly leaf: Uint8Array
  /** SHA-256(previous hash ‖ seq as 8 bytes big-endian ‖ leaf); before the first row: SHA-256(epoch) */
  readonly hash: Uint8Array
  /** SHA-256(salt ‖ content) */
  readonly digest: Uint8Array
}

/** Selects rows that match every field that is set. An empty list selects none. */
export interface Filter {
  /** Seqs, in ascending order. */
  readonly seqs?: readonly number[]
  readonly kinds?: readonly string[]
  readonly from?: readonly string[]
  /** This path and everything below it. */
  readonly context?: string
  /** Rows that correlate to this id. */
  readonly correlationId?: string
}

/** Columns of rows to read: see `Query.only`. */
export type RowPart = 'headings' | 'bodies' | 'proofs'

export interface Query {
  /** Only rows with a greater seq. */
  readonly after?: number
  /** Only rows with a smaller seq. */
  readonly before?: number
  /** At most this many rows. */
  readonly limit: number
  /** Limit of the bytes of all bodies together; at least one row is returned. */
  readonly maxBytes?: number
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc'
  /** Default: every row. Only rows between `after` and `before` are scanned, so that the two bound the work. */
  readonly filter?: Filter
  /**
   * Parts to read. `headings`: no bodies, salts or hashes; `bodies`: no salts or hashes; `proofs`: no bodies. Bodies that are
   * not needed are empty and not read, so that the time reveals nothing about them.
   */
  readonly only?: RowPart
}

/** Replaces the pruned rows [MEUP-10.3]. It is not delivered to clients. */
export interface Snapshot {
  /** Seq of the last row that was pruned. */
  readonly through: number
  /** Hash of the row `through`, which the first kept row links to. */
  readonly hash: Uint8Array
  /** State of the pruned rows, as the caller of `prune` encoded it. */
  readonly bytes: Uint8Array
}

/** State of the rows up to `through`, so that a start need not read them. The rows are kept. */
export interface Checkpoint {
  /** Seq of the last row that the checkpoint includes. */
  readonly through: number
  /** Names the encoding of `bytes`; the caller chooses it. */
  readonly format: string
  readonly bytes: Uint8Array
}

/** The append-only log of one space [MEUP-10]. Every adapter passes `describeEnvelopeLog` of `@meup/gateway/testing`. */
export interface EnvelopeLog {
  /** Identifies this log. A log that replaces a lost one has another epoch. */
  readonly epoch: string
  /** The last committed seq; 0 while the log is empty. */
  readonly head: number
  /** Seq of the first row that is kept: 1 until the log is pruned. Older rows are neither read nor found. */
  readonly oldest: number
  /** Snapshot of the last pruning. */
  readonly snapshot: Snapshot | undefined
  /** Largest frame whose row fits; absent = no limit. */
  readonly maxFrameBytes?: number | undefined
  /** Absent = no other gateway has this log open. */
  readonly shared?: SharedLog<Row> | undefined
  /**
   * Commits the whole batch or none of it. `seq` must continue `head` without a gap; a batch that does not, or that repeats an
   * id, is rejected. Resolves once the batch survives a crash of this process.
   */
  append(batch: readonly DraftEntry[]): Promise<void>
  read(query: Query): Promise<Row[]>
  /** Returns the committed row with this id, by an index. The cost grows with the size of the row. */
  find(id: string): Row | undefined
  /** Returns the committed row with this id, without its body; cheap enough for every envelope. */
  heading(id: string): Heading | undefined
  /**
   * Committed rows whose ids begin with `start` and come after the id `after`, without bodies, in the order of ids; at most
   * `limit`.
   */
  headingsFrom(start: string, after: string, limit: number): Heading[]
  /** Whether committed rows are in the context `root` or below it, by an index. Pruned rows may count for a while. */
  hasContext(root: string): boolean
  /**
   * Replaces the rows up to `through` with the snapshot, atomically. Rejects with `range` unless `oldest` ≤ `through` < `head`:
   * the newest row is kept, because the next one links to it.
   */
  prune(through: number, snapshot: Uint8Array): Promise<void>
  /**
   * Removes body, salt and digest of these rows, and the checkpoint, which may contain them [MEUP-10.10]; skips missing rows.
   * Resolves once the bytes are in no file of the log, to whether there were any.
   */
  erase(seqs: readonly number[]): Promise<boolean>
  /**
   * Replaces the checkpoint, atomically. Rejects with `range` unless `oldest` ≤ `through` ≤ `head`. Pruning removes a
   * checkpoint that includes pruned rows only.
   */
  keep(checkpoint: Checkpoint): Promise<void>
  /** Returns the last checkpoint. `damaged` = it does not match its hash or the row `through`; read the rows instead. */
  checkpoint(): Promise<Checkpoint | 'damaged' | undefined>
  /**
   * Call it after a failed append, while no other append is pending. Sets `head` to the last stored seq. Rejects with the
   * reason if the log still cannot be written.
   */
  recover(): Promise<void>
  close(): Promise<void>
}

/** Space on the disk of the logs, in bytes. */
export interface Disk {
  readonly logBytes: number
  readonly freeBytes: number
}

/** Opens the logs of a gateway's spaces. */
export interface LogStore {
  /** The file of the logs, next to which derived files can be stored; absent = they are in memory. */
  readonly path?: string
  /** Bytes that the logs use, and bytes left on the disk; `undefined` = unknown. Absent = the logs are in memory. */
  readonly disk?: () => Disk | undefined
  open(space: string): Promise<EnvelopeLog>
  close(): Promise<void>
}

/** Called with committed entries, each once and in order. It must not throw. */
export type LogObserver = (entries: readonly Entry[]) => void

/** A message between gateways about a space: JSON, and optional bytes. */
export interface Note {
  readonly head: Readonly<Record<string, unknown>>
  readonly body?: Uint8Array
}

/** Handles the events of a log that several gateways share. */
export interface LogListener<Row> {
  /**
   * Called with rows that another gateway appended, each once and in order, while this gateway follows. They can be read here.
   */
  onRows(rows: readonly Row[]): void
  /** Called when no gateway sequences the log, or another one does now. `recover` determines which. */
  onLeaderLost(): void
  /**
   * Called when another gateway has pruned the log up to this row. Call `prune` to do the same here; the call is repeated until
   * that is done.
   */
  onPruned(through: number): void
  /** Answers a request that another gateway sends to this one, because this one sequences the log. */
  onRequest(note: Note): Record<string, unknown>
  /** Handles a message of another gateway that needs no answer. */
  onNote(note: Note): void
}

/** The functions of a log that several gateways have open. One of them sequences it, the others follow. */
export interface SharedLog<Row> {
  /** Whether this gateway sequences the log. Only the gateway that does may append. */
  readonly leads: boolean
  /** Name of this gateway among those that share the log, unique to this run of the process. */
  readonly self: string
  /** Call once, before `ask`. */
  listen(listener: LogListener<Row>): void
  /** Removes the rows here that another gateway has pruned. Rejects as `EnvelopeLog.read` does. */
  prune(): Promise<void>
  /** Sends a request to the gateway that sequences. Rejects if none answers, although it may have received the request. */
  ask(note: Note): Promise<Readonly<Record<string, unknown>>>
  /** Sends a message to one gateway, or with `all` to every other one. Messages that cannot be delivered are lost. */
  notify(gateway: string, note: Note): void
}
