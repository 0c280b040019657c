import type { DialRequest } from '@meup/agent-sdk'
import {
  Bounded,
  getCancellation,
  getEnding,
  reasoningBlock,
  type Style,
  type TurnReasoning,
} from '@meup/folds'
import { type AnyEnvelope, correlations, GATEWAY, Kind, ProtocolError } from '@meup/protocol'
import { ask } from '../reading.js'
import { readTurns, threadOf } from '../reasoning/read-turns.js'
import { Previews } from './previews.js'

/** Milliseconds that the conversation waits for what is to follow an envelope. */
const patienceMs = 10_000
/** Turns among which one that has ended is looked for: so many more may have begun since. */
const mostLooked = 100

export interface LiveTurnOptions {
  readonly at: DialRequest
  readonly style: Style
  /** Owners of the runs that go on as one comes. */
  readonly atWork: readonly string[]
  /** Whether the beginning of what a tool gave back follows its result. */
  readonly previews: boolean
}

/** Turns that end while one looks on, as the gateway tells them. */
export class LiveTurns {
  readonly #at: DialRequest
  readonly #style: Style
  readonly #previews: Previews | undefined
  /** Who calls tools: nobody else's results end turns with tools. */
  readonly #callers = new Bounded<true>(1000)
  /** Of each turn that was told of, how many tools it had. */
  readonly #told = new Bounded<number>(1000)
  #answerer: string | undefined

  constructor({ at, style, atWork, previews }: LiveTurnOptions) {
    this.#at = at
    this.#style = style
    this.#previews = previews ? new Previews(at, style) : undefined
    for (const agent of atWork) this.#callers.set(agent, true)
  }

  /** Who has answered last while one looked on. */
  get answerer(): string | undefined {
    return this.#answerer
  }

  /**
   * Takes the next envelope. Gives the lines to follow it: what a tool gave back, and why the tools of a turn were called
   * that ended with it, by an answer or without one; once for each turn, unless it went on with more tools.
   * `undefined` = nothing follows.
   */
  take(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { kind, from, ts } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#callers.set(from, true)
    if (isAnswer(envelope)) this.#answerer = from
    const blocks = this.#mayEnd(envelope)?.then(async (agents) => {
      const lines = await Promise.all(agents.map((agent) => known(this.#blockOf(agent, ts))))
      return lines.flat()
    })
    const parts = [this.#previews?.take(envelope, patienceMs), blocks].filter((part) => part !== undefined)
    return parts.length === 0 ? undefined : Promise.all(parts).then((lines) => lines.flat())
  }

  /** Whose turns it may end; whether it does, the gateway says. */
  #mayEnd(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { kind, from, to = [], context = '' } = envelope
    if (isAnswer(envelope)) return Promise.resolve([from])
    if (kind === Kind.mcpResponse) return this.#callers.get(from) && Promise.resolve([from])
    if (kind === Kind.mcpRequest) return getCancellation(envelope.payload) && Promise.resolve([...to])
    if (kind === Kind.chatCancel) return this.#answering(correlations(envelope), from)
    if (kind !== Kind.reasoningConclusion && kind !== Kind.reasoningCancel) return undefined
    if (getEnding(envelope)[0] === 'completed') return undefined
    return from === GATEWAY ? known(this.#ownerOf(context)) : Promise.resolve([from])
  }

  /** Whoever has begun to answer one of these. */
  async #answering(chats: readonly string[], asker: string): Promise<string[]> {
    const answers = await Promise.all(
      chats.map((correlationId) => this.#ask<{ envelopes: AnyEnvelope[] }>('envelopes', { correlationId })),
    )
    const agents = new Set(answers.flatMap(({ envelopes }) => envelopes.map(({ from }) => from)))
    return [...agents].filter((agent) => agent !== asker)
  }

  async #ownerOf(context: string): Promise<string[]> {
    return [(await this.#ask<{ owner: string }>(`contexts/${context}`)).owner]
  }

  #ask<Answer>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return ask<Answer>(this.#at, path, query, patienceMs)
  }

  /** The turn of this agent that ended at this time. */
  async #blockOf(agent: string, endedAt: string): Promise<string[]> {
    const part = { limit: 20, timeoutMs: patienceMs }
    let looked = 0
    for await (const turn of readTurns(this.#at, threadOf(this.#at.space, agent), part)) {
      const { completed_at, reasoning } = turn
      // What ends a turn ends it at its own time.
      if (completed_at === endedAt && reasoning !== null && this.#isNew(reasoning)) {
        return reasoningBlock(reasoning, this.#style)
      }
      if (++looked === mostLooked) break
    }
    return []
  }

  #isNew({ session_id, thread_id, turn_number, tool_decisions }: TurnReasoning): boolean {
    const key = `${session_id} ${thread_id} ${turn_number}`
    if (tool_decisions.length <= (this.#told.get(key) ?? 0)) return false
    this.#told.set(key, tool_decisions.length)
    return true
  }
}

const isAnswer = ({ kind, context, correlationId }: AnyEnvelope): boolean =>
  kind === Kind.chat && context === undefined && correlationId !== undefined

/** Nothing where the gateway knows no such thing, or shows it to others alone. */
async function known(asked: Promise<string[]>): Promise<string[]> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') return []
    throw error
  }
}
