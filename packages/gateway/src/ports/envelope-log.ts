/**
 * What the log knows of one accepted envelope [MEUP-10.1]. Delivery decides by these fields alone: the body is
 * never parsed again. `body` is the envelope's exact UTF-8 bytes without `seq`.
 */
export interface Entry {
  readonly seq: number
  readonly id: string
  /** RFC 3339 UTC with milliseconds. */
  readonly ts: string
  readonly from: string
  readonly kind: string
  /** Absent = everyone. */
  readonly to?: readonly string[]
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly body: Uint8Array
}

/** An entry on its way into the log; `content` is the normalised submission that a retry must repeat [MEUP-1.12]. */
export interface Draft extends Entry {
  readonly content: Uint8Array
}

/** A logged entry with its place in the hash chain. Hashes and salt are raw bytes. */
export interface Row extends Entry {
  readonly salt: Uint8Array
  /** SHA-256(salt ‖ body) */
  readonly leaf: Uint8Array
  /** SHA-256(previous hash ‖ seq as 8 bytes big-endian ‖ leaf); before the first row: SHA-256(epoch) */
  readonly hash: Uint8Array
  /** SHA-256(salt ‖ content) */
  readonly digest: Uint8Array
}

export interface Query {
  /** Only rows with a greater seq. */
  readonly after?: number
  /** Only rows with a smaller seq. */
  readonly before?: number
  /** At most this many rows. */
  readonly limit: number
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc'
}

/** The append-only log of one space [MEUP-10]. Every adapter passes `describeEnvelopeLog` of `@meup/gateway/testing`. */
export interface EnvelopeLog {
  /** Names this log; a lost log gets a new one. */
  readonly epoch: string
  /** The last committed seq; 0 while the log is empty. */
  readonly head: number
  /**
   * Commits the whole batch or none of it. `seq` must continue `head` without a gap; a batch that does not, or that
   * repeats an id, is rejected. Resolves once the batch survives a crash of this process.
   */
  append(batch: readonly Draft[]): Promise<void>
  read(query: Query): Promise<Row[]>
  /** The committed row with this id: an index look-up, cheap enough for every envelope. */
  find(id: string): Row | undefined
  close(): Promise<void>
}

/** Opens the logs of a gateway's spaces. */
export interface LogStore {
  open(space: string): Promise<EnvelopeLog>
  close(): Promise<void>
}
