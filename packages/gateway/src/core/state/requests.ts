import { isNotification, Oldest } from '@meup/folds'
import { correlations, type Envelope, GUEST, type InvitePayload, Kind } from '@meup/protocol'
import { FairMap } from '../fair-map.js'

/** A request that was admitted, and who has answered it. */
interface OpenRequest {
  readonly from: string
  /** Absent = everyone may answer once. */
  readonly to?: ReadonlySet<string>
  readonly answeredBy: ReadonlySet<string>
}

interface Request extends OpenRequest {
  readonly answeredBy: Set<string>
}

type RequestsSnapshot = readonly {
  readonly id: string
  readonly from: string
  readonly to?: readonly string[]
  readonly answeredBy: readonly string[]
}[]

/** Requests past this many are forgotten: the oldest of the participant that has made the most. */
const remembered = 10_000

/** MCP requests that wait for answers: each addressee answers once [MEUP-3.7]. A fold over the log. */
export class Requests {
  readonly #open = new FairMap<Request>(remembered, ({ from }) => from)

  apply(envelope: Envelope): void {
    if (envelope.kind === Kind.mcpRequest) this.#ask(envelope)
    else if (envelope.kind === Kind.mcpResponse) {
      for (const id of correlations(envelope)) this.#answer(id, envelope.from)
    }
  }

  snapshot(): RequestsSnapshot {
    return [...this.#open].map(([id, { from, to, answeredBy }]) => ({
      id,
      from,
      ...(to && { to: [...to] }),
      answeredBy: [...answeredBy],
    }))
  }

  restore(snapshot: RequestsSnapshot): void {
    for (const { id, from, to, answeredBy } of snapshot) {
      this.#open.set(id, {
        from,
        ...(to && { to: new Set(to) }),
        answeredBy: new Set(answeredBy),
      })
    }
  }

  get(id: string): OpenRequest | undefined {
    return this.#open.get(id)
  }

  #ask({ id, from, to, payload }: Envelope): void {
    if (isNotification(payload)) return
    this.#open.set(id, { from, ...(to && { to: new Set(to) }), answeredBy: new Set() })
  }

  #answer(id: string, from: string): void {
    this.#open.get(id)?.answeredBy.add(from)
  }
}

interface Configured {
  readonly participants: Readonly<Record<string, { readonly kind: string }>>
}

interface HopsSnapshot {
  readonly agents: readonly (readonly [id: string, isAgent: boolean])[]
  readonly chats: readonly { readonly id: string; readonly from: string; readonly hops?: number }[]
  readonly informed: readonly string[]
}

/** Chats, and participants, past this many are forgotten, oldest first. */
const rememberedChats = 10_000

/**
 * How far chats have gone from agent to agent, so that agents which only answer each other come to an end [MEUP-7.4].
 * A human's chat starts all counts anew. A fold over the log, to stand after that of the requests.
 */
export class Hops {
  readonly #requests: Pick<Requests, 'get'>
  /** Whether it is an agent, of those whom the operator or an invitation names. */
  readonly #named = new Map<string, boolean>()
  readonly #oldestNamed = new Oldest(this.#named)
  /** Who sent each chat of an agent. */
  readonly #senders = new Map<string, string>()
  readonly #oldestSent = new Oldest(this.#senders)
  /** Of the chats that are further than 0. */
  readonly #hops = new Map<string, number>()
  /** Agents that somebody else has answered a request of since their last chat. */
  readonly #informed = new Set<string>()

  constructor(requests: Pick<Requests, 'get'>) {
    this.#requests = requests
  }

  apply(envelope: Envelope): void {
    const { kind, payload } = envelope
    if (kind === Kind.chat) {
      if (this.#isAgent(envelope.from)) this.#chat(envelope)
      else if (this.#hops.size > 0) this.#hops.clear()
    } else if (kind === Kind.mcpResponse) this.#inform(envelope)
    else if (kind === Kind.spaceInvite) this.#invite(payload as InvitePayload)
    else if (kind === Kind.systemSpace && payload.event === 'configured') {
      const { participants } = payload as unknown as Configured
      for (const [id, each] of Object.entries(participants)) this.#know(id, each.kind !== 'human')
    }
  }

  snapshot(): HopsSnapshot {
    const chats = [...this.#senders].map(([id, from]) => {
      const hops = this.#hops.get(id)
      return { id, from, ...(hops !== undefined && { hops }) }
    })
    return { agents: [...this.#named], chats, informed: [...this.#informed] }
  }

  restore({ agents, chats, informed }: HopsSnapshot): void {
    for (const [id, isAgent] of agents) this.#named.set(id, isAgent)
    for (const { id, from, hops } of chats) {
      this.#senders.set(id, from)
      if (hops !== undefined) this.#hops.set(id, hops)
    }
    for (const id of informed) this.#informed.add(id)
  }

  /** How far a chat goes: one further than that of another agent that it answers, else as far as its sender was. */
  of({ from, correlationId }: Pick<Envelope, 'from' | 'correlationId'>): number {
    if (correlationId === undefined || !this.#isAgent(from) || this.#informed.has(from)) return 0
    let furthest = 0
    for (const id of correlations({ correlationId })) {
      const sender = this.#senders.get(id)
      if (sender === undefined) continue
      furthest = Math.max(furthest, (this.#hops.get(id) ?? 0) + (sender === from ? 0 : 1))
    }
    return furthest
  }

  #chat(chat: Envelope): void {
    const { id, from } = chat
    const hops = this.of(chat)
    if (hops > 0) this.#hops.set(id, hops)
    this.#senders.set(id, from)
    this.#informed.delete(from)
    while (this.#senders.size > rememberedChats) {
      const oldest = this.#oldestSent.next() ?? ''
      this.#senders.delete(oldest)
      this.#hops.delete(oldest)
    }
  }

  /** To answer oneself is no news. */
  #inform(response: Envelope): void {
    for (const id of correlations(response)) {
      const asker = this.#requests.get(id)?.from
      if (asker !== undefined && asker !== response.from && this.#isAgent(asker)) this.#informed.add(asker)
    }
  }

  /** Whom the operator has named stays what it is. */
  #invite({ participantId }: InvitePayload): void {
    if (!this.#named.has(participantId)) this.#know(participantId, true)
  }

  /** Guests are people; whoever else the operator does not call human is taken for an agent. */
  #isAgent(id: string): boolean {
    return this.#named.get(id) ?? !id.startsWith(GUEST)
  }

  #know(id: string, isAgent: boolean): void {
    this.#named.delete(id)
    this.#named.set(id, isAgent)
    while (this.#named.size > rememberedChats) {
      const oldest = this.#oldestNamed.next() ?? ''
      this.#named.delete(oldest)
      this.#informed.delete(oldest)
    }
  }
}
