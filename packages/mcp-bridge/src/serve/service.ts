import { randomBytes } from 'node:crypto'
import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import { Approvals } from './approvals.js'
import { Changes, createUris, type Uris } from './changes.js'
import { Questions } from './questions.js'

/** A participant whose connection and rights all MCP clients share. */
export interface ServedSpace {
  /** Its client; closed when the service ends. */
  readonly space: SpaceClient
  /** Reads the space for the same participant. */
  readonly http: HttpClient
  /** Receives non-fatal errors, a line each. */
  readonly log?: (line: string) => void
  /** Milliseconds between notifications about one resource; default 250. */
  readonly throttleMs?: number
}

/** Identifies the question that a client resumes. */
export interface QuestionState {
  readonly question: string
}

/** The state that all MCP clients of one space share. */
export interface SpaceService extends Required<Pick<ServedSpace, 'space' | 'http' | 'log'>> {
  readonly uris: Uris
  readonly questions: Questions
  readonly approvals: Approvals
  readonly changes: Changes
  /** Signs the state that clients send back. */
  readonly stateCodec: RequestStateCodec<QuestionState>
  /** Cancels open questions, then closes the client. */
  close(): Promise<void>
}

const keyBytes = 32
/** How long a user may take to fill in a form. */
const ttlSeconds = 24 * 60 * 60

export function openSpaceService({ space, http, log = () => {}, throttleMs }: ServedSpace): SpaceService {
  const uris = createUris(space.welcome.space.id)
  const questions = new Questions(space)
  return {
    ...{ space, http, log, uris, questions },
    approvals: new Approvals(space),
    changes: new Changes(space, uris, throttleMs),
    stateCodec: createRequestStateCodec<QuestionState>({ key: randomBytes(keyBytes), ttlSeconds }),
    async close() {
      await questions.close('the asker has gone')
      space.close()
    },
  }
}
