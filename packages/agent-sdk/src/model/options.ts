import { type MemoryBounds, resolveBounds } from '../agent/history.js'
import type { OwnTool } from '../agent/own-tool.js'
import type { InputSchema } from '../agent/schemas.js'
import type { ToolChoice } from '../agent/tool-choice.js'
import type { Turn } from '../agent/turn.js'
import { isAbort, isClosing, type TurnOptions } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import { defined } from '../client/defined.js'
import { Notice } from '../client/errors.js'
import { setLongTimeout } from '../client/wait.js'
import type { TranscriptStore } from '../transcript/store.js'

/**
 * How much of the thinking others see. `summary`: what the model says along with its calls, and why it makes them.
 * `thoughts`: also the reasoning summary of the provider. `trace`: also the raw chain of thought, visible only to this
 * participant and to those who may observe targeted envelopes.
 */
export type ReasoningDetail = 'summary' | 'thoughts' | 'trace'

/** The treatment of messages that no longer fit into the memory. */
export type Compaction = 'summary' | 'drop'

export interface AgentLimits {
  /** Answers of the model in one turn; default 20. */
  readonly steps?: number
  /** Tokens in one turn, of all requests and answers together, checked before tools are called; default 1,000,000. */
  readonly tokens?: number
  /** Milliseconds for one turn, waiting for approvals included; default 900,000. */
  readonly turnMs?: number
  /** Milliseconds in which nothing comes of a model, until it is given up; default 120,000. The run says so after half of them. */
  readonly stallMs?: number
  /** Milliseconds that a tool has to answer; default 60,000. */
  readonly toolMs?: number
  /** Characters of a tool's result that the model gets; of a longer one the middle is left out. Default 65,536. */
  readonly resultChars?: number
  /** Milliseconds that a proposal stays open for approval; default 600,000. */
  readonly approvalMs?: number
}

/**
 * What is kept of the exchanges with a model. `on`: reasoning, answers, calls and results, tokens, settings and errors, and of
 * prompts roles, sizes and hashes. `full`: prompts as well. `off`: nothing.
 */
export type TranscriptMode = (typeof transcriptModes)[number]
export const transcriptModes = ['on', 'full', 'off'] as const

export interface AgentOptions extends ModelOptions, Pick<TurnOptions, 'answers' | 'queue'> {
  /**
   * Which tools the model may call: `['files/read_*', '!files/write_*']`, and tools of this participant's own, as `tool` makes them,
   * which are offered to the space as well; `me/*` are those that it offers already. Default: these, and all of participants of the kind `mcp`.
   */
  readonly tools?: readonly (ToolChoice | OwnTool)[]
  /** A schema that answers have to fit, as `input` of a tool; what they say is their `data`. */
  readonly output?: InputSchema
  /** Other agents that the model may ask, and hand questions over to; default: all that have a description. */
  readonly colleagues?: readonly string[]
  /** Default: `thoughts`. */
  readonly reasoningDetail?: ReasoningDetail
  readonly limits?: AgentLimits
  /**
   * How much of the conversation before a turn the model receives as it was said: a number of messages, or bounds. Default:
   * `{ messages: 40, tokens: 20_000 }`; 0 = nothing.
   */
  readonly memory?: number | MemoryBounds
  /**
   * What becomes of older messages. `summary`, the default: the model writes notes on them, in a request of its own for each half of the
   * memory. `drop`: they are left out.
   */
  readonly compact?: Compaction
  /** The same as in `TurnOptions`; default 600,000. */
  readonly answerMissed?: number | false
  /** Turns at once; default: all that are asked for. */
  readonly concurrency?: number
  readonly clock?: Clock
  /** What is kept of the exchanges with the model; default: MEUP_TRANSCRIPT, else `on`. */
  readonly transcript?: TranscriptMode
  /** Where that goes; default: `.meup/transcripts/<participant>.db`. */
  readonly transcriptStore?: TranscriptStore
  /** Called with errors that do not fail the answer, such as a thought that could not be sent; default: prints them. */
  readonly onError?: (error: unknown, turn: Turn | undefined) => void
}

export const isOwnTool = (choice: ToolChoice | OwnTool): choice is OwnTool =>
  typeof choice === 'object' && 'handler' in choice

