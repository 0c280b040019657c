import type { ToolCall } from '../extract/index.js'
import type { Chain } from './chain.js'
import { type Commit, seal } from './commit.js'
import { type CompileOptions, compile } from './compile.js'
import type { AssistantContent, ReasoningContent, Replay } from './content.js'
import { TranscriptError } from './errors.js'
import type { GenerationConfig, ModelClient } from './model-client.js'
import type { PromptMessage } from './prompt.js'
import { type Found, type Reading, readResponse } from './read-response.js'
import type { Usage } from './usage.js'

export interface GenerateOptions extends Omit<CompileOptions, 'provider'> {
  /** Whether the reasoning of this call is committed; default: as the transcript was opened. */
  readonly reasoning?: boolean
  /** For the client, over what the transcript was opened with. */
  readonly config?: GenerationConfig
}

/** What came of a call. */
export interface ChatResponse {
  /** The answer, without what was thought. */
  readonly text: string
  /** What was thought, whether or not it was committed; `null` = nothing was told. */
  readonly reasoning: string | null
  readonly reasoningCommit: Commit<ReasoningContent> | null
  readonly usage: Usage | null
  /** The answer. */
  readonly commit: Commit<AssistantContent>
  readonly generationConfig: GenerationConfig
  /** What the model was told. */
  readonly prompt: readonly PromptMessage[]
  /** To be answered by `tool`, each of them, before anything else. */
  readonly toolCalls: readonly ToolCall[]
  /** As the client gave it; it is not kept. */
  readonly rawResponse: unknown
}

type Settings = GenerateOptions & Required<Pick<GenerateOptions, 'reasoning' | 'config'>>

/** One call of a model. Where anything fails, nothing is committed. */
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

/** Reasoning comes before the answer, as it did. Both are sealed before one is added. */
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
    ...(provider !== undefined && { provider }),
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
  throw new TranscriptError('nothing_to_answer', 'the prompt has no question, or it is answered already')
}
