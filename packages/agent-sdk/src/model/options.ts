import { omitUndefined } from '@meup/protocol'
import { type MemoryBounds, resolveBounds } from '../agent/history.js'
import type { OwnTool } from '../agent/own-tool.js'
import type { InputSchema } from '../agent/schemas.js'
import type { ToolChoice } from '../agent/tool-choice.js'
import type { Turn } from '../agent/turn.js'
import { isAbort, isClosing, type TurnOptions } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import { Notice } from '../client/errors.js'
import { setLongTimeout } from '../client/long-timeout.js'
import type { TranscriptStore } from '../transcript/store.js'

/**
 * How much reasoning other participants see. `summary`: only the text that precedes calls, and the reasons of calls.
 * `thoughts`: also the provider's summary of the reasoning. `trace`: also the raw reasoning, visible only to this participant
 * and holders of `observe.targeted`.
 */
export type ReasoningDetail = 'summary' | 'thoughts' | 'trace'

/** Handling of messages that no longer fit in the memory. */
export type Compaction = 'summary' | 'drop'

export interface AgentLimits {
  /** Maximum steps (outputs of the model) per turn; default 20. */
  readonly steps?: number
  /** Maximum tokens of all requests and outputs of a turn, checked before tools are called; default 1,000,000. */
  readonly tokens?: number
  /** Maximum tokens of all turns in 24 hours, including those before a restart; default: no limit. */
  readonly tokensPerDay?: number
  /** Maximum milliseconds per turn, including waits for approvals; default 900,000. */
  readonly turnMs?: number
  /**
   * Milliseconds without data after which a request to the model is aborted; default 120,000. After half of that time, a
   * thought reports the silence.
   */
  readonly stallMs?: number
  /** Milliseconds that a tool gets to answer; default 60,000. */
  readonly toolMs?: number
  /** Maximum characters of a tool result for the model; the middle of a longer result is cut. Default 65,536. */
  readonly resultChars?: number
  /** Milliseconds that a proposal stays open for approval; default 600,000. */
  readonly approvalMs?: number
}

/**
 * The content of the transcript. `on`: reasoning, answers, calls and results, tokens, settings and errors; of prompts only
 * roles, sizes and hashes. `full`: also complete prompts. `off`: no transcript.
 */
export type TranscriptMode = (typeof transcriptModes)[number]
export const transcriptModes = ['on', 'full', 'off'] as const

export interface AgentOptions extends ModelOptions, Pick<TurnOptions, 'answers' | 'queue'> {
  /**
   * The tools of the model: patterns such as `['files/read_*', '!files/write_*']`, and tools created with `tool()`, which are
   * also offered to the space. `me/*` selects the tools that this participant already offers. Default: own tools, and those of
   * participants of kind `mcp`.
   */
  readonly tools?: readonly (ToolChoice | OwnTool)[]
  /** A schema for answers, in the same form as `input` of a tool; the parsed answer becomes `data` of the chat. */
  readonly output?: InputSchema
  /** Ids of agents that the model may ask, or hand questions over to; default: all agents with a description. */
  readonly colleagues?: readonly string[]
  /** Default: `thoughts`. */
  readonly reasoningDetail?: ReasoningDetail
  readonly limits?: AgentLimits
  /**
   * How much of the earlier conversation the model gets verbatim: a number of messages, or bounds. Default: `{ messages: 40,
   * tokens: 20_000 }`; 0 = no earlier messages.
   */
  readonly memory?: number | MemoryBounds
  /**
   * Handling of older messages. `summary`, the default: the model summarizes them, with one request whenever half of the memory
   * is replaced. `drop`: they are omitted.
   */
  readonly compact?: Compaction
  /** Also answers questions that were missed in this many recent milliseconds, oldest first; default 600,000. `false`: none. */
  readonly answerMissed?: number | false
  /** Maximum concurrent turns; default: no limit. */
  readonly concurrency?: number
  readonly clock?: Clock
  /** The content of the transcript; default: MEUP_TRANSCRIPT, otherwise `on`. */
  readonly transcript?: TranscriptMode
  /** Stores the transcript; default: the file `.meup/transcripts/<participant>.db`. */
  readonly transcriptStore?: TranscriptStore
  /** Called with errors that do not prevent the answer, such as a thought that could not be sent; default: prints them. */
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

/** Prints an error; without its stack if its message is an explanation, like those of providers. */
function printError(error: unknown): void {
  const isExplained = error instanceof Notice || (error instanceof Error && error.cause !== undefined)
  if (isExplained) console.error('agent:', error.message)
  else console.error('agent error:', error)
}

/**
 * Applies defaults. `onError` ignores errors that follow from a closed connection, which the agent's promise and the event
 * `closed` report.
 */
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
  tokensPerDay: Number.POSITIVE_INFINITY,
  turnMs: 900_000,
  stallMs: 120_000,
  toolMs: 60_000,
  resultChars: 65_536,
  approvalMs: 600_000,
}

export const resolveLimits = (limits: AgentLimits = {}): Required<AgentLimits> => ({
  ...defaultLimits,
  ...omitUndefined(limits),
})

/**
 * A model of any provider of the `ai` package, version 7, or its name at the AI Gateway: `vendor/model`. Declared structurally,
 * so that these types do not depend on other packages.
 */
export type AgentModel =
  | string
  | {
      /** Version 7 of the package creates `v4`, and also accepts older ones. */
      readonly specificationVersion: 'v2' | 'v3' | 'v4'
      /** For example `openai.responses`. */
      readonly provider: string
      readonly modelId: string
      readonly doStream: (options: never) => PromiseLike<unknown>
    }

type JsonValue = null | string | number | boolean | readonly JsonValue[] | JsonObject
type JsonObject = { readonly [key: string]: JsonValue | undefined }

/** Settings for each request, which `ai` passes to the provider. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  /** Maximum retries of a failed request; default 2. */
  readonly maxRetries?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Options by provider: `{ anthropic: { thinking: { type: 'enabled' } } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
}

export interface ModelOptions {
  readonly model: AgentModel
  /**
   * Base address of a server with OpenAI's API, such as `http://127.0.0.1:11434/v1`; `model` is then the name of a model there.
   * Requires the package `@ai-sdk/openai-compatible`.
   */
  readonly baseURL?: string | undefined
  /** The API key for `baseURL`; default: none. */
  readonly apiKey?: string | undefined
  /**
   * Fallback models in order of preference, used when `model` is unavailable, over its limit, or refuses its input. With a
   * `baseURL`, names of models there.
   */
  readonly fallback?: readonly AgentModel[]
  /** The system prompt: purpose and instructions of the agent. */
  readonly instructions?: string
  readonly settings?: ModelSettings
  /**
   * Whether the provider's reasoning is a summary for readers; default: only for providers that are known to send summaries.
   */
  readonly reasoningIsSummary?: boolean
  /**
   * Whether the answer is shown while it is written; default: `true`. At a `baseURL`, only after its server has sent reasoning
   * in a separate field, or a complete answer.
   */
  readonly live?: boolean
  /** Whether unsigned reasoning is sent back to the provider with the calls; default: to providers that require it. */
  readonly replayReasoning?: boolean
  /** Whether the model gets images and PDFs of tool results; default: if its provider is known to accept them. */
  readonly showMedia?: boolean
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs `task` once after `ms`, unless the returned function is called first. */
  after(ms: number, task: () => void): () => void
}

export const systemClock: Clock = { now: () => Date.now(), after: setLongTimeout }
