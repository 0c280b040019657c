import { HttpClient, type HttpTarget } from '@meup/agent-sdk/http'
import {
  Bounded,
  getCancellation,
  getEnding,
  previewLines,
  reasoningBlock,
  type Style,
  type TurnReasoning,
} from '@meup/folds'
import { type AnyEnvelope, correlations, GATEWAY, Kind, ProtocolError } from '@meup/protocol'
import type { Following } from '../render/agent-lines.js'

/** Maximum concurrent requests for the reasoning of turns: other programs of the participant need some of those it may have. */
const maxConcurrentBlocks = 2
/** Maximum turns whose reasoning is read or waited for; that of further turns is not shown, so that the terminal keeps up. */
const maxBlocks = 20
/** Maximum wait for the gateway's response with a preview or the reasoning of a turn. */
const followTimeoutMs = 10_000
/** Recent turns that are searched for the one that has ended. */
const maxTurnsSearched = 100

interface LiveTurnOptions {
  readonly at: HttpTarget
  readonly style: Style
  /** Agents whose runs are already open when the user joins. */
  readonly atWork: readonly string[]
  /** Whether tool results are followed by a preview. */
  readonly previews: boolean
  /** Whether the reasoning is shown in full; otherwise one line names the command that shows it. */
  readonly isWhole: () => boolean
}

/** Reports the reasoning of turns that end while the conversation is open. */
export class LiveTurns {
  readonly #http: HttpClient
  readonly #style: Style
  readonly #previews: Previews | undefined
  readonly #isWhole: () => boolean
  readonly #inTurn = limitConcurrency(maxConcurrentBlocks)
  /** Participants that have called tools: only their responses can end a turn that used tools. */
  readonly #callers = new Bounded<true>(1000)
  /** Number of tool calls whose reasons were already printed, by turn: a turn is printed again only if it has more. */
  readonly #reported = new Bounded<number>(1000)
  #answerer: string | undefined
  /** Turns whose reasoning is read or waited for. */
  #blocks = 0

  constructor({ at, style, atWork, previews, isWhole }: LiveTurnOptions) {
    this.#http = new HttpClient(at, { timeoutMs: followTimeoutMs })
    this.#style = style
    this.#previews = previews ? new Previews(this.#http, style) : undefined
    this.#isWhole = isWhole
    for (const agent of atWork) this.#callers.set(agent, true)
  }

  /** The participant that answered last since the user joined. */
  get answerer(): string | undefined {
    return this.#answerer
  }

  /**
   * Returns the lines that follow an envelope: the preview of a tool result, and the reasoning of turns that the envelope ends.
   * A turn is reported again only if it continued with more tool calls. `undefined` = no lines.
   */
  onEnvelope(envelope: AnyEnvelope): Promise<Following> | undefined {
    const { kind, from, ts } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#callers.set(from, true)
    if (isAnswer(envelope)) this.#answerer = from
    const ended = this.#blocks < maxBlocks ? this.#mayEnd(envelope) : undefined
    if (ended !== undefined) this.#blocks++
    const blocks = ended?.then((agents) => this.#readBlocks(agents, ts)).finally(() => this.#blocks--)
    const previews = this.#previews?.onEnvelope(envelope)
    if (previews === undefined && blocks === undefined) return undefined
    return Promise.all([previews ?? [], blocks ?? []]).then(([preview, block]) => ({ preview, block }))
  }

  /** Agents whose turn the envelope may end; only the gateway knows if it did. */
  #mayEnd(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { kind, from, to = [], context = '' } = envelope
    if (isAnswer(envelope)) return Promise.resolve([from])
    if (kind === Kind.mcpResponse) return this.#callers.get(from) && Promise.resolve([from])
    if (kind === Kind.mcpRequest) return getCancellation(envelope.payload) && Promise.resolve([...to])
    if (kind === Kind.chatCancel) return this.#answering(correlations(envelope), from)
    if (kind !== Kind.reasoningConclusion && kind !== Kind.reasoningCancel) return undefined
    if (getEnding(envelope)[0] === 'completed') return undefined
    return from === GATEWAY ? ignoreNotFound(this.#readOwner(context)) : Promise.resolve([from])
  }

  /** Agents that have answered these chats or begun to. */
  async #answering(chats: readonly string[], asker: string): Promise<string[]> {
    const answers = await Promise.all(
      chats.map((correlationId) => this.#http.readLogPage({ correlationId, limit: 100 })),
    )
    const agents = new Set(answers.flatMap(({ envelopes }) => envelopes.map(({ from }) => from)))
    return [...agents].filter((agent) => agent !== asker)
  }

  async #readOwner(context: string): Promise<string[]> {
    const found = await this.#http.readContext(context)
    return 'owner' in found ? [found.owner] : []
  }

