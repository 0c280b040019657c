import type { ExtractionCollector } from './extraction-collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

/**
 * Reads chat completions as defined by OpenAI. DeepSeek, OpenRouter, vLLM, SGLang, Groq, Cerebras, xAI, Qwen, Z.ai, Mistral and
 * others add a few fields.
 */
export function chatReader(collector: ExtractionCollector): (chunk: Json) => void {
  const readDetails = detailsReader(collector)
  return (chunk) => {
    // DashScope's own API nests the same fields in `output`.
    const choices = chunk.choices ?? record(chunk.output)?.choices
    if (!Array.isArray(choices)) return
    // Only the first choice is read; the others are alternative answers.
    const [first] = records(choices).filter(({ index }) => (index ?? 0) === 0)
    if (first !== undefined) readChoice(first, collector, readDetails)
    // Groq sends one of these fields, or both.
    collector.usage(record(chunk.usage) ?? record(chunk.x_groq)?.usage)
  }
}

const none: Json = {}

function readChoice(choice: Json, collector: ExtractionCollector, readDetails: DetailsReader): void {
  const delta = record(choice.delta)
  const message = delta ?? record(choice.message) ?? none
  readMessage(message, collector)
  readDetails(message.reasoning_details, delta === undefined)
  // Plain completions have only `text`, with any reasoning in tags. At Together, `text` repeats a delta, so it is not read.
  if (typeof choice.text === 'string' && message === none) collector.text(choice.text)
  collector.finish(choice.finish_reason ?? choice.finishReason)
}

/** Reads a message or delta in OpenAI's form: reasoning in a field, text as a string or in parts, tool calls. */
export function readMessage(message: Json, collector: ExtractionCollector): void {
  collector.reasoning('reasoning', string(message.reasoning) ?? '')
  collector.reasoning('reasoning_content', string(message.reasoning_content) ?? '')
  collector.reasoning('thinking', string(message.thinking) ?? '')
  readContent(message.content, collector)
  readContent(message.refusal, collector)
  readCalls(message.tool_calls ?? message.toolCalls ?? soleCall(message), collector)
}

/** The only call of a message in the older API of chat completions. */
function soleCall({ function_call }: Json): Json | undefined {
  return record(function_call) && { index: 0, function: function_call }
}

function readContent(content: unknown, collector: ExtractionCollector): void {
  if (typeof content === 'string') collector.text(content)
  else for (const part of records(content)) readPart(part, collector)
}

/** Reads a part of the content. Mistral, Cohere and Databricks send thoughts as parts, as a text or a list of texts. */
function readPart(part: Json, collector: ExtractionCollector): void {
  const thought = readThought(part)
  if (thought !== undefined) collector.thought('thinking', thought)
  else if (typeof part.text === 'string') collector.text(part.text)
  else if (typeof part.refusal === 'string') collector.text(part.refusal)
}

/** Returns the thought in a part of the content; `undefined` = the part is not a thought. */
export function readThought({ type, thinking, summary, text }: Json): string | undefined {
  const isThought = type === 'thinking' || type === 'reasoning'
  const given = thinking ?? (isThought ? (summary ?? text) : undefined)
  if (given === undefined) return undefined
  return (
    string(given) ??
    records(given)
      .map((each) => string(each.text) ?? '')
      .join('')
  )
}

/**
 * Reads tool calls. In a stream, `index` identifies the call that a piece belongs to; arguments that are not a string are
 * complete.
 */
export function readCalls(calls: unknown, collector: ExtractionCollector): void {
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

/** `isWhole`: the details are complete rather than pieces of a stream. */
type DetailsReader = (details: unknown, isWhole: boolean) => void
type Detail = Record<string, unknown>

/**
 * Reads `reasoning_details`, which OpenRouter requires back unchanged. In a stream each detail arrives in pieces of equal
 * `type` and `index`. Its signature is a separate piece, which may follow the next detail.
 */
function detailsReader(collector: ExtractionCollector): DetailsReader {
  const all: Detail[] = []

  function findDetail(piece: Json): number {
    const last = all.length - 1
    if (isFilled(piece.data)) return -1
    // If pieces have no index, a signature ends a detail.
    const isOver = piece.index === undefined && isFilled(all[last]?.signature)
    if (isText(piece)) return !isOver && goesOn(all[last], piece) ? last : -1
    return all.findLastIndex((each) => goesOn(each, piece))
  }

  return (details, isWhole) => {
    if (!Array.isArray(details)) return
    for (const piece of records(details)) {
      let place = isWhole ? -1 : findDetail(piece)
      const known = all[place]
      if (known === undefined) {
        const begun = { ...piece }
        place = all.push(begun) - 1
        collector.opaque(begun)
      } else append(known, piece)
      if (isFilled(piece.signature) || isFilled(piece.data)) collector.sealed('reasoning_details')
      const text = [piece.text, piece.summary].find(isFilled) ?? ''
      collector.reasoning('reasoning_details', text, place)
    }
  }
}

const isText = ({ text, summary }: Json): boolean => isFilled(text) || isFilled(summary)

const goesOn = (known: Json | undefined, { type, index, id }: Json): boolean =>
  known !== undefined &&
  type === known.type &&
  index === known.index &&
  !isFilled(known.data) &&
  !(isFilled(id) && isFilled(known.id) && id !== known.id)

function append(known: Detail, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    const previous = known[name]
    const isText = name === 'text' || name === 'summary'
    if (isText && typeof previous === 'string' && typeof value === 'string') known[name] = previous + value
    else if (isFilled(value) || previous === undefined) known[name] = value
  }
}

/** Reads responses of Ollama's own API; a line of a stream has the same form as a complete response. */
export function ollamaReader(collector: ExtractionCollector): (chunk: Json) => void {
  return (chunk) => {
    if (!('done' in chunk)) return
    const { message, response, thinking, done, done_reason } = chunk
    // Responses of `/api/generate` have the fields of a message at the top level.
    readMessage(record(message) ?? { thinking, content: response }, collector)
    if (done !== true) return
    collector.finish(string(done_reason) ?? 'stop')
    collector.usage(chunk)
  }
}
