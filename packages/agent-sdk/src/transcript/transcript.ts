import { omitUndefined } from '@meup/protocol'
import type { Format } from '../extract/index.js'
import { Chain, type ChainFilter, type LogEntry, type TranscriptRecord, toChain, toRecord } from './chain.js'
import {
  type ChainVerdict,
  type Commit,
  type CommitOptions,
  mustFollow,
  openCalls,
  verifyCommits,
} from './commit.js'
import { type CompileOptions, compile, type PromptMessage } from './compile.js'
import type {
  AssistantContent,
  Content,
  Priority,
  ReasoningContent,
  ToolContent,
  UserContent,
} from './content.js'
import { TranscriptError } from './errors.js'
import {
  type ChatResponse,
  type GenerateOptions,
  type GenerationConfig,
  generate,
  type ModelClient,
} from './generate.js'

export interface TranscriptOptions {
  /** The model that answers; absent: add answers with `assistant`. */
  readonly client?: ModelClient
  /** Whether reasoning is committed; default: true. */
  readonly commitReasoning?: boolean
  /** Options for each call of the client. */
  readonly config?: GenerationConfig
}

export interface OpenOptions extends TranscriptOptions {
  /** A transcript to continue, from `toJSON`. */
  readonly record?: TranscriptRecord
}

/** A conversation with a model, stored as commits: questions, thoughts, answers, and tool results. */
export class Transcript {
  readonly #chain: Chain
  readonly #options: TranscriptOptions
  #isBusy = false

  constructor(chain: Chain, options: TranscriptOptions) {
    this.#chain = chain
    this.#options = options
  }

  /** All commits, oldest first. */
  get commits(): readonly Commit[] {
    return this.#chain.commits
  }

  /** Hash of the last commit, which covers all earlier ones; `null` = there are no commits. */
  get head(): string | null {
    return this.#chain.head
  }

  user(text: string, { from, ...options }: CommitOptions & { from?: string } = {}): Commit<UserContent> {
    return this.#append({ content_type: 'user', text, ...omitUndefined({ from }) }, options)
  }

  /** Adds reasoning; add the answer afterwards. */
  reasoning(
    text: string,
    { format = 'parsed', ...options }: CommitOptions & { format?: Format } = {},
  ): Commit<ReasoningContent> {
    return this.#append({ content_type: 'reasoning', text, format }, options)
  }

  assistant(
    text: string,
    {
      toolCalls,
      replay,
      ...options
    }: CommitOptions & Partial<Pick<AssistantContent, 'toolCalls' | 'replay'>> = {},
  ): Commit<AssistantContent> {
    const parts = { ...(toolCalls && { toolCalls }), ...(replay && { replay }) }
    return this.#append({ content_type: 'assistant', text, ...parts }, options)
  }

  /** Adds the result of a tool call of the last answer. */
  tool(
    callId: string,
    text: string,
    { isError, ...options }: CommitOptions & { isError?: boolean } = {},
  ): Commit<ToolContent> {
    const name = openCalls(this.commits).find(({ id }) => id === callId)?.name ?? ''
    return this.#append({ content_type: 'tool', callId, name, text, ...(isError && { isError }) }, options)
  }

  /** Calls the model, and commits its reasoning and answer. If that fails, nothing is committed. */
  async generate(options: GenerateOptions = {}): Promise<ChatResponse> {
    const client = this.#freeClient()
    mustFollow({ content_type: 'assistant', text: '' }, this.commits)
    const { commitReasoning = true, config } = this.#options
    const settings = {
      ...options,
      reasoning: options.reasoning ?? commitReasoning,
      config: { ...config, ...options.config },
    }
    this.#isBusy = true
    try {
      return await generate(this.#chain, client, settings)
    } finally {
      this.#isBusy = false
    }
  }

  /** Adds a question, then calls `generate`. If that fails, the question stays, and `generate` retries. */
  async chat(text: string, options: GenerateOptions = {}): Promise<ChatResponse> {
    this.#freeClient()
    this.user(text)
    return this.generate(options)
  }

  /**
   * Sets whether prompts include a commit; the latest annotation counts. A skipped result is replaced by a placeholder if its
   * call is included, because providers refuse a call without a result.
   */
  annotate(hash: string, priority: Priority, reason?: string): void {
    this.#chain.annotate(hash, { priority, ...omitUndefined({ reason }) })
  }

  /** The messages for calling a model now; without reasoning unless requested. */
  compile(options: CompileOptions = {}): PromptMessage[] {
    return compile(this.#chain.log(), { provider: this.#options.client?.provider, ...options })
  }

  /** The commits with their annotations, oldest first. Throws `unknown_commit`. */
  log(filter: ChainFilter = {}): LogEntry[] {
    return this.#chain.log(filter)
  }

  /** Verifies that each commit matches its hash and, with `head`, that none is missing at the end. */
  verify(head?: string): ChainVerdict {
    return verifyCommits(this.commits, head)
  }

  /** Converts the transcript to JSON, for `openTranscript`. */
  toJSON(): TranscriptRecord {
    return toRecord(this.#chain)
  }

  #append<C extends Content>(content: C, options: CommitOptions): Commit<C> {
    this.#mustBeFree()
    mustFollow(content, this.commits)
    return this.#chain.append(content, options)
  }

  #freeClient(): ModelClient {
    this.#mustBeFree()
    const { client } = this.#options
    if (client === undefined) throw new TranscriptError('no_client', {})
    return client
  }

  /** Throws while the model is being called. */
  #mustBeFree(): void {
    if (this.#isBusy) throw new TranscriptError('busy', {})
  }
}

/** Creates a transcript, or continues `record`. Rejects a malformed or changed one with a `TranscriptError`. */
export const openTranscript = ({ record, ...options }: OpenOptions = {}): Transcript =>
  new Transcript(record === undefined ? new Chain() : toChain(record), options)
