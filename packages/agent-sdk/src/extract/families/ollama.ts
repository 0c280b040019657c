import type { Collector } from '../collector.js'
import { type Json, record, string } from '../json.js'
import { readMessage } from './message.js'

/** Ollama's own form: a whole response and each line of a stream look the same. */
export function ollamaReader(collector: Collector): (chunk: Json) => void {
  return (chunk) => {
    if (!('done' in chunk)) return
    const { message, response, thinking, done, done_reason } = chunk
    // `/api/generate` has no message around them.
    readMessage(record(message) ?? { thinking, content: response }, collector)
    if (done !== true) return
    collector.finish(string(done_reason) ?? 'stop')
    collector.usage(chunk)
  }
}
