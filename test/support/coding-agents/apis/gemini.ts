import { events } from '../../model-server.js'
import { type ModelApi, textOf, toInputs } from '../model.js'

interface Part {
  readonly text?: string
  readonly functionResponse?: { readonly response: unknown }
}

interface GenerateRequest {
  readonly tools?: readonly unknown[]
  readonly contents?: readonly { readonly role?: string; readonly parts: readonly Part[] }[]
}

export const gemini: ModelApi = {
  readInputs(body) {
    const { tools = [], contents = [] } = body as GenerateRequest
    if (tools.length === 0) return []
    return contents.flatMap(({ role, parts }) => {
      if (role === 'model') return []
      const results = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
      return toInputs(
        results.map(({ response }) => JSON.stringify(response)),
        textOf(parts),
      )
    })
  },
  writeAnswer({ index, thought, text, call }) {
    const parts = [
      ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
      ...(call === undefined ? [] : [{ functionCall: { id: `call_${index}`, ...call } }]),
    ]
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 }
    const toChunk = (part: object, finish: object) => ({
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...finish }],
      usageMetadata,
    })
    const last = parts.length - 1
    const chunks = parts.map((part, at) => toChunk(part, at === last ? { finishReason: 'STOP' } : {}))
    return { body: events(...chunks) }
  },
}
