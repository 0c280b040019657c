import type { ContentBlock, PlanEntry, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk'
import { defaultGuard, guarded, isObject, printable } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import { nameOf, quoteFile } from '../content-blocks.js'

/** Converts a prompt to one text, followed by the embedded files; linked files appear only as links. */
export function readPrompt(blocks: readonly ContentBlock[]): string {
  const said = blocks.map(describeBlock).join(' ').trim()
  return [said, ...blocks.flatMap(quoteResource)].join('\n\n')
}

function describeBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return `[${block.name}](${block.uri})`
  if (block.type === 'resource') return `[${nameOf(block.resource.uri)}](${block.resource.uri})`
  return `(${block.type} left out)`
}

function quoteResource(block: ContentBlock): string[] {
  if (block.type !== 'resource' || !('text' in block.resource)) return []
  return [quoteFile(block.resource.uri, block.resource.text)]
}

export type Chunk = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'

/** Creates a session update with a text, without invisible characters that could disguise it. */
export const chunk = (sessionUpdate: Chunk, text: string, messageId?: string): SessionUpdate => ({
  sessionUpdate,
  content: { type: 'text', text: printable(text) },
  ...omitUndefined({ messageId }),
})

/** Clients join consecutive thought chunks, so each one ends with an empty line. */
export const thoughtChunk = (text: string): SessionUpdate => chunk('agent_thought_chunk', `${text}\n\n`)

export const textContent = (text: string): ToolCallContent => ({
  type: 'content',
  content: { type: 'text', text: printable(text) },
})

/** Reads file changes in the arguments or the result of a call: `{ diffs: [{ path, oldText, newText }] }`. */
export function readFileDiffs(value: unknown): ToolCallContent[] {
  const diffs = isObject(value) && Array.isArray(value.diffs) ? value.diffs.filter(isObject) : []
  const mask = (text: string): string => guarded(text, defaultGuard)
  return diffs.flatMap(({ path, oldText, newText }): ToolCallContent[] => {
    if (typeof path !== 'string' || typeof newText !== 'string') return []
    const before = typeof oldText === 'string' ? mask(oldText) : null
    return [{ type: 'diff', path: printable(path), oldText: before, newText: mask(newText) }]
  })
}

/** Reads the plan of a thought: `metadata.plan: [{ content, status }]`. */
export function readPlan({ metadata }: Readonly<Record<string, unknown>>): PlanEntry[] | undefined {
  if (!isObject(metadata) || !Array.isArray(metadata.plan)) return undefined
  return metadata.plan.filter(isObject).map(({ content, status }) => ({
    content: printable(String(content)),
    priority: 'medium',
    status: status === 'in_progress' || status === 'completed' ? status : 'pending',
  }))
}
