import { completion } from '../../model-server.js'
import { type Input, type ModelApi, textOf } from '../model.js'

interface ChatRequest {
  readonly tools?: readonly unknown[]
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
}

export const chatCompletions: ModelApi = {
  readInputs(body) {
    const { tools = [], messages = [] } = body as ChatRequest
    if (tools.length === 0) return []
    return messages.flatMap(({ role, content }): Input[] => {
      if (role === 'user') return [{ text: textOf(content) }]
      return role === 'tool' ? [{ result: textOf(content) }] : []
    })
  },
  writeAnswer({ index, thought, text, call }) {
    const deltas = [
      ...(thought === undefined ? [] : [{ reasoning_content: thought }]),
      ...(text === undefined ? [] : [{ content: text }]),
    ]
    if (call === undefined) return { body: completion('stop', ...deltas) }
    const called = { name: call.name, arguments: JSON.stringify(call.args) }
    const tool_calls = [{ index: 0, id: `call_${index}`, type: 'function', function: called }]
    return { body: completion('tool_calls', ...deltas, { tool_calls }) }
  },
}
