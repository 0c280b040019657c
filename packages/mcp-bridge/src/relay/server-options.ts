/** What is said of every server, however it is reached. */
export interface ServerOptions {
  /** What the server is called in messages about it. */
  readonly name: string
  /** How long the server may take to answer its first request, in ms; default 60000. */
  readonly startTimeoutMs?: number
  /** Gives up the start; afterwards it means nothing. */
  readonly signal?: AbortSignal
  /** A line for the log: of the server's stderr, or about something odd that it did. */
  readonly log?: (line: string) => void
}
