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

export interface Place {
  readonly space: string
  readonly epoch: string
}

/** Turns that end while one looks on. Their numbers are the gateway's; how much came back of a tool, one saw. */
export class LiveTurns {
  readonly #at: DialRequest
  readonly #style: Style
  #fold: TurnFold
  readonly #told = new Map<string, Decisions>()
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
   * Takes the next envelope. Where it answers what began a turn with tools, gives the lines to follow it, once for each
   * turn; `undefined` where it does not.
   */
  take(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { id, kind, from, context, correlationId } = envelope
    const changed = this.#fold.apply(envelope).turns
    const ended = changed.find(({ agent, answer }) => agent === from && answer?.source.id === id)
    const isAnswer = kind === Kind.chat && context === undefined && correlationId !== undefined
    if (isAnswer) this.#answerer = from
    if (ended === undefined) return isAnswer ? this.#blockAfter(envelope, []) : undefined // It began before.
    const seen = turnDetail(ended)?.reasoning?.tool_decisions ?? []
    return seen.length === 0 ? undefined : this.#blockAfter(envelope, seen)
  }

  /** With how much each tool gave back, as far as that was seen. */
  detailed(turn: TurnInfo): ShownTurn {
    const { reasoning } = turn
    return reasoning ? { ...turn, reasoning: sized(reasoning, this.#told.get(keyOf(reasoning)) ?? []) } : turn
  }

  async #blockAfter({ from, ts }: AnyEnvelope, seen: Decisions): Promise<string[]> {
    const thread = threadOf(this.#at.space, from)
    try {
      let looked = 0
      for await (const turn of readTurns(this.#at, thread, { limit: 20, timeoutMs: patienceMs })) {
        const { completed_at, reasoning } = turn
        // An answer ends its turn at the time of the answer.
        if (completed_at === ts && reasoning && this.#isNew(reasoning, seen)) {
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
    if (this.#told.has(key)) return false
    this.#told.set(key, seen)
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
