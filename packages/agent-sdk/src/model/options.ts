import { omitUndefined } from '@meup/protocol'
import { type MemoryBounds, resolveBounds } from '../agent/history.js'
import type { OwnTool } from '../agent/own-tool.js'
import type { InputSchema } from '../agent/schemas.js'
import type { ToolChoice } from '../agent/tool-choice.js'
import type { Turn } from '../agent/turn.js'
import { isAbort, isClosing, type TurnOptions } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import { Notice } from '../client/errors.js'
import { setLongTimeout } from '../client/wait.js'
import type { TranscriptStore } from '../transcript/store.js'

/**
 * How much reasoning others see. `summary`: the text with calls and their reasons. `thoughts`: also the reasoning summary of
 * the provider. `trace`: also the raw chain of thought, visible only to this participant and holders of `observe.targeted`.
 */
export type ReasoningDetail = 'summary' | 'thoughts' | 'trace'

/** The treatment of messages that no longer fit into the memory. */
export type Compaction = 'summary' | 'drop'

export interface AgentLimits {
  /** Answers of the model per turn; default 20. */
  readonly steps?: number
  /** Tokens of all requests and answers of a turn, checked before tools are called; default 1,000,000. */
  readonly tokens?: number
  /** Tokens of all turns in 24 hours, also of those before a restart; default: no limit. */
  readonly tokensPerDay?: number
  /** Milliseconds per turn, including waits for approvals; default 900,000. */
  readonly turnMs?: number
  /** Milliseconds of silence after which a model is given up; default 120,000. The run mentions the silence after half of them. */
  readonly stallMs?: number
  /** Milliseconds for a tool to answer; default 60,000. */
  readonly toolMs?: number
  /** Characters of a tool result for the model; the middle of a longer one is cut. Default 65,536. */
  readonly resultChars?: number
  /** Milliseconds that a proposal stays open for approval; default 600,000. */
  readonly approvalMs?: number
}

/**
 * Content of the transcript. `on`: reasoning, answers, calls and results, tokens, settings and errors, and of prompts roles,
 * sizes and hashes. `full`: also complete prompts. `off`: nothing.
 */
export type TranscriptMode = (typeof transcriptModes)[number]
export const transcriptModes = ['on', 'full', 'off'] as const

export interface AgentOptions extends ModelOptions, Pick<TurnOptions, 'answers' | 'queue'> {
  /**
   * The tools of the model: patterns such as `['files/read_*', '!files/write_*']`, and own tools made by `tool`, which are
   * offered to the space as well; `me/*` are those already offered. Default: own tools, and those of participants of kind
   * `mcp`.
   */
  readonly tools?: readonly (ToolChoice | OwnTool)[]
  /** A schema for answers, like `input` of a tool; the parsed answer becomes their `data`. */
  readonly output?: InputSchema
  /** Agents that the model may ask, or hand questions over to; default: all with a description. */
  readonly colleagues?: readonly string[]
  /** Default: `thoughts`. */
  readonly reasoningDetail?: ReasoningDetail
  readonly limits?: AgentLimits
  /**
   * How much of the earlier conversation the model gets verbatim: a number of messages, or bounds. Default: `{ messages: 40,
   * tokens: 20_000 }`; 0 = nothing.
   */
  readonly memory?: number | MemoryBounds
  /**
   * Handling of older messages. `summary`, the default: the model summarizes them, with a request per half of the memory.
   * `drop`: omitted.
   */
  readonly compact?: Compaction
  /** Like in `TurnOptions`; default 600,000. */
  readonly answerMissed?: number | false
  /** Concurrent turns; default: all. */
  readonly concurrency?: number
  readonly clock?: Clock
  /** Content of the transcript; default: MEUP_TRANSCRIPT, otherwise `on`. */
  readonly transcript?: TranscriptMode
  /** The store of the transcript; default: `.meup/transcripts/<participant>.db`. */
  readonly transcriptStore?: TranscriptStore
  /** Called with errors that do not fail the answer, such as an unsent thought; default: prints them. */
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

/** Errors with an explaining message, like those of providers, are printed without a stack. */
function printError(error: unknown): void {
  const isExplained = error instanceof Notice || (error instanceof Error && error.cause !== undefined)
  console.error('agent error:', isExplained ? error.message : error)
}

/** A closed connection is not reported as an error: the agent's promise and the event `closed` do. */
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
 * so that these types need no other package.
 */
export type AgentModel =
  | string
  | {
      /** `v4` are models of version 7 of the package, which accepts the others as well. */
      readonly specificationVersion: 'v2' | 'v3' | 'v4'
      /** For example `openai.responses`. */
      readonly provider: string
      readonly modelId: string
      readonly doStream: (options: never) => PromiseLike<unknown>
    }

type JsonValue = null | string | number | boolean | readonly JsonValue[] | JsonObject
type JsonObject = { readonly [key: string]: JsonValue | undefined }

/** Settings that `ai` passes to the provider. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  /** Retries of a failed request; default 2. */
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
   * The address of a server as OpenAI's, such as `http://127.0.0.1:11434/v1`; `model` is the name of a model there. Needs
   * the package `@ai-sdk/openai-compatible`.
   */
  readonly baseURL?: string | undefined
  /** The key for `baseURL`; default: none. */
  readonly apiKey?: string | undefined
  /**
   * Fallback models in this order, for when `model` is down, over its limit, or refuses its input. With a `baseURL`, names of
   * models there.
   */
  readonly fallback?: readonly AgentModel[]
  /** The purpose and instructions of the agent. */
  readonly instructions?: string
  readonly settings?: ModelSettings
  /** Whether the provider's reasoning is a summary for readers; default: if known to be. */
  readonly reasoningIsSummary?: boolean
  /**
   * Whether the answer is shown while it is written; default: `true`; at a `baseURL` once its server has separated a thought
   * from a text, or given an answer.
   */
  readonly live?: boolean
  /** Whether bare reasoning is sent back to the provider with the calls; default: for providers that require it. */
  readonly replayReasoning?: boolean
  /** Whether the model gets images and PDFs in tool results; default: if the provider is known to accept them. */
  readonly showMedia?: boolean
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `task` once after `ms`, unless the returned function is called first. */
  after(ms: number, task: () => void): () => void
}

export const systemClock: Clock = { now: () => Date.now(), after: setLongTimeout }