export type ResolvedOptions = Required<
  Omit<
    AgentOptions,
    | keyof ModelOptions
    | 'limits'
    | 'memory'
    | 'answers'
    | 'queue'
    | 'tools'
    | 'output'
    | 'colleagues'
    | 'transcript'
    | 'transcriptStore'
  >
> & {
  readonly limits: Required<AgentLimits>
  readonly memory: Required<MemoryBounds>
  readonly colleagues: AgentOptions['colleagues'] | undefined
}

/** An error that was put into words, as those of providers are, needs no stack. */
function printError(error: unknown): void {
  const isExplained = error instanceof Notice || (error instanceof Error && error.cause !== undefined)
  console.error('agent error:', isExplained ? error.message : error)
}

/** That the connection is over is no error: the agent's promise and the event `closed` tell it. */
export const resolveOptions = (options: AgentOptions, client: Pick<BaseClient, 'ended'>): ResolvedOptions => {
  const { reasoningDetail = 'thoughts', concurrency = Number.POSITIVE_INFINITY } = options
  const { compact = 'summary', answerMissed = 600_000 } = options
  const { clock = systemClock, onError: report = printError } = options
  const onError: ResolvedOptions['onError'] = (error, turn) => {
    if (isClosing(client, error, turn?.signal) || (turn !== undefined && isAbort(error, turn))) return
    report(error, turn)
  }
  const { colleagues } = options
  const bounds = { memory: resolveBounds(options.memory), limits: resolveLimits(options.limits) }
  return { reasoningDetail, concurrency, compact, answerMissed, clock, onError, colleagues, ...bounds }
}

const defaultLimits: Required<AgentLimits> = {
  steps: 20,
  tokens: 1e6,
  turnMs: 900_000,
  stallMs: 120_000,
  toolMs: 60_000,
  resultChars: 65_536,
  approvalMs: 600_000,
}

export const resolveLimits = (limits: AgentLimits = {}): Required<AgentLimits> => ({
  ...defaultLimits,
  ...defined(limits),
})

/**
 * A model of any provider of the `ai` package, version 7, or its name at the AI Gateway: `vendor/model`. Written down
 * here as far as it takes to tell one, so that these types need no other package.
 */
export type AgentModel =
  | string
  | {
      /** `v4` are those of version 7 of the package, which takes the others too. */
      readonly specificationVersion: 'v2' | 'v3' | 'v4'
      /** Such as `openai.responses`. */
      readonly provider: string
      readonly modelId: string
      readonly doStream: (options: never) => PromiseLike<unknown>
    }

type JsonValue = null | string | number | boolean | readonly JsonValue[] | JsonObject
type JsonObject = { readonly [key: string]: JsonValue | undefined }

/** What the `ai` package passes on to the provider, as it is. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  /** How often a request that failed is made again; default 2. */
  readonly maxRetries?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** By provider: `{ anthropic: { thinking: { type: 'enabled' } } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
}

export interface ModelOptions {
  readonly model: AgentModel
  /**
   * The address of a server as OpenAI's, such as `http://127.0.0.1:11434/v1`; `model` is the name of a model there. Needs
   * the package `@ai-sdk/openai-compatible`.
   */
  readonly baseURL?: string
  /** The key for `baseURL`; default: none. */
  readonly apiKey?: string | undefined
  /**
   * Models that answer where `model` is down, over its limit, or refuses its input, in this order. With a `baseURL`, names are those
   * of models there.
   */
  readonly fallback?: readonly AgentModel[]
  /** What the agent is for. */
  readonly instructions?: string
  readonly settings?: ModelSettings
  /** Whether the provider's reasoning is a summary for people to read; default: where that is known of it. */
  readonly reasoningIsSummary?: boolean
  /**
   * Whether the answer is shown while it is written; default: `true`, at a `baseURL` once its server has told a thought from a text, or
   * given an answer.
   */
  readonly live?: boolean
  /** Whether bare reasoning goes back to the provider with the calls; default: to those who ask for it. */
  readonly replayReasoning?: boolean
  /** Whether the model gets images and PDFs that tools give back; default: where the provider is known to take them. */
  readonly showMedia?: boolean
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `task` once after `ms`, unless the returned function is called first. */
  after(ms: number, task: () => void): () => void
}

export const systemClock: Clock = { now: () => Date.now(), after: setLongTimeout }
