import { randomBytes } from 'node:crypto'
import type { SpaceClient } from '@meup/agent-sdk'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import { Approvals } from './approvals.js'
import { Changes, createUris, type Uris } from './changes.js'
import { Questions } from './questions.js'

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
  readonly space: SpaceClient
  readonly reading: SpaceReading
  /** Told, in lines for the operator, what went wrong without ending anything. */
  readonly log?: (line: string) => void
  /** Milliseconds in which changes of one resource are told as one; default 250. */
  readonly throttleMs?: number
}

/** Which question a client is to come back for. */
export interface QuestionState {
  readonly question: string
}

/** What all clients of one served space share. */
export interface SpaceService extends Required<Pick<ServedSpace, 'space' | 'reading' | 'log'>> {
  readonly uris: Uris
  readonly questions: Questions
  readonly approvals: Approvals
  readonly changes: Changes
  /** Signs what clients bring back. */
  readonly stateCodec: RequestStateCodec<QuestionState>
  /** Takes back what is still being asked, then leaves the space. */
  close(): Promise<void>
}

const keyBytes = 32
/** How long somebody may take to fill in a form. */
const ttlSeconds = 24 * 60 * 60

export function openSpaceService({ space, reading, log = () => {}, throttleMs }: ServedSpace): SpaceService {
  const uris = createUris(space.welcome.space.id)
  const questions = new Questions(space)
  return {
    ...{ space, reading, log, uris, questions },
    approvals: new Approvals(space),
    changes: new Changes(space, uris, throttleMs),
    stateCodec: createRequestStateCodec<QuestionState>({ key: randomBytes(keyBytes), ttlSeconds }),
    async close() {
      await questions.close('the asker has gone')
      space.close()
    },
  }
}
