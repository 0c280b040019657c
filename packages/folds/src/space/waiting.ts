import {
  contextParent,
  correlations,
  type Envelope,
  GATEWAY,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { getEndedSession, isProgramEnd } from '../mcp/program-ended.js'
import { asks, getAsked, getNamed, isAnswerTo, isHandOver } from './answers.js'
import type { OpenedContext } from './contexts.js'
import type { Participants } from './participants.js'

/** A message, and an agent that has not answered it. */
export interface WaitingChat {
  readonly id: string
  readonly from: string
  readonly agent: string
}

interface Chat extends Pick<WaitingChat, 'id' | 'from'> {
  readonly seq: number
  readonly to: string[] | undefined
  readonly mentions: unknown
  /** Whether the message names the participants that it asks; otherwise others may answer it as well. */
  readonly isNamed: boolean
  /** Participants that are asked. A chat that hands the message over replaces its sender by the participants that it names. */
  asked: readonly string[]
  /** Agents that have begun to answer the message. */
  readonly taken: Set<string>
  isAnswered: boolean
  /** Open runs about the message. */
  readonly runs: Set<string>
  /**
   * Asked participants of which a program has ended since the message; `ended`: those of them of which no other program will
   * answer it.
   */
  readonly ending: Set<string>
  readonly ended: Set<string>
}

interface Run {
  readonly owner: string
  /** Seq of the earliest message that the run is about or, without one, of its start. */
  readonly begun: number
  /** Ids of the messages that the run is about. */
  readonly about: readonly string[]
}

/**
 * The participants of the space, as of the applied envelope or later: after a welcome, they are those of the log's head, while
 * earlier envelopes are still replayed.
 */
export type WaitingParticipants = Pick<Participants, 'all' | 'get' | 'frontDesk'>

interface WaitingOptions {
  /** Whether a chat is a message to follow; default: all that answer nothing. */
  readonly isFollowed?: (chat: Envelope) => boolean
  /** Maximum number of remembered messages; default 100. */
  readonly maxChats?: number
}

/** Maximum number of remembered runs, and of participants. */
const [maxRuns, maxParticipants] = [10_000, 10_000]

const none: readonly WaitingChat[] = []

/**
 * Messages that ask agents: those that wait for an agent at work on an earlier one, and those that no program will answer any
 * more. Replies are not counted, since most answer a question of the agent.
 */
export class WaitingChats {
  readonly #participants: WaitingParticipants
  readonly #isFollowed: (chat: Envelope) => boolean
  readonly #chats: Bounded<Chat>
  /** Ids of messages, by the ids of the chats that hand them over to other agents. */
  readonly #handOvers: Bounded<string>
  readonly #runs = new Bounded<Run>(maxRuns)
  /**
   * Whether participants are present, by their last join or leave among the applied envelopes. While a replay is behind the
   * welcome, `#participants` has a later state.
   */
  readonly #presence = new Bounded<boolean>(maxParticipants)
  /** The latest message of each sender that no program will answer any more, until it sends another one. */
  readonly #lost: Bounded<WaitingChat>

  constructor(
    participants: WaitingParticipants,
    { isFollowed = ({ correlationId }) => correlationId === undefined, maxChats = 100 }: WaitingOptions = {},
  ) {
    this.#participants = participants
    this.#isFollowed = isFollowed
    this.#chats = new Bounded(maxChats)
    this.#handOvers = new Bounded(maxChats)
    this.#lost = new Bounded(maxChats)
  }

  /**
   * Applies an envelope. Returns the messages that no program will answer any more, with the participant whose program was the
   * last to end: the next program of a participant does not receive them [MEUP-13.26].
   */
  apply(envelope: Envelope): readonly WaitingChat[] {
    const { kind, context } = envelope
    if (kind === Kind.systemPresence) return this.#onPresence(envelope)
    if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) return this.#endRun(envelope)
    if (context !== undefined) return none
    if (kind === Kind.chat && this.#isFollowed(envelope)) this.#add(envelope)
    const about = correlations(envelope).flatMap((each) => this.#chats.get(this.getQuestion(each)) ?? [])
    if (kind === Kind.reasoningStart) this.#begin(envelope, about)
    for (const chat of about) {
      if (kind === Kind.chatCancel && envelope.from === chat.from) this.#chats.delete(chat.id)
      if (kind === Kind.chat) this.#answer(chat, envelope)
    }
    return none
  }

  /** The id of the message that a chat hands over; otherwise that of the chat. */
  getQuestion(id: string): string {
    return this.#handOvers.get(id) ?? id
  }

  /** The latest message of a participant, if no program will answer it any more. */
  getLost(from: string): WaitingChat | undefined {
    return this.#lost.get(from)
  }

  /**
   * Lists the messages that wait for an agent at work, oldest first, with one entry for each agent. `runs`: open contexts.
   */
  list(runs: Iterable<OpenedContext>): WaitingChat[] {
    const atWork = new Map<string, number>()
    for (const { owner, context } of runs) {
      if (contextParent(context) !== undefined) continue
      const begun = this.#runs.get(context)?.begun ?? 0
      atWork.set(owner, Math.min(atWork.get(owner) ?? begun, begun))
    }
    const { frontDesk } = this.#participants
    return [...this.#chats.values()].flatMap(({ id, from, seq, to, mentions, taken }) =>
      [...atWork].flatMap(([agent, begun]) =>
        seq > begun &&
        agent !== from &&
        !taken.has(agent) &&
        asks({ to, payload: { mentions } }, agent, frontDesk)
          ? [{ id, from, agent }]
          : [],
      ),
    )
  }

  #add(chat: Envelope): void {
    const { id, from, seq = 0, to, payload } = chat
    const named = getNamed(chat)
    this.#lost.delete(from)
    this.#chats.set(id, {
      ...{ id, from, seq, to, mentions: payload.mentions },
      isNamed: named !== undefined,
      asked: named ?? this.#listAnswerers(from),
      taken: new Set(),
      isAnswered: false,
      runs: new Set(),
      ending: new Set(),
      ended: new Set(),
    })
  }

  /** The participants that may answer a message without addressee: the front desk, otherwise every program that is here. */
  #listAnswerers(asker: string): readonly string[] {
    const { frontDesk } = this.#participants
    if (frontDesk !== undefined) return [frontDesk]
    return this.#participants
      .all(0)
      .filter(({ id, kind }) => id !== asker && kind !== 'human' && kind !== 'mcp' && this.#isPresent(id))
      .map(({ id }) => id)
  }

  #isPresent(id: string): boolean {
    return this.#presence.get(id) ?? this.#participants.get(id, 0)?.status === 'present'
  }

  #begin({ id, from, seq = 0 }: Envelope, about: readonly Chat[]): void {
    this.#runs.set(id, {
      owner: from,
      begun: Math.min(seq, ...about.map((chat) => chat.seq)),
      about: about.map((chat) => chat.id),
    })
    for (const { taken, runs } of about) {
      taken.add(from)
      runs.add(id)
    }
  }

  #answer(chat: Chat, answer: Envelope): void {
    const { id, from } = answer
    chat.taken.add(from)
    if (isAnswerTo(chat.from, answer)) chat.isAnswered = true
    if (!isHandOver(answer) || (chat.isNamed && !chat.asked.includes(from))) return
    chat.asked = [...chat.asked.filter((each) => each !== from), ...getAsked(answer)]
    this.#handOvers.set(id, chat.id)
  }

  /** Forgets a run that has ended. A cancel by anyone but the owner and the gateway is only a request, and ends nothing. */
  #endRun(envelope: Envelope): readonly WaitingChat[] {
    const { context = '', from } = envelope
    const run = this.#runs.get(context)
    if (run === undefined || (from !== run.owner && from !== GATEWAY)) return none
    this.#runs.delete(context)
    return run.about.flatMap((id) => {
      const chat = this.#chats.get(id)
      const isOver = chat?.runs.delete(context) && isProgramEnd(envelope)
      return chat !== undefined && isOver ? this.#endProgram(chat, run.owner, true) : []
    })
  }

  /** Returns the messages that no program will answer any more, because a program has ended that had no run about them. */
  #onPresence(envelope: Envelope): readonly WaitingChat[] {
    const { participant, event, session } = envelope.payload as unknown as PresencePayload
    const { id } = participant
    if (event !== 'update') this.#presence.renew(id, event === 'join')
    // People who close a program can still read the message in the next one.
    if (this.#participants.get(id, 0)?.kind === 'human') return none
    const hasEnded = getEndedSession(envelope) !== undefined
    return [...this.#chats.values()].flatMap((chat) => {
      const { asked, ending } = chat
      if (!asked.includes(id)) return []
      if (hasEnded) ending.add(id)
      const isGone = session?.event === 'replaced' || (ending.has(id) && !this.#isPresent(id))
      return isGone ? this.#endProgram(chat, id, false) : []
    })
  }

  #endProgram(chat: Chat, agent: string, wasAtWork: boolean): readonly WaitingChat[] {
    const { id, from, asked, isNamed, isAnswered, runs, ended } = chat
    ended.add(agent)
    const areAllEnded = asked.every((each) => ended.has(each))
    const isOver = isNamed ? areAllEnded : runs.size === 0 && (wasAtWork || areAllEnded)
    if (isAnswered || !isOver) return none
    this.#chats.delete(id)
    const lost = { id, from, agent }
    this.#lost.set(from, lost)
    return [lost]
  }
}
