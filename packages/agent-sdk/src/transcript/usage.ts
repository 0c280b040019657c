import { type Static, Type } from '@sinclair/typebox'
import { count, record } from '../extract/json.js'
import { readUsage } from '../extract/usage.js'

const tokens = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])

/** Tokens of one call; `null` = its provider did not say. */
export const Usage = Type.Object(
  {
    input: tokens,
    /** Reasoning is among them. */
    output: tokens,
    reasoning: tokens,
  },
  { additionalProperties: false },
)
export type Usage = Static<typeof Usage>

const inputNames = [
  'prompt_tokens',
  'input_tokens',
  'promptTokens',
  'inputTokens',
  'promptTokenCount',
  'prompt_eval_count',
]

/** What a response says of its tokens; `null` where that is nothing. `reasoning` = as its reader has counted them. */
export function readResponseUsage(response: unknown, reasoning: number | undefined): Usage | null {
  const body = record(response) ?? {}
  const counts = record(body.usage) ?? record(body.usageMetadata) ?? body
  const { outputTokens, tokens } = readUsage(counts)
  const input = inputNames.map((name) => count(counts[name])).find((each) => each !== undefined)
  const usage = {
    input: input ?? null,
    output: outputTokens ?? null,
    reasoning: count(reasoning) ?? tokens ?? null,
  }
  return Object.values(usage).some((each) => each !== null) ? usage : null
}
