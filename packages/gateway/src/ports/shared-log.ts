/** Something that one gateway says to another about a space: JSON, and bytes that belong to it. */
export interface Note {
  readonly head: Readonly<Record<string, unknown>>
  readonly body?: Uint8Array
}

/** What is heard of a log that several gateways share. */
export interface LogListener<Row> {
  /** Others have appended these; they can be read here now. In order, each once, while this gateway follows. */
  grown(rows: readonly Row[]): void
  /** Nobody sequences the log any more, or no longer this gateway: `recover` decides who does. */
  leaderLost(): void
  /** Another gateway has pruned the log up to this row, which `prune` does here. Told again until that is done. */
  pruned(through: number): void
  /** A gateway asks this one, which sequences. */
  asked(note: Note): Record<string, unknown>
  /** A gateway tells this one something; nothing is answered. */
  told(note: Note): void
}

/** What a log has besides where several gateways have it open. One of them sequences it, the others follow. */
export interface SharedLog<Row> {
  /** Whether this gateway sequences: then it alone may append. */
  readonly leads: boolean
  /** Names this gateway among them, as long as it runs. */
  readonly self: string
  /** To be called once, before anything is asked. */
  listen(listener: LogListener<Row>): void
  /** Removes here what another gateway has pruned. Rejects as `EnvelopeLog.read` does. */
  prune(): Promise<void>
  /** Asks the gateway that sequences. Rejects where none answers; then it is uncertain whether it has heard. */
  ask(note: Note): Promise<Readonly<Record<string, unknown>>>
  /** Tells one of them, or with `all` everyone else. What cannot be delivered is lost. */
  tell(gateway: string, note: Note): void
}
