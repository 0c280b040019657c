import { omitUndefined } from '@meup/protocol'
import type { ExtractedCall } from '../extract/index.js'
import type { LogEntry } from './chain.js'
import {
  type AssistantContent,
  contentHints,
  type PromptContent,
  type Replay,
  type SentMessage,
} from './content.js'

export interface CompileOptions extends ReplayOptions {
  /** Whether prompts include reasoning that is not annotated; default: false. */
  readonly includeReasoning?: boolean
  /**
   * Maximum characters of texts and calls; default: no limit. If they exceed it, commits before the last question are omitted:
   * lowest `compression_priority` first, then oldest first. Pinned commits are never omitted. So the prompt may still exceed
   * the limit.
   */
  readonly maxChars?: number
}

/** The messages for the next call of the model; empty if there are no commits. */
export function compile(entries: readonly LogEntry[], options: CompileOptions = {}): PromptMessage[] {
  const { maxChars = Number.POSITIVE_INFINITY } = options
  return shorten(entries, maxChars, (without) => compileWithout(without, entries, options))
}

/** The messages of a finished turn of an agent: its prompt as far as it is stored, then its answers and results. */
export function compileTurn(
  entries: readonly LogEntry[],
  options: Pick<CompileOptions, 'includeReasoning'> = {},
): SaidMessage[] {
  const isFirst = (entry: LogEntry): boolean => isPrompt(entry) && entry.commit.content.earlier === 0
  const from = Math.max(0, entries.findLastIndex(isFirst))
  return entries.slice(from).flatMap((entry, at) => {
    if (!isPrompt(entry)) return []
    // Later prompts repeat messages that are commits already; only their user messages are new.
    const said = entry.commit.content.messages.filter(({ role }) => at === 0 || role === 'user')
    const next = entries.slice(from + at + 1)
    const end = next.findIndex(isPrompt)
    const came = compile(end < 0 ? next : next.slice(0, end), options)
    return [...said.map(readSent), ...came.map(toSaid)]
  })
}

/** A message as a transcript stores it. `text` gives only the size of content that the transcript does not keep. */
interface SaidMessage extends Pick<PromptMessage, 'role' | 'text'> {
  readonly toolCalls?: readonly ExtractedCall[]
}

function toSaid(message: PromptMessage): SaidMessage {
  const { role, text } = message
  const calls = message.type === 'assistant' ? message.toolCalls : undefined
  return { role, text, ...(calls && { toolCalls: calls }) }
}

const isPrompt = (entry: LogEntry): entry is LogEntry & { commit: { content: PromptContent } } =>
  entry.commit.content.content_type === 'prompt'

function readSent({ role, chars, message }: SentMessage): SaidMessage {
  const { content } = (message ?? {}) as { content?: unknown }
  const text = content === undefined ? `(${chars} characters, which are not kept)` : textOf(content)
  return { role: role as PromptMessage['role'], text }
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content))

function compileWithout(
  without: ReadonlySet<string>,
  entries: readonly LogEntry[],
  options: CompileOptions,
): PromptMessage[] {
  const messages: PromptMessage[] = []
  let asked: ReadonlySet<string> = new Set()
  for (const entry of entries) {
    const { hash, content } = entry.commit
    const isShown = shows(entry, options) && !without.has(hash)
    if (content.content_type === 'tool') {
      if (!asked.has(content.callId)) continue
      const { content_type: type, ...said } = content
      const role = contentHints.tool.default_role
      messages.push({ hash, role, type, ...said, ...(!isShown && { text: leftOut }) })
    } else if (content.content_type === 'assistant') {
      const isSaid = isShown && !isSilent(content)
      asked = new Set(isSaid ? content.toolCalls?.map(({ id }) => id) : [])
      if (isSaid) answer(messages, hash, content, options)
    } else if (isShown && content.content_type === 'user') {
      const { content_type: type, ...said } = content
      messages.push({ hash, role: contentHints.user.default_role, type, ...said })
    } else if (isShown && content.content_type === 'reasoning') {
      const { content_type: type, text, from } = content
      const role = from === undefined ? contentHints.reasoning.default_role : 'user'
      messages.push({ hash, role, type, text, ...omitUndefined({ from }) })
    }
  }
  return messages
}

/** Whether a prompt includes a commit. Annotations take precedence over `includeReasoning`. */
const shows = ({ commit, priority, annotation }: LogEntry, { includeReasoning = false }: CompileOptions) =>
  priority !== 'skip' ||
  (includeReasoning && commit.content.content_type === 'reasoning' && annotation === undefined)

