import type { AgentOptions } from '@meup/agent-sdk'
import { type ModelRequest, scriptedModel } from '@meup/agent-sdk/ai'

type Step = (
  request: ModelRequest,
) => Exclude<Parameters<typeof scriptedModel>[0], readonly unknown[]> extends (...args: never) => infer Deeds
  ? Deeds
  : never

/** The model named by MODEL, MODEL_BASE_URL and MODEL_API_KEY in the environment; without one, a script. */
export function model(script: readonly Step[]): AgentOptions {
  const { MODEL, MODEL_BASE_URL: baseURL, MODEL_API_KEY: apiKey } = process.env
  if (MODEL) return { model: MODEL, ...(baseURL && { baseURL }), apiKey }
  return { model: scriptedModel((request, index) => script[index % script.length]?.(request) ?? []) }
}

/** The last input of the model: a question, or a tool result. */
export function lastText({ prompt }: ModelRequest): string {
  const [part] = [prompt.at(-1)?.content ?? []].flat().slice(-1)
  if (typeof part !== 'object') return part ?? ''
  if (part.type === 'text') return part.text
  return part.type === 'tool-result' && part.output.type === 'text' ? part.output.value : ''
}
