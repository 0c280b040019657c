import type { DialRequest } from '@meup/agent-sdk'
import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import {
  createTurnFold,
  type DetailedDecision,
  reasoningBlock,
  type ShownReasoning,
  type ShownTurn,
  type Style,
  type TurnFold,
  type TurnInfo,
  type TurnReasoning,
  turnDetail,
} from '@meup/views'
import { readTurns, threadOf } from '../reasoning/read-turns.js'

/** Milliseconds that the conversation waits for why the tools of a turn were called. */
const patienceMs = 3000
/** Turns among which an answered one is looked for: so many more may have begun since. */
const mostLooked = 100
/** Turns of which it is remembered how much their tools gave back. */
const remembered = 1000

type Decisions = readonly DetailedDecision[]

/** What was told of a turn. */
interface Told {
  readonly seen: Decisions
  /** Tools that its block had. */
  readonly tools: number
}

export interface Place {
  readonly space: string
  readonly epoch: string
}

/** Turns that end while one looks on. Their numbers are the gateway's; how much came back of a tool, one saw. */
export class LiveTurns {
  readonly #at: DialRequest
  readonly #style: Style
  #fold: TurnFold
  readonly #told = new Map<string, Told>()
  #answerer: string | undefined

  constructor(at: DialRequest, place: Place, style: Style) {
    this.#at = at
    this.#style = style
    this.#fold = createTurnFold(place)
  }

  /** Who has answered last while one looked on. */
  get answerer(): string | undefined {
    return this.#answerer
  }

  /** The log is another one now. */
  restart(place: Place): void {
    this.#fold = createTurnFold(place)
    this.#told.clear()
  }

  /**
   * Takes the next envelope. Where it ends turns with tools, by an answer or without one, gives the lines to follow it,
   * once for each turn, unless it went on after that; `undefined` where it ends none.
   */
  take(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { id, kind, from, ts, context, correlationId } = envelope
    const changed = this.#fold.apply(envelope).turns
    const isAnswer = kind === Kind.chat && context === undefined && correlationId !== undefined
    if (isAnswer) this.#answerer = from
    const isKnown = changed.some(({ agent, answer }) => agent === from && answer?.source.id === id)
    if (isAnswer && !isKnown) return this.#blockOf(from, ts, []) // It began before.
    const blocks = changed.flatMap((turn) => {
      const seen = turnDetail(turn)?.reasoning?.tool_decisions ?? []
      return turn.completedAt === ts && seen.length > 0 ? [this.#blockOf(turn.agent, ts, seen)] : []
    })
    return blocks.length === 0 ? undefined : Promise.all(blocks).then((lines) => lines.flat())
  }

  /** With how much each tool gave back, as far as that was seen. */
  detailed(turn: TurnInfo): ShownTurn {
    const { reasoning } = turn
    return reasoning
      ? { ...turn, reasoning: sized(reasoning, this.#told.get(keyOf(reasoning))?.seen ?? []) }
      : turn
  }

  /** The turn of this agent that ended at this time. */
  async #blockOf(agent: string, endedAt: string, seen: Decisions): Promise<string[]> {
    const thread = threadOf(this.#at.space, agent)
    try {
      let looked = 0
      for await (const turn of readTurns(this.#at, thread, { limit: 20, timeoutMs: patienceMs })) {
        const { completed_at, reasoning } = turn
        // What ends a turn ends it at its own time.
        if (completed_at === endedAt && reasoning && this.#isNew(reasoning, seen)) {
          return reasoningBlock(sized(reasoning, seen), this.#style)
        }
        if (++looked === mostLooked) break
      }
    } catch (error) {
      const isUnknown = error instanceof ProtocolError && error.code === 'not_found'
      if (!isUnknown) throw error
    }
    return []
  }

  #isNew(reasoning: TurnReasoning, seen: Decisions): boolean {
    const key = keyOf(reasoning)
    const tools = reasoning.tool_decisions.length
    if (tools <= (this.#told.get(key)?.tools ?? 0)) return false
    this.#told.set(key, { seen, tools })
    if (this.#told.size > remembered) this.#told.delete(this.#told.keys().next().value ?? '')
    return true
  }
}

const keyOf = ({ thread_id, turn_number }: TurnReasoning): string => `${thread_id} ${turn_number}`

function sized(reasoning: TurnReasoning, seen: Decisions): ShownReasoning {
  const { tool_decisions } = reasoning
  const isSame =
    seen.length === tool_decisions.length &&
    seen.every(({ tool_name }, at) => tool_name === tool_decisions[at]?.tool_name)
  if (!isSame) return reasoning
  return {
    ...reasoning,
    tool_decisions: tool_decisions.map((decision, at) => ({ ...decision, size: seen[at]?.size ?? null })),
  }
}
