import { randomBytes } from 'node:crypto'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import { Approvals } from './approvals.js'
import { Changes } from './changes.js'
import { Questions } from './questions.js'
import type { ServedSpace } from './served-space.js'
import { type Uris, urisOf } from './uris.js'

/** Which question a client is to come back for. */
export interface Ticket {
  readonly question: string
}

/** What all clients of one served space share. */
export interface Desk extends Required<Pick<ServedSpace, 'space' | 'reading' | 'log'>> {
  readonly uris: Uris
  readonly questions: Questions
  readonly approvals: Approvals
  readonly changes: Changes
  /** Signs what clients bring back. */
  readonly tickets: RequestStateCodec<Ticket>
  /** Takes back what is still being asked, then leaves the space. */
  close(): Promise<void>
}

const keyBytes = 32
/** How long somebody may take to fill in a form. */
const ttlSeconds = 24 * 60 * 60

export function openDesk({ space, reading, log = () => {}, throttleMs }: ServedSpace): Desk {
  const uris = urisOf(space.welcome.space.id)
  const questions = new Questions(space)
  return {
    ...{ space, reading, log, uris, questions },
    approvals: new Approvals(space),
    changes: new Changes(space, uris, throttleMs),
    tickets: createRequestStateCodec<Ticket>({ key: randomBytes(keyBytes), ttlSeconds }),
    async close() {
      await questions.close('the asker has gone')
      space.close()
    },
  }
}
