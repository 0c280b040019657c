import { printable } from '../render/printable.js'
import { anyLabel } from './phases.js'

/** What our own paragraphs begin with, and what would end or swallow them. */
const verbs =
  'asks|answers|begins|concludes|calls|approves|rejects|withdraws|carries|cancels|takes|sends|says|tried'
const looksLikeOurs = new RegExp(
  `^\\s*(?:$|[#<>]|\`\`\`|~~~|[-=_*\\s]+$|(?:\\S+ )?${anyLabel.source}|\\S+ (?:${verbs})\\b)`,
)

/**
 * A text of others in a paragraph of ours. Its first line goes on from what we wrote; from the first further line that
 * may be taken for ours, or would end the paragraph, all of it is a block quote.
 */
export function quoted(text: string): string {
  const [first = '', ...rest] = printable(text).trim().split('\n')
  const from = rest.findIndex((line) => looksLikeOurs.test(line))
  if (from === -1) return [first, ...rest].join('\n')
  return [first, ...rest.slice(0, from), ...rest.slice(from).map((line) => `> ${line}`.trimEnd())].join('\n')
}
