import { readCalls, readMessage } from './chat.js'
import type { ExtractionCollector } from './extraction-collector.js'
import { type Json, record, records, string } from './json.js'

/** Reads responses of Cohere's chat API, version 2. */
export function cohereReader(collector: ExtractionCollector): (chunk: Json) => void {
  return (chunk) => {
    const { type, index } = chunk
    if (type === undefined && 'message' in chunk && !('done' in chunk)) readDelta(chunk, 0, collector)
    else if (typeof type === 'string' && events.has(type)) {
      readDelta(record(chunk.delta) ?? {}, typeof index === 'number' ? index : 0, collector)
      if (type === 'tool-call-end' && typeof index === 'number') collector.endCalls(index)
    }
  }
}

const events = new Set([
  'message-start',
  'content-start',
  'content-delta',
  'tool-plan-delta',
  'tool-call-start',
  'tool-call-delta',
  'tool-call-end',
  'message-end',
])

/** Reads a message or delta. In a stream, `tool_calls` is a single call instead of a list, and the event has its index. */
function readDelta(
  { message, finish_reason, usage }: Json,
  index: number,
  collector: ExtractionCollector,
): void {
  const { tool_calls, tool_plan, ...rest } = record(message) ?? {}
  collector.reasoning('tool_plan', string(tool_plan) ?? '')
  readMessage(rest, collector)
  const call = record(tool_calls)
  readCalls(call === undefined ? tool_calls : { ...call, index }, collector)
  collector.finish(finish_reason)
  collector.usage(usage)
}

/** Reads responses of Cohere's chat API, version 1. A stream repeats the whole response at its end. */
export function cohereV1Reader(collector: ExtractionCollector): (chunk: Json) => void {
  let isHeard = false
  let isCalled = false

  function say(text: unknown): void {
    if (typeof text !== 'string') return
    isHeard = true
    collector.text(text)
  }

  function call(calls: unknown): void {
    if (isCalled || !Array.isArray(calls)) return
    isCalled = true
    for (const { id, name, parameters } of records(calls)) {
      collector.call({ id: string(id), name: string(name), value: parameters ?? {} })
    }
  }

  function end(response: Json): void {
    if (!isHeard) say(response.text)
    call(response.tool_calls)
    collector.usage(response.meta)
    collector.finish(response.finish_reason)
  }

  return (chunk) => {
    const { event_type: event, text, tool_calls, response, finish_reason } = chunk
    if (event === 'text-generation' || event === 'tool-calls-chunk') say(text)
    else if (event === 'tool-calls-generation') call(tool_calls)
    else if (event === 'stream-end') end({ finish_reason, ...record(response) })
    else if (event === undefined && typeof text === 'string' && 'generation_id' in chunk) end(chunk)
  }
}
