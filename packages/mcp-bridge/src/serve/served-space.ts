import type { Space } from '@meup/agent-sdk'

export type Query = Readonly<Record<string, string>>

/**
 * The views of a space that its gateway gives over HTTP to the participant who is served. `path` is below that of the
 * space, such as `turns`. Both reject with `ProtocolError` when the gateway refuses, `ConnectionError` when none answers.
 */
export interface SpaceReading {
  json<Answer>(path: string, query: Query): Promise<Answer>
  text(path: string, query: Query): Promise<string>
}

/** One participant's place in a space, which MCP clients are to share: what it may do, they may. */
export interface ServedSpace {
  /** Its seat; closed when the serving ends. */
  readonly space: Space
  readonly reading: SpaceReading
  /** Told, in lines for the operator, what went wrong without ending anything. */
  readonly log?: (line: string) => void
  /** Milliseconds in which changes of one resource are told as one; default 250. */
  readonly throttleMs?: number
}
