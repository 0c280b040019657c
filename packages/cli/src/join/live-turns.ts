import type { DialRequest } from '@meup/agent-sdk'
import {
  Bounded,
  getCancellation,
  getEnding,
  previewLines,
  type ReasoningStep,
  reasoningBlock,
  type Style,
  type TurnReasoning,
} from '@meup/folds'
import { type AnyEnvelope, correlations, GATEWAY, Kind, ProtocolError } from '@meup/protocol'
import { getJson, getThreadId } from '../lib/http-client.js'
import { readTurns } from '../lib/turns.js'

/** Time to wait for the lines that follow an envelope. */
const followTimeoutMs = 10_000
/** Number of recent turns searched for one that has ended. */
const maxTurnsSearched = 100

interface LiveTurnOptions {
  readonly at: DialRequest
  readonly style: Style
  /** Owners of the runs that go on as one comes. */
  readonly atWork: readonly string[]
  /** Whether tool results are followed by a preview. */
  readonly previews: boolean
}

/** Reports the reasoning of turns that end while the conversation is open. */
export class LiveTurns {
  readonly #at: DialRequest
  readonly #style: Style
  readonly #previews: Previews | undefined
  /** Participants that have called tools: only their responses can end a turn with tools. */
  readonly #callers = new Bounded<true>(1000)
  /** Number of tools of each reported turn. */
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
  onEnvelope(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { kind, from, ts } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#callers.set(from, true)
    if (isAnswer(envelope)) this.#answerer = from
    const blocks = this.#mayEnd(envelope)?.then(async (agents) => {
      const lines = await Promise.all(agents.map((agent) => known(this.#blockOf(agent, ts))))
      return lines.flat()
    })
    const parts = [this.#previews?.onEnvelope(envelope, followTimeoutMs), blocks].filter(
      (part) => part !== undefined,
    )
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

  /** Agents that have begun to answer one of these chats. */
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
    return getJson<Answer>(this.#at, path, query, followTimeoutMs)
  }

  /** The turn of this agent that ended at this time. */
  async #blockOf(agent: string, endedAt: string): Promise<string[]> {
    const part = { limit: 20, timeoutMs: followTimeoutMs }
    let looked = 0
    for await (const turn of readTurns(this.#at, getThreadId(this.#at.space, agent), part)) {
      const { completed_at, reasoning } = turn
      // What ends a turn ends it at its own time.
      if (completed_at === endedAt && reasoning !== null && this.#isNew(reasoning)) {
        return reasoningBlock(reasoning, this.#style)
      }
      if (++looked === maxTurnsSearched) break
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

/** Limits concurrent requests; with more results than that, previews are skipped. */
const maxConcurrentPreviews = 16

type Step = Pick<ReasoningStep, 'phase' | 'content'> & {
  readonly seq: number
  readonly turn_number: number | null
}

/** The beginning of what tools gave back, as the gateway's audit has it: masked by the rules of the space. */
class Previews {
  readonly #at: DialRequest
  readonly #style: Style
  /** Calls in runs. */
  readonly #calls = new Bounded<true>(1000)
  #asked = 0

  constructor(at: DialRequest, style: Style) {
    this.#at = at
    this.#style = style
  }

  /** Takes the next envelope; gives the lines to follow it, where it is the result of a call that was seen. */
  onEnvelope(envelope: AnyEnvelope, timeoutMs: number): Promise<string[]> | undefined {
    const { kind, id, seq = 0, context } = envelope
    if (kind === Kind.mcpRequest && context !== undefined) this.#calls.set(id, true)
    if (kind !== Kind.mcpResponse || this.#asked >= maxConcurrentPreviews) return undefined
    if (!correlations(envelope).some((call) => this.#calls.get(call))) return undefined
    this.#asked++
    return this.#read(seq, timeoutMs).finally(() => this.#asked--)
  }

  async #read(seq: number, timeoutMs: number): Promise<string[]> {
    const query = { before: `${seq + 1}`, limit: '1' }
    const { steps } = await getJson<{ steps: readonly Step[] }>(this.#at, 'audit', query, timeoutMs)
    // Results of jobs are shown elsewhere.
    const step = steps.find((each) => each.seq === seq && each.turn_number !== null)
    return step === undefined ? [] : previewLines(step, this.#style)
  }
}
