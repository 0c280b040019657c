import { findStopWords, stoppedText } from '../mcp/program-ended.js'
import { isBlank, onOneLine } from '../text.js'

/** `cancelled: <reason>`, or `cancelled` without a reason. */
export const cancelledText = (reason: string): string =>
  isBlank(reason) ? 'cancelled' : `cancelled: ${onOneLine(reason)}`

/** Explains a missing answer: `bot has given up: too late`, `bot stopped: its program ended`. */
export function givenUpText(agent: string, reason: string | null): string {
  const words = reason === null ? undefined : findStopWords(reason)
  if (words !== undefined) return stoppedText(agent, words)
  return `${agent} has given up${reason === null ? '' : `: ${onOneLine(reason)}`}`
}

/** Explains a missing answer of an agent that handed the question over: `desk has handed this over to reviewer`. */
export const handedOverText = (agent: string, to: readonly string[]): string =>
  `${agent} has handed this over to ${to.join(', ')}`
