import { randomBytes } from 'node:crypto'
import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import { SpaceApprovals } from './approvals/approvals.js'
import { ShownProposals } from './approvals/shown-proposals.js'
import { ClientCalls } from './calls/calls.js'
import { Tasks } from './calls/tasks.js'
import { Changes, createUris, type Uris } from './offers/changes.js'
import { Offers } from './offers/offers.js'
import { OfferSubscriptions } from './offers/subscriptions.js'
import { SentQuestions } from './tools/questions.js'

/** The participant that all MCP clients act as, with its connections to the space. */
export interface ServedSpace {
  /** The participant's client; closed when the service ends. */
  readonly space: SpaceClient
  /** Reads the space over HTTP as the same participant. */
  readonly http: HttpClient
  /** Called with non-fatal errors, one line each. */
  readonly log?: (line: string) => void
  /** Minimum milliseconds between notifications about the same resource; default 250. */
  readonly throttleMs?: number
}

/**
 * `legacy`: MCP revisions up to 2025-11-25, in which a server can send requests to its client. `modern`: from 2026-07-28 on.
 */
export type Era = 'legacy' | 'modern'

/** The `requestState` of a form: the client sends it back with the filled-in form, to continue this question or call. */
export interface ResumeState {
  readonly id: string
}

/** The objects that all MCP clients of a space share. */
export interface SpaceService extends Required<Pick<ServedSpace, 'space' | 'http' | 'log'>> {
  readonly uris: Uris
  readonly questions: SentQuestions
  readonly approvals: SpaceApprovals
  readonly shown: ShownProposals
  readonly changes: Changes
  readonly offers: Offers
  readonly calls: ClientCalls
  readonly tasks: Tasks
  readonly subscriptions: OfferSubscriptions
  /** Signs the `ResumeState` that clients send back. */
  readonly stateCodec: RequestStateCodec<ResumeState>
  /** Cancels open questions, then closes the client. */
  close(): Promise<void>
}

const keyBytes = 32
/** Maximum seconds to fill in a form. */
const ttlSeconds = 24 * 60 * 60

export function openSpaceService({ space, http, log = () => {}, throttleMs }: ServedSpace): SpaceService {
  const uris = createUris(space.welcome.space.id)
  const questions = new SentQuestions(space)
  const tasks = new Tasks()
  const changes = new Changes(space, uris, throttleMs)
  return {
    ...{ space, http, log, uris, questions },
    approvals: new SpaceApprovals(space),
    shown: new ShownProposals(),
    changes,
    offers: new Offers({ space, uris, log, onChange: (list) => changes.mark([list]) }),
    calls: new ClientCalls(),
    tasks,
    subscriptions: new OfferSubscriptions({ space, uris, log, onUpdate: (uri) => changes.mark([uri]) }),
    stateCodec: createRequestStateCodec<ResumeState>({ key: randomBytes(keyBytes), ttlSeconds }),
    async close() {
      tasks.close()
      await questions.close('the asker has gone')
      space.close()
    },
  }
}
