import { type ModelReply, serveModel } from '../model-server.js'
import type { ModelAnswer, ModelRequest, ModelRule, ToolUse } from './script.js'

/** A tool call as a model writes it. `args`: a string if the tool does not take JSON. */
export interface ToolCall {
  readonly name: string
  readonly namespace?: string
  readonly args: object | string
}

/** An answer of the model, which is streamed in the order of the fields. */
interface Answer {
  /** Number of answers that the model has given before this one. */
  readonly index: number
  readonly thought?: string
  readonly text?: string
  readonly call?: ToolCall
}

/** A message in a model's conversation: the user's text, or the result of a tool. */
export type Input = { readonly text: string } | { readonly result: string }

/** A provider's API, as far as coding agents use it. */
export interface ModelApi {
  /**
   * Reads the inputs of a request, in order. Returns none for a request without tools, with which agents ask for a title or the
   * like.
   */
  readInputs(body: unknown): readonly Input[]
  writeAnswer(answer: Answer): ModelReply
}

/** Serves a model by rules until the test is over, and returns its URL. */
export async function serveScript(
  api: ModelApi,
  rules: readonly ModelRule[],
  toToolCall: (use: ToolUse) => ToolCall,
): Promise<string> {
  const { baseURL } = await serveModel((body, index) => {
    const inputs = api.readInputs(body)
    const { tool, ...answer } = inputs.length === 0 ? sideAnswer : choose(rules, toRequest(inputs))
    return api.writeAnswer({ index, ...answer, ...(tool && { call: toToolCall(tool) }) })
  })
  return baseURL
}

function toRequest(inputs: readonly Input[]): ModelRequest {
  const last = inputs.findLastIndex((input) => 'text' in input)
  return {
    lastUserText: inputs.flatMap((input) => ('text' in input ? [input.text] : [])).at(-1) ?? '',
    toolResults: inputs.slice(last + 1).flatMap((input) => ('result' in input ? [input.result] : [])),
  }
}

const sideAnswer: ModelAnswer = { text: 'ok' }

const choose = (rules: readonly ModelRule[], request: ModelRequest): ModelAnswer =>
  rules.find((rule) => rule.when(request)) ?? {
    text: `The script has no answer to ${JSON.stringify(request)}`,
  }

/** Makes inputs from a user message. Results of tools come first. */
export const toInputs = (results: readonly string[], text: string): Input[] => [
  ...results.map((result) => ({ result })),
  ...(text === '' ? [] : [{ text }]),
]

/** Returns the text of `content` in a provider's API: a string, or parts of which some are text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap(({ text }: { readonly text?: string }) => text ?? []).join('\n')
}
