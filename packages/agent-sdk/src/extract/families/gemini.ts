import type { Collector } from '../collector.js'
import { isFilled, type Json, record, records, string } from '../json.js'

/** Gemini: a whole response and each chunk of a stream look the same. Any part may carry a signature, an empty one too. */
export function geminiReader(collector: Collector): (chunk: Json) => void {
  return (chunk) => {
    if (!('candidates' in chunk) && !('usageMetadata' in chunk)) return
    const [candidate] = records(chunk.candidates).filter(({ index }) => (index ?? 0) === 0)
    for (const part of records(record(candidate?.content)?.parts)) readPart(part, collector)
    collector.usage(chunk.usageMetadata)
    collector.finish(candidate?.finishReason)
  }
}

function readPart(part: Json, collector: Collector): void {
  const { text, thought, thoughtSignature, functionCall } = part
  if (thought === true) collector.thought('thought', string(text) ?? '')
  else if (typeof text === 'string') collector.text(text)
  const call = record(functionCall)
  if (call !== undefined) {
    collector.call({ id: string(call.id), name: string(call.name), value: call.args ?? {} })
  }
  if (!isFilled(thoughtSignature)) return
  collector.opaque(part)
  collector.sealed('thought')
}