  async #readBlocks(agents: readonly string[], endedAt: string): Promise<string[]> {
    const read = (agent: string) => this.#inTurn(() => ignoreNotFound(this.#readBlock(agent, endedAt)))
    return (await Promise.all(agents.map(read))).flat()
  }

  /** The reasoning of the agent's turn that ended at this time. */
  async #readBlock(agent: string, endedAt: string): Promise<string[]> {
    let looked = 0
    for await (const turn of this.#http.readTurns(agent, { limit: 20, sizes: true })) {
      const { completed_at, reasoning } = turn
      // `completed_at` is the timestamp of the envelope that ended the turn.
      if (completed_at === endedAt && reasoning !== null && this.#isNew(reasoning)) {
        return this.#isWhole()
          ? reasoningBlock(reasoning, this.#style)
          : blockLine(reasoning, agent, this.#style)
      }
      if (++looked === maxTurnsSearched) break
    }
    return []
  }

  #isNew({ session_id, thread_id, turn_number, tool_decisions }: TurnReasoning): boolean {
    const key = `${session_id} ${thread_id} ${turn_number}`
    if (tool_decisions.length <= (this.#reported.get(key) ?? 0)) return false
    this.#reported.set(key, tool_decisions.length)
    return true
  }
}

/** A one-line summary of a turn whose calls were already shown. */
function blockLine({ turn_number, tool_decisions }: TurnReasoning, agent: string, style: Style): string[] {
  const count = tool_decisions.length
  if (count === 0) return []
  const tools = count === 1 ? '1 tool' : `${count} tools`
  const where = `/reasoning ${turn_number} @${agent}`
  return [style.section(`  ┄ Reasoning (turn ${turn_number}): ${tools} · ${where}`)]
}

const isAnswer = ({ kind, context, correlationId }: AnyEnvelope): boolean =>
  kind === Kind.chat && context === undefined && correlationId !== undefined

/** Replaces `not_found` by an empty list: the gateway has no such data, or this participant may not read it. */
async function ignoreNotFound(asked: Promise<string[]>): Promise<string[]> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') return []
    throw error
  }
}

/** Maximum concurrent preview requests, and previews that are read or waited for; further results get no preview. */
const [maxConcurrentPreviews, maxPreviews] = [2, 20]

/** Returns a function that runs at most `max` calls concurrently, first come, first served. */
function limitConcurrency(max: number): <Value>(act: () => Promise<Value>) => Promise<Value> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (act) => {
    if (running === max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

/** Previews of tool results, read from the gateway's audit, which masks secrets by the rules of the space. */
class Previews {
  readonly #http: HttpClient
  readonly #style: Style
  /** Ids of calls made in runs: only their results get a preview. */
  readonly #calls = new Bounded<true>(1000)
  readonly #inTurn = limitConcurrency(maxConcurrentPreviews)
  #asked = 0

  constructor(http: HttpClient, style: Style) {
    this.#http = http
    this.#style = style
  }

  /** Returns the preview if the envelope is the result of a known call. */
  onEnvelope(envelope: AnyEnvelope): Promise<string[]> | undefined {
    const { kind, id, seq = 0, context } = envelope
    if (kind === Kind.mcpRequest && context !== undefined) this.#calls.set(id, true)
    if (kind !== Kind.mcpResponse || this.#asked >= maxPreviews) return undefined
    if (!correlations(envelope).some((call) => this.#calls.get(call))) return undefined
    this.#asked++
    return this.#inTurn(() => this.#read(seq)).finally(() => this.#asked--)
  }

  async #read(seq: number): Promise<string[]> {
    const { value } = await this.#http.readAuditPages({ before: seq + 1, limit: 1 }).next()
    // A step without a turn belongs to a job (work that no message has asked for), whose results get no preview.
    const step = value?.steps.find((each) => each.seq === seq && each.turn_number !== null)
    return step === undefined ? [] : previewLines(step, this.#style)
  }
}
