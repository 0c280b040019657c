import type { LogEntry } from './chain.js'
import type { AssistantContent } from './content.js'
import type { PromptMessage } from './prompt.js'
import { type ReplayOptions, replayed } from './replay.js'

export interface CompileOptions extends ReplayOptions {
  /** Whether reasoning is shown that nobody has annotated; default: false. */
  readonly includeReasoning?: boolean
}

/** A result that is left out: providers take no call without one. */
const leftOut = '[left out]'

/** The messages for the next call. Without commits there are none. */
export function compile(entries: Iterable<LogEntry>, options: CompileOptions = {}): PromptMessage[] {
  const messages: PromptMessage[] = []
  let asked: ReadonlySet<string> = new Set()
  for (const entry of entries) {
    const { hash, content } = entry.commit
    const isShown = shows(entry, options)
    if (content.type === 'tool') {
      if (!asked.has(content.callId)) continue
      messages.push({ hash, role: 'tool', ...content, ...(!isShown && { text: leftOut }) })
    } else if (content.type === 'assistant') {
      const isSaid = isShown && !isSilent(content)
      asked = new Set(isSaid ? content.toolCalls?.map(({ id }) => id) : [])
      if (isSaid) answer(messages, hash, content, options)
    } else if (isShown && content.type === 'user') {
      messages.push({ hash, role: 'user', ...content })
    } else if (isShown && content.type === 'reasoning') {
      const { type, text, from } = content
      const role = from === undefined ? 'assistant' : 'user'
      messages.push({ hash, role, type, text, ...(from !== undefined && { from }) })
    }
  }
  return messages
}

/** Annotations win, both ways. */
const shows = ({ commit, priority, annotation }: LogEntry, { includeReasoning = false }: CompileOptions) =>
  priority !== 'skip' || (includeReasoning && commit.content.type === 'reasoning' && annotation === undefined)

/** An answer that was only thought: providers take no empty message. */
const isSilent = ({ text, toolCalls = [] }: Readonly<AssistantContent>): boolean =>
  text.trim() === '' && toolCalls.length === 0

/** What its items carry is not said a second time: nothing may stand between a thought and its calls. */
function answer(
  messages: PromptMessage[],
  hash: string,
  content: Readonly<AssistantContent>,
  options: CompileOptions,
): void {
  const { type, text, toolCalls } = content
  const replay = replayed(content, options)
  if (replay?.carries !== undefined && messages.at(-1)?.hash === replay.carries) messages.pop()
  const parts = { ...(toolCalls && { toolCalls }), ...(replay && { replay }) }
  messages.push({ hash, role: 'assistant', type, text, ...parts })
}
