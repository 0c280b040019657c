import { contextParent, correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { asks } from './answers.js'
import type { OpenedContext } from './contexts.js'

/** A message that waits for an agent at work. */
export interface WaitingChat {
  readonly id: string
  readonly from: string
  readonly agent: string
}

interface Chat extends Pick<WaitingChat, 'id' | 'from'> {
  readonly seq: number
  readonly to: string[] | undefined
  readonly mentions: unknown
  /** Agents that have begun to answer the message. */
  readonly taken: readonly string[]
}

/** Maximum numbers of remembered messages and runs. */
const [maxChats, maxRuns] = [100, 10_000]

/**
 * Messages that ask an agent while it works on an earlier one, and that it has neither answered nor begun to answer: its queue,
 * and messages that redirect its work. Replies are not counted, since most answer a question of the agent.
 */
export class WaitingChats {
  readonly #chats = new Bounded<Chat>(maxChats)
  /** Seq of the earliest message that a run is about, or of its start. */
  readonly #begun = new Bounded<number>(maxRuns)

  apply(envelope: Envelope): void {
    const { kind, id, from, to, seq = 0, context, correlationId, payload } = envelope
    if (context !== undefined) return
    if (kind === Kind.chat && correlationId === undefined)
      this.#chats.set(id, { id, from, seq, to, mentions: payload.mentions, taken: [] })
    const about = correlations(envelope).flatMap((each) => this.#chats.get(each) ?? [])
    if (kind === Kind.reasoningStart) this.#begun.set(id, Math.min(seq, ...about.map((chat) => chat.seq)))
    for (const chat of about) {
      if (kind === Kind.chatCancel && from === chat.from) this.#chats.delete(chat.id)
      const isBegun = kind === Kind.chat || kind === Kind.reasoningStart
      if (isBegun && !chat.taken.includes(from))
        this.#chats.set(chat.id, { ...chat, taken: [...chat.taken, from] })
    }
  }

  /**
   * Lists the messages, oldest first, with one entry for each agent that they wait for. `runs`: open contexts. `frontDesk`:
   * that of the space; absent = none.
   */
  list(runs: Iterable<OpenedContext>, frontDesk?: string): WaitingChat[] {
    const atWork = new Map<string, number>()
    for (const { owner, context } of runs) {
      if (contextParent(context) !== undefined) continue
      const begun = this.#begun.get(context) ?? 0
      atWork.set(owner, Math.min(atWork.get(owner) ?? begun, begun))
    }
    return [...this.#chats.values()].flatMap(({ id, from, seq, to, mentions, taken }) =>
      [...atWork].flatMap(([agent, begun]) =>
        seq > begun &&
        agent !== from &&
        !taken.includes(agent) &&
        asks({ to, payload: { mentions } }, agent, frontDesk)
          ? [{ id, from, agent }]
          : [],
      ),
    )
  }
}
