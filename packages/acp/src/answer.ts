import type { StopReason } from '@agentclientprotocol/sdk'
import { isObject } from '@meup/folds'
import { agentError } from './errors.js'
import type { AgentPrompt } from './prompt.js'

const endings: Readonly<Partial<Record<StopReason, string>>> = {
  max_tokens: 'the model reached its limit of tokens',
  max_turn_requests: 'the agent reached its limit of requests to the model',
  refusal: 'the agent refused to continue',
}

/** The text to reply to a prompt. Throws if the agent gave no answer. */
export function getAnswer(
  text: string,
  stopReason: StopReason | null | undefined,
  { rejections, excess }: Pick<AgentPrompt, 'rejections' | 'excess'>,
  command: string | undefined,
): string {
  const ending = excess === undefined ? endings[stopReason ?? 'end_turn'] : `${excess}, and was stopped`
  if (ending !== undefined) return text === '' ? `There is no answer: ${ending}.` : `${text}\n\n(${ending})`
  const last = rejections.at(-1)
  if (text !== '' && (stopReason !== 'cancelled' || last !== undefined)) return text
  if (last !== undefined) return `I did not go on: ${last}.`
  if (command !== undefined && stopReason !== 'cancelled') return `/${command} is done, without a word.`
  throw agentError(stopReason === 'cancelled' ? 'cancelled' : 'no_answer', {})
}

export function readAcpUsage(response: object): object {
  const { usage } = response as { readonly usage?: unknown }
  if (!isObject(usage)) return {}
  const { inputTokens, outputTokens } = usage
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return {}
  return { tokens: { input: inputTokens, output: outputTokens } }
}
