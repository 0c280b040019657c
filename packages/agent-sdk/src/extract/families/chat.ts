import type { Collector } from '../collector.js'
import { type Json, record, records } from '../json.js'
import { readMessage } from './message.js'
import { type DetailsReader, detailsReader } from './openrouter.js'

/**
 * Chat completions, as OpenAI defined them: DeepSeek, OpenRouter, vLLM, SGLang, Groq, Cerebras, xAI, Qwen, Z.ai, Mistral
 * and others add a field or two.
 */
export function chatReader(collector: Collector): (chunk: Json) => void {
  const readDetails = detailsReader(collector)
  return (chunk) => {
    // DashScope's own form has the same below `output`.
    const choices = chunk.choices ?? record(chunk.output)?.choices
    if (!Array.isArray(choices)) return
    // Other choices than the first are other answers.
    const [first] = records(choices).filter(({ index }) => (index ?? 0) === 0)
    if (first !== undefined) readChoice(first, collector, readDetails)
    // Groq says it in either place, or in both.
    collector.usage(record(chunk.usage) ?? record(chunk.x_groq)?.usage)
  }
}

function readChoice(choice: Json, collector: Collector, readDetails: DetailsReader): void {
  const delta = record(choice.delta)
  const message = delta ?? record(choice.message) ?? {}
  readMessage(message, collector)
  readDetails(message.reasoning_details, delta === undefined)
  // Plain completions, where the tags of the model are all there is.
  if (typeof choice.text === 'string') collector.text(choice.text)
  collector.finish(choice.finish_reason ?? choice.finishReason)
}