/** Whether an answer consists of reasoning only: providers refuse such empty messages. */
const isSilent = ({ text, toolCalls = [] }: Readonly<AssistantContent>): boolean =>
  text.trim() === '' && toolCalls.length === 0

/**
 * Adds an answer. Removes the message before it if the replayed items contain the same thought: no message may be between a
 * thought and its calls.
 */
function answer(
  messages: PromptMessage[],
  hash: string,
  content: Readonly<AssistantContent>,
  options: CompileOptions,
): void {
  const { content_type: type, text, toolCalls } = content
  const replay = replayed(content, options)
  if (replay?.carries !== undefined && messages.at(-1)?.hash === replay.carries) messages.pop()
  const parts = { ...(toolCalls && { toolCalls }), ...(replay && { replay }) }
  messages.push({ hash, role: contentHints.assistant.default_role, type, text, ...parts })
}

/** A message to a model; `hash`: its commit. The client determines its form in a request. */
export type PromptMessage = { readonly hash: string } & (
  | { readonly type: 'user'; readonly role: 'user'; readonly text: string; readonly from?: string }
  | {
      readonly type: 'reasoning'
      /** `user` for reasoning of a named speaker. */
      readonly role: 'assistant' | 'user'
      readonly text: string
      readonly from?: string
    }
  | {
      readonly type: 'assistant'
      readonly role: 'assistant'
      readonly text: string
      readonly toolCalls?: readonly ExtractedCall[]
      /** Items that the client has to send unchanged and in this order, not as text. */
      readonly replay?: Replay
    }
  | {
      readonly type: 'tool'
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly text: string
      readonly isError?: boolean
    }
)

/**
 * Which signed or encrypted items are sent back to their provider. `required`: those of answers with calls. Anthropic, Bedrock,
 * Gemini, OpenAI, OpenRouter and xAI require them until the question is answered, and accept them later; DeepSeek requires them
 * in all later requests. `all`: also those of final answers.
 */
export type ReplayPolicy = 'required' | 'all' | 'none'

interface ReplayOptions {
  /** Default: `required`. */
  readonly replay?: ReplayPolicy
  /** The provider that the prompt is for; items of other providers are omitted. */
  readonly provider?: string | undefined
}

/** Returns the items of an answer that are sent back unchanged. */
function replayed(
  { replay, toolCalls = [] }: Readonly<AssistantContent>,
  { replay: policy = 'required', provider }: ReplayOptions,
): Replay | undefined {
  if (policy === 'none' || (policy === 'required' && toolCalls.length === 0)) return undefined
  const isForeign = provider !== undefined && replay?.provider !== undefined && replay.provider !== provider
  return isForeign ? undefined : replay
}

/** Replaces the text of an omitted result, because providers refuse a call without a result. */
const leftOut = '[left out]'

/** Omits as few commits as necessary to reach the limit, or all that may be omitted. */
function shorten(
  entries: readonly LogEntry[],
  maxChars: number,
  compileWithout: (hashes: ReadonlySet<string>) => PromptMessage[],
): PromptMessage[] {
  const whole = compileWithout(new Set())
  if (countChars(whole) <= maxChars) return whole
  const expendable = leastFirst(entries)
  const without = (count: number) => compileWithout(new Set(expendable.slice(0, count)))
  let [tooFew, enough] = [0, expendable.length]
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2)
    if (countChars(without(middle)) <= maxChars) enough = middle
    else tooFew = middle
  }
  return without(enough)
}

/**
 * Hashes of the commits that may be omitted, in this order. The sort is stable, so that older ones of equal priority come
 * first.
 */
function leastFirst(entries: readonly LogEntry[]): string[] {
  const question = entries.findLastIndex(({ commit }) => commit.content.content_type === 'user')
  return entries
    .slice(0, Math.max(question, 0))
    .filter(({ commit: { content }, priority }) => {
      const isShort = content.content_type === 'tool' && content.text.length <= leftOut.length
      return priority !== 'pinned' && !isShort
    })
    .map(({ commit: { hash, content } }) => ({ hash, ...contentHints[content.content_type] }))
    .sort((a, b) => a.compression_priority - b.compression_priority)
    .map(({ hash }) => hash)
}

const countChars = (messages: readonly PromptMessage[]): number =>
  messages.reduce((sum, message) => {
    const calls = message.type === 'assistant' ? message.toolCalls : undefined
    return sum + message.text.length + (calls === undefined ? 0 : JSON.stringify(calls).length)
  }, 0)
