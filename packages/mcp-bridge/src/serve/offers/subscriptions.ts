import type { SpaceClient } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { formatCodedError } from '../results.js'
import type { Uris } from './changes.js'

/** Maximum resources per `subscriptions/listen` request. */
const maxListened = 1000

interface SubscriptionsOptions {
  readonly space: SpaceClient
  readonly uris: Uris
  readonly log: (line: string) => void
  /** Called when a resource of a participant has changed. */
  readonly onUpdate: (uri: string) => void
}

/**
 * Subscriptions of all MCP clients to resources of participants. For a participant, all these clients together are one
 * subscriber.
 */
export class OfferSubscriptions {
  readonly #space: SpaceClient
  readonly #uris: Uris
  readonly #log: (line: string) => void
  /** The number of subscribed clients, by URI. */
  readonly #counts = new Map<string, number>()

  constructor({ space, uris, log, onUpdate }: SubscriptionsOptions) {
    this.#space = space
    this.#uris = uris
    this.#log = log
    space.on('envelope', (envelope) => {
      if (envelope.kind === Kind.systemPresence && envelope.payload.event === 'join') {
        this.#renew(envelope.payload.participant.id)
      } else if (envelope.kind === Kind.mcpRequest) {
        const { method, params } = envelope.payload
        const { uri } = Object(params) as { uri?: unknown }
        if (method === 'notifications/resources/updated' && typeof uri === 'string')
          onUpdate(uris.offered(envelope.from, uri))
      }
    })
  }

  /** Subscribes a client to a resource. Returns a function that unsubscribes it. For resources of the space, does nothing. */
  add(uri: string): () => void {
    if (this.#uris.parseOffered(uri) === undefined) return () => {}
    const count = this.#counts.get(uri) ?? 0
    this.#counts.set(uri, count + 1)
    if (count === 0) this.#send('resources/subscribe', uri)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = (this.#counts.get(uri) ?? 1) - 1
      if (left > 0) this.#counts.set(uri, left)
      else if (this.#counts.delete(uri)) this.#send('resources/unsubscribe', uri)
    }
  }

  /** Subscribes to the resources in a `subscriptions/listen` request, which clients send since revision 2026-07-28. */
  addListened(message: unknown): () => void {
    const { method, params } = Object(message) as { method?: unknown; params?: unknown }
    const { resourceSubscriptions: uris = [] } = Object(Object(params).notifications) as {
      resourceSubscriptions?: unknown
    }
    if (method !== 'subscriptions/listen' || !Array.isArray(uris)) return () => {}
    const ends = uris.slice(0, maxListened).map((uri) => this.add(String(uri)))
    return () => ends.forEach((end) => void end())
  }

  /** Subscribes again at a participant that has returned, because it has forgotten the subscriptions. */
  #renew(participant: string): void {
    for (const uri of this.#counts.keys())
      if (this.#uris.parseOffered(uri)?.participant === participant) this.#send('resources/subscribe', uri)
  }

  #send(method: string, uri: string): void {
    const offered = this.#uris.parseOffered(uri)
    if (offered === undefined || this.#space.ended) return
    this.#space
      .request(offered.participant, method, { uri: offered.uri }, { propose: false })
      .catch((error: unknown) => this.#log(`${method} of ${uri}: ${formatCodedError(error)}`))
  }
}
