import { toReply } from '../../openai-responses.js'
import { type Input, type ModelApi, textOf } from '../model.js'

interface ResponsesRequest {
  readonly tools?: readonly unknown[]
  readonly input?: readonly {
    readonly type?: string
    readonly role?: string
    readonly content?: unknown
    readonly output?: unknown
  }[]
}

export const responses: ModelApi = {
  readInputs(body) {
    const { tools = [], input = [] } = body as ResponsesRequest
    if (tools.length === 0) return []
    return input.flatMap(({ type, role, content, output }): Input[] => {
      if (role === 'user') return [{ text: textOf(content) }]
      return type?.endsWith('_call_output') ? [{ result: textOf(output) }] : []
    })
  },
  writeAnswer: ({ index, ...answer }) => toReply(answer, index),
}
