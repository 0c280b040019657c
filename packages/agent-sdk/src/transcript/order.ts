import type { ToolCall } from '../extract/index.js'
import type { Commit } from './commit.js'
import type { Content } from './content.js'
import { TranscriptError } from './errors.js'

/** Calls of the last answer that have no result yet. */
export function openCalls(commits: readonly Commit[]): readonly ToolCall[] {
  const at = commits.findLastIndex(({ content }) => content.content_type !== 'tool')
  const caller = commits[at]?.content
  if (caller?.content_type !== 'assistant' || caller.toolCalls === undefined) return []
  const results = new Set(commits.slice(at + 1).map(({ content }) => 'callId' in content && content.callId))
  return caller.toolCalls.filter(({ id }) => !results.has(id))
}

/** Throws `out_of_order` where no provider would take a prompt with this commit at this place. */
export function mustFollow(content: Content, commits: readonly Commit[]): void {
  const open = openCalls(commits)
  if (content.content_type === 'tool') {
    if (open.some(({ id }) => id === content.callId)) return
    throw new TranscriptError('out_of_order', `no call ${content.callId} waits for a result`)
  }
  if (open.length > 0) {
    const names = open.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw new TranscriptError('out_of_order', `these calls wait for their results: ${names}`)
  }
  if (content.content_type === 'reasoning' && commits.at(-1)?.content.content_type === 'assistant') {
    throw new TranscriptError('out_of_order', 'reasoning goes before the answer that it led to, not after it')
  }
}
