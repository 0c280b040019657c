import type { LogEntry } from './chain.js'
import { contentHints } from './content.js'
import type { PromptMessage } from './prompt.js'

/** Stands for a result that is left out: providers take no call without one. */
export const leftOut = '[left out]'

/** Leaves out as few commits as make the prompt fit, or all that may be left out where it does not. */
export function shorten(
  entries: readonly LogEntry[],
  maxChars: number,
  compileWithout: (hashes: ReadonlySet<string>) => PromptMessage[],
): PromptMessage[] {
  const whole = compileWithout(new Set())
  if (charsOf(whole) <= maxChars) return whole
  const expendable = leastFirst(entries)
  const without = (count: number) => compileWithout(new Set(expendable.slice(0, count)))
  let [tooFew, enough] = [0, expendable.length]
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2)
    if (charsOf(without(middle)) <= maxChars) enough = middle
    else tooFew = middle
  }
  return without(enough)
}

/** Hashes of what may be left out, in the order in which it is. Sorting is stable: the oldest come first. */
function leastFirst(entries: readonly LogEntry[]): string[] {
  const question = entries.findLastIndex(({ commit }) => commit.content.content_type === 'user')
  return entries
    .slice(0, Math.max(question, 0))
    .filter(({ commit: { content }, priority }) => {
      const isShort = content.content_type === 'tool' && content.text.length <= leftOut.length
      return priority !== 'pinned' && !isShort
    })
    .map(({ commit: { hash, content } }) => ({ hash, ...contentHints[content.content_type] }))
    .sort((a, b) => a.compressionPriority - b.compressionPriority)
    .map(({ hash }) => hash)
}

const charsOf = (messages: readonly PromptMessage[]): number =>
  messages.reduce((sum, message) => {
    const calls = message.type === 'assistant' ? message.toolCalls : undefined
    return sum + message.text.length + (calls === undefined ? 0 : JSON.stringify(calls).length)
  }, 0)
