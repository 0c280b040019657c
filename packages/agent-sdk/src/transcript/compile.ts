import type { LogEntry } from './chain.js'
import { type AssistantContent, contentHints } from './content.js'
import type { PromptMessage } from './prompt.js'
import { type ReplayOptions, replayed } from './replay.js'
import { leftOut, shorten } from './shorten.js'

export interface CompileOptions extends ReplayOptions {
  /** Whether reasoning is shown that nobody has annotated; default: false. */
  readonly includeReasoning?: boolean
  /**
   * Characters of texts and calls; default: any number. Of what is too long, earlier commits are left out:
   * those with the least `compressionPriority` first, the oldest of them first. What is pinned stays, and so does
   * everything from the last question on, even where that alone is longer.
   */
  readonly maxChars?: number
}

/** The messages for the next call. Without commits there are none. */
export function compile(entries: readonly LogEntry[], options: CompileOptions = {}): PromptMessage[] {
  const { maxChars = Number.POSITIVE_INFINITY } = options
  return shorten(entries, maxChars, (without) => compileWithout(without, entries, options))
}

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
      const role = contentHints.tool.defaultRole
      messages.push({ hash, role, type, ...said, ...(!isShown && { text: leftOut }) })
    } else if (content.content_type === 'assistant') {
      const isSaid = isShown && !isSilent(content)
      asked = new Set(isSaid ? content.toolCalls?.map(({ id }) => id) : [])
      if (isSaid) answer(messages, hash, content, options)
    } else if (isShown && content.content_type === 'user') {
      const { content_type: type, ...said } = content
      messages.push({ hash, role: contentHints.user.defaultRole, type, ...said })
    } else if (isShown && content.content_type === 'reasoning') {
      const { content_type: type, text, from } = content
      const role = from === undefined ? contentHints.reasoning.defaultRole : 'user'
      messages.push({ hash, role, type, text, ...(from !== undefined && { from }) })
    }
  }
  return messages
}

/** Annotations win, both ways. */
const shows = ({ commit, priority, annotation }: LogEntry, { includeReasoning = false }: CompileOptions) =>
  priority !== 'skip' ||
  (includeReasoning && commit.content.content_type === 'reasoning' && annotation === undefined)

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
  const { content_type: type, text, toolCalls } = content
  const replay = replayed(content, options)
  if (replay?.carries !== undefined && messages.at(-1)?.hash === replay.carries) messages.pop()
  const parts = { ...(toolCalls && { toolCalls }), ...(replay && { replay }) }
  messages.push({ hash, role: contentHints.assistant.defaultRole, type, text, ...parts })
}
