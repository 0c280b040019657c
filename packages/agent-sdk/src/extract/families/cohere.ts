import type { Collector } from '../collector.js'
import { type Json, record, string } from '../json.js'
import { readCalls, readMessage } from './message.js'

/** Cohere's chat, version 2. */
export function cohereReader(collector: Collector): (chunk: Json) => void {
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

/** In a stream a call is no list, and its number is that of the event. */
function readDelta({ message, finish_reason, usage }: Json, index: number, collector: Collector): void {
  const { tool_calls, tool_plan, ...rest } = record(message) ?? {}
  collector.reasoning('tool_plan', string(tool_plan) ?? '')
  readMessage(rest, collector)
  const call = record(tool_calls)
  readCalls(call === undefined ? tool_calls : { ...call, index }, collector)
  collector.finish(finish_reason)
  collector.usage(usage)
}
