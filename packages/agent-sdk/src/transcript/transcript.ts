import type { Format } from '../extract/index.js'
import { Chain, type LogEntry, type LogFilter, type TranscriptRecord, toChain, toRecord } from './chain.js'
import {
  type Commit,
  type CommitOptions,
  mustFollow,
  openCalls,
  type Verdict,
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
  /** Who answers; a transcript without one is written by hand. */
  readonly client?: ModelClient
  /** Whether the reasoning that a response has is committed; default: true. */
  readonly commitReasoning?: boolean
  /** For the client, at every call. */
  readonly config?: GenerationConfig
}

export interface OpenOptions extends TranscriptOptions {
  /** What `toJSON` gave. */
  readonly record?: TranscriptRecord
}

/** What a conversation with a model was, commit by commit: questions, thoughts, answers, results of tools. */
export class Transcript {
  readonly #chain: Chain
  readonly #options: TranscriptOptions
  #isBusy = false

  constructor(chain: Chain, options: TranscriptOptions) {
    this.#chain = chain
    this.#options = options
  }

  /** Oldest first. */
  get commits(): readonly Commit[] {
    return this.#chain.commits
  }

  /** Hash of the last commit, which covers all commits before it. `null` = there is none. */
  get head(): string | null {
    return this.#chain.head
  }

  user(text: string, { from, ...options }: CommitOptions & { from?: string } = {}): Commit<UserContent> {
    return this.#append({ content_type: 'user', text, ...(from !== undefined && { from }) }, options)
  }

  /** What was thought before the answer that is committed next. */
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

  /** The result of a call that the last answer asks for. */
  tool(
    callId: string,
    text: string,
    { isError, ...options }: CommitOptions & { isError?: boolean } = {},
  ): Commit<ToolContent> {
    const name = openCalls(this.commits).find(({ id }) => id === callId)?.name ?? ''
    return this.#append({ content_type: 'tool', callId, name, text, ...(isError && { isError }) }, options)
  }

  /** Asks the model, and commits what it thought and what it answered. Where that fails, nothing is committed. */
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

  /** Says something, then `generate`. Where that fails, what was said stays: `generate` tries again. */
  async chat(text: string, options: GenerateOptions = {}): Promise<ChatResponse> {
    this.#freeClient()
    this.user(text)
    return this.generate(options)
  }

  /**
   * Decides whether prompts show a commit; the last word on it counts. A result that is skipped leaves a note in its
   * place where its call is shown, since providers take none without the other.
   */
  annotate(hash: string, priority: Priority, reason?: string): void {
    this.#chain.annotate(hash, { priority, ...(reason !== undefined && { reason }) })
  }

  /** The messages that a model would receive now, without reasoning unless it is asked for. */
  compile(options: CompileOptions = {}): PromptMessage[] {
    return compile(this.#chain.log(), { provider: this.#options.client?.provider, ...options })
  }

  /** The commits, oldest first, with what is known beside them. Throws `unknown_commit`. */
  log(filter: LogFilter = {}): LogEntry[] {
    return this.#chain.log(filter)
  }

  /** Whether each commit is what its hash says, and, where `head` is given, whether all of them are there. */
  verify(head?: string): Verdict {
    return verifyCommits(this.commits, head)
  }

  /** All of it, for `openTranscript`. */
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
    if (client === undefined) throw new TranscriptError('no_client', 'this transcript has no client to ask')
    return client
  }

  /** What comes of a call follows what was asked. */
  #mustBeFree(): void {
    if (this.#isBusy) throw new TranscriptError('busy', 'the model is being asked')
  }
}

/**
 * A new transcript, or one that goes on where `record` ended. Throws `invalid_record` where that is none, or was
 * changed.
 */
export const openTranscript = ({ record, ...options }: OpenOptions = {}): Transcript =>
  new Transcript(record === undefined ? new Chain() : toChain(record), options)
