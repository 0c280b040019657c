import { type ModelApi, textOf, toInputs } from '../model.js'

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: unknown
}

interface MessagesRequest {
  readonly tools?: readonly unknown[]
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
}

export const messages: ModelApi = {
  readInputs(body) {
    const { tools = [], messages = [] } = body as MessagesRequest
    if (tools.length === 0) return []
    return messages.flatMap(({ role, content }) => {
      if (role !== 'user') return []
      const results = typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result')
      return toInputs(
        results.map((result) => textOf(result.content)),
        textOf(content),
      )
    })
  },
  writeAnswer({ index, thought, text, call }) {
    const blocks = [
      ...(thought === undefined
        ? []
        : [
            {
              start: { type: 'thinking', thinking: '', signature: '' },
              deltas: [
                { type: 'thinking_delta', thinking: thought },
                { type: 'signature_delta', signature: 'c2lnbmVk' },
              ],
            },
          ]),
      ...(text === undefined
        ? []
        : [{ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text }] }]),
      ...(call === undefined
        ? []
        : [
            {
              start: { type: 'tool_use', id: `toolu_${index}`, name: call.name, input: {} },
              deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(call.args) }],
            },
          ]),
    ]
    const usage = { input_tokens: 5, output_tokens: 7 }
    const message = {
      id: `msg_${index}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      usage,
    }
    const stop_reason = call === undefined ? 'end_turn' : 'tool_use'
    const events = [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    return { body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) }
  },
}
