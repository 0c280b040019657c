import { omitUndefined } from '@meup/protocol'
import {
  type ExtractedCall,
  type Extraction,
  extractReasoning,
  type Format,
  type FoundReasoning,
  reasoningBy,
} from '../extract/index.js'
import { countMatches, record, records } from '../extract/json.js'
import { readProviderUsage } from '../extract/usage.js'
import type { Chain } from './chain.js'
import { type Commit, seal } from './commit.js'
import { type CompileOptions, compile, type PromptMessage } from './compile.js'
import type { AssistantContent, ReasoningContent, Replay, Usage } from './content.js'
import { TranscriptError } from './errors.js'

export interface GenerateOptions extends Omit<CompileOptions, 'provider'> {
  /** Whether the reasoning of this response is committed; default: as set for the transcript. */
  readonly reasoning?: boolean
  /** Options for the client, in addition to those of the transcript. */
  readonly config?: GenerationConfig
}

/** The response of a model, and what was committed. */
export interface ChatResponse {
  /** The answer, without reasoning. */
  readonly text: string
  /** The reasoning, even if it is not committed; `null` = none. */
  readonly reasoning: string | null
  readonly reasoningCommit: Commit<ReasoningContent> | null
  readonly usage: Usage | null
  /** The commit of the answer. */
  readonly commit: Commit<AssistantContent>
  readonly generationConfig: GenerationConfig
  /** The messages that were sent to the model. */
  readonly prompt: readonly PromptMessage[]
  /** Tool calls of the answer. Add their results with `tool` before the next call of the model. */
  readonly toolCalls: readonly ExtractedCall[]
  /** The client's response as received; it is not stored. */
  readonly rawResponse: unknown
}

type Settings = GenerateOptions & Required<Pick<GenerateOptions, 'reasoning' | 'config'>>

/** Calls a model and commits its response. If that fails, nothing is committed. */
export async function generate(
  chain: Chain,
  client: ModelClient,
  { reasoning, config, ...options }: Settings,
): Promise<ChatResponse> {
  const prompt = compile(chain.log(), { ...options, provider: client.provider })
  mustAsk(prompt)
  const rawResponse = await client.generate(prompt, config)
  const reading = readResponse(client, rawResponse)
  const commits = commitReading(chain, reading, { reasoning, provider: client.provider })
  return {
    text: reading.text,
    reasoning: reading.reasoning?.text ?? null,
    ...commits,
    usage: reading.usage,
    generationConfig: config,
    prompt,
    toolCalls: reading.toolCalls,
    rawResponse,
  }
}

/** Commits the reasoning, then the answer. Both are validated before either is added. */
function commitReading(
  chain: Chain,
  { text, toolCalls, reasoning, opaque, usage }: Reading,
  { reasoning: isWanted, provider }: { readonly reasoning: boolean; readonly provider: string | undefined },
): Pick<ChatResponse, 'reasoningCommit' | 'commit'> {
  const thought = isWanted && reasoning !== null ? sealThought(reasoning, chain.head) : null
  const isKept = opaque.items.length > 0 && (isWanted || toolCalls.length > 0)
  const replay: Replay = {
    source: opaque.source,
    items: [...opaque.items],
    ...omitUndefined({ provider }),
    ...(thought && { carries: thought.hash }),
  }
  const content: AssistantContent = {
    content_type: 'assistant',
    text,
    ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
    ...(isKept && { replay }),
  }
  const answer = seal(content, thought?.hash ?? chain.head)
  if (thought !== null) chain.add(thought)
  chain.add(answer)
  if (usage !== null) chain.record(answer.hash, usage)
  return { reasoningCommit: thought, commit: answer }
}

const sealThought = ({ text, format, metadata }: Found, parent: string | null): Commit<ReasoningContent> =>
  seal({ content_type: 'reasoning', text, format }, parent, { ...(metadata && { metadata }) })

function mustAsk(prompt: readonly PromptMessage[]): void {
  const last = prompt.findLast(({ type }) => type !== 'reasoning')
  if (last?.type === 'user' || last?.type === 'tool') return
  throw new TranscriptError('nothing_to_answer', {})
}

/** Options of the client, such as `model` and `temperature`, which are passed on unchanged. */
export type GenerationConfig = Readonly<Record<string, unknown>>

/** A model that a transcript calls. */
export interface ModelClient {
  /** The provider of the model. Its encrypted items are not sent to any other provider. */
  readonly provider?: string
  /**
   * Returns the response of the model in its provider's form, as a text, or as `{ text, toolCalls, opaque }` if the client has
   * already parsed it.
   */
  generate(messages: readonly PromptMessage[], options: GenerationConfig): unknown
  /** Extracts the reasoning of a response; absent: no reasoning is committed. */
  extractReasoning?(
    response: unknown,
  ): Extraction | FoundReasoning | readonly [text: string, format: Format] | string | null | undefined
}

