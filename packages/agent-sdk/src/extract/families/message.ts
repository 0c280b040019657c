import type { Collector } from '../collector.js'
import { type Json, record, records, string } from '../json.js'

/**
 * What most providers call a message, or a delta of one: a field for the reasoning, text as a string or in parts, tool
 * calls.
 */
export function readMessage(message: Json, collector: Collector): void {
  collector.reasoning('reasoning', string(message.reasoning) ?? '')
  collector.reasoning('reasoning_content', string(message.reasoning_content) ?? '')
  collector.reasoning('thinking', string(message.thinking) ?? '')
  readContent(message.content, collector)
  readCalls(message.tool_calls ?? message.toolCalls ?? soleCall(message), collector)
}

/** What chat completions had before there could be several calls. */
function soleCall({ function_call }: Json): Json | undefined {
  return record(function_call) && { index: 0, function: function_call }
}

function readContent(content: unknown, collector: Collector): void {
  if (typeof content === 'string') collector.text(content)
  else for (const part of records(content)) readPart(part, collector)
}

/** Mistral and Cohere put thoughts into the content. Mistral's are made of parts again. */
function readPart({ type, thinking, text }: Json, collector: Collector): void {
  if (typeof thinking === 'string') collector.thought('thinking', thinking)
  else if (thinking !== undefined) {
    for (const part of records(thinking)) collector.thought('thinking', string(part.text) ?? '')
  } else if (typeof text === 'string') {
    if (type === 'thinking' || type === 'reasoning') collector.thought('thinking', text)
    else collector.text(text)
  }
}

/** In a stream `index` says which call goes on; arguments that are no string are there in one piece. */
export function readCalls(calls: unknown, collector: Collector): void {
  for (const [position, call] of records(calls).entries()) {
    const called = record(call.function) ?? record(call.custom) ?? {}
    const { arguments: given, input } = called
    const names = { id: string(call.id), name: string(called.name) }
    if (typeof input === 'string') collector.call({ ...names, value: input })
    else if (record(given) !== undefined) collector.call({ ...names, value: given })
    else {
      const key = typeof call.index === 'number' ? call.index : position
      collector.callPart(key, { ...names, json: string(given) })
    }
  }
}
