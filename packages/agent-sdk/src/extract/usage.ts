import type { ExtractedUsage } from './extraction.js'
import { countMatches, type Json, record } from './json.js'

/** Reads token counts from the usage object of any provider. */
export function readProviderUsage(usage: Json): ExtractedUsage {
  const tokens = reasoningTokens(usage)
  const output = outputTokens(usage, tokens ?? 0)
  return { ...(tokens !== undefined && { tokens }), ...(output !== undefined && { outputTokens: output }) }
}

function reasoningTokens(usage: Json): number | undefined {
  const { completion_tokens_details: chat, output_tokens_details: output, completionTokensDetails } = usage
  const details = record(chat) ?? record(output) ?? record(completionTokensDetails)
  const fromDetails = [details?.reasoning_tokens, details?.thinking_tokens, details?.reasoningTokens]
  return first([...fromDetails, usage.reasoning_tokens, usage.thoughtsTokenCount])
}

function outputTokens(usage: Json, reasoning: number): number | undefined {
  const answer = first([
    usage.completion_tokens,
    usage.output_tokens,
    usage.completionTokens,
    usage.outputTokens,
    usage.candidatesTokenCount,
    usage.eval_count,
    record(usage.tokens)?.output_tokens,
  ])
  if (answer === undefined) return undefined
  return answer + (countsApart(usage, answer, reasoning) ? reasoning : 0)
}

/**
 * Whether reasoning tokens are counted apart from the answer's tokens, as at Gemini and in xAI's chat API. The total shows it;
 * without a total, having more reasoning than answer tokens does.
 */
function countsApart(usage: Json, answer: number, reasoning: number): boolean {
  if ('thoughtsTokenCount' in usage) return true
  const [prompt, total] = [countMatches(usage.prompt_tokens), countMatches(usage.total_tokens)]
  if (prompt === undefined || total === undefined) return reasoning > answer
  return total === prompt + answer + reasoning
}

const first = (candidates: readonly unknown[]): number | undefined =>
  candidates.map(countMatches).find((each) => each !== undefined)