/** The content of a response. */
interface Reading {
  readonly text: string
  readonly toolCalls: readonly ExtractedCall[]
  readonly reasoning: Found | null
  /** Items that the provider may require back, and the field that contained them. */
  readonly opaque: { readonly source: string; readonly items: readonly unknown[] }
  readonly usage: Usage | null
}

interface Found extends FoundReasoning {
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Reads a response. The client's `extractReasoning` decides whether it has reasoning. Throws `unreadable_response`. */
function readResponse(client: ModelClient, response: unknown): Reading {
  const extraction = extractReasoning(response) ?? readAlready(response)
  if (extraction === null) {
    throw new TranscriptError('unreadable_response', {})
  }
  const found = reasoningBy(client, response)
  return {
    text: extraction.text,
    toolCalls: withIds(extraction.toolCalls),
    reasoning: found === null ? null : described(found, extraction),
    opaque: { source: extraction.source, items: opaqueIn(extraction, response) },
    usage: readResponseUsage(response, extraction.tokens),
  }
}

/** Reads a response that the client has parsed: an extraction, possibly incomplete, or a text, possibly with tags. */
function readAlready(response: unknown): Extraction | null {
  if (typeof response === 'string') return extractReasoning({ choices: [{ message: { content: response } }] })
  const body = record(response) ?? {}
  // Copies only these fields; others, such as usage, are read separately.
  const given = Object.fromEntries(fields.flatMap((name) => (name in body ? [[name, body[name]]] : [])))
  const { text, toolCalls, opaque, ...rest } = { ...nothing, ...(given as Partial<Extraction>) }
  const isRead = typeof text === 'string' && Array.isArray(toolCalls) && Array.isArray(opaque)
  return isRead ? { ...rest, text, toolCalls, opaque } : null
}

const fields = [
  'text',
  'reasoning',
  'format',
  'source',
  'toolCalls',
  'opaque',
  'redacted',
  'truncated',
  'tokens',
] as const satisfies readonly (keyof Extraction)[]

const nothing = { reasoning: null, format: 'parsed', source: 'none', toolCalls: [], opaque: [] } as const

/** Adds as metadata which field of the response contained the reasoning, unless the client itself extracted another text. */
function described(
  found: FoundReasoning,
  { reasoning, source, redacted, truncated }: Extraction,
): Found | null {
  if (found.text.trim() === '') return null
  if (found.text !== reasoning) return found
  return { ...found, metadata: { source, ...(redacted && { redacted }), ...(truncated && { truncated }) } }
}

/**
 * Items that the next request sends back. DeepSeek and similar models require their reasoning back with calls, even if it is
 * empty.
 */
function opaqueIn(
  { opaque, toolCalls, source, reasoning }: Extraction,
  response: unknown,
): readonly unknown[] {
  if (opaque.length > 0 || toolCalls.length === 0) return opaque
  const [choice] = records(record(response)?.choices)
  const field =
    record(choice?.message)?.reasoning_content ?? (source === 'reasoning_content' ? reasoning : null)
  return typeof field === 'string' ? [{ reasoning_content: field }] : []
}

/** Adds missing ids of calls, because results refer to them; some providers only use the order of calls. */
function withIds(calls: readonly ExtractedCall[]): ExtractedCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    let { id } = call
    while (id === '' || taken.has(id)) id = `${id || 'call'}-${index}`
    taken.add(id)
    return { ...call, id }
  })
}

const inputNames = [
  'prompt_tokens',
  'input_tokens',
  'promptTokens',
  'inputTokens',
  'promptTokenCount',
  'prompt_eval_count',
]

/** Reads the token counts of a response; `null` = none. `reasoning`: the count of reasoning tokens, if already read. */
function readResponseUsage(response: unknown, reasoning: number | undefined): Usage | null {
  const body = record(response) ?? {}
  const counts = record(body.usage) ?? record(body.usageMetadata) ?? body
  const { outputTokens, tokens } = readProviderUsage(counts)
  const input = inputNames.map((name) => countMatches(counts[name])).find((each) => each !== undefined)
  const usage = {
    input: input ?? null,
    output: outputTokens ?? null,
    reasoning: countMatches(reasoning) ?? tokens ?? null,
  }
  return Object.values(usage).some((each) => each !== null) ? usage : null
}
