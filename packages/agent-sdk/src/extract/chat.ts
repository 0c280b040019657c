import type { StepCollector } from './collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

/**
 * Chat completions as defined by OpenAI: DeepSeek, OpenRouter, vLLM, SGLang, Groq, Cerebras, xAI, Qwen, Z.ai, Mistral and
 * others add a field or two.
 */
export function chatReader(collector: StepCollector): (chunk: Json) => void {
  const readDetails = detailsReader(collector)
  return (chunk) => {
    // DashScope's own form nests the same below `output`.
    const choices = chunk.choices ?? record(chunk.output)?.choices
    if (!Array.isArray(choices)) return
    // Further choices are alternative answers.
    const [first] = records(choices).filter(({ index }) => (index ?? 0) === 0)
    if (first !== undefined) readChoice(first, collector, readDetails)
    // Groq uses either field, or both.
    collector.usage(record(chunk.usage) ?? record(chunk.x_groq)?.usage)
  }
}

const none: Json = {}

function readChoice(choice: Json, collector: StepCollector, readDetails: DetailsReader): void {
  const delta = record(choice.delta)
  const message = delta ?? record(choice.message) ?? none
  readMessage(message, collector)
  readDetails(message.reasoning_details, delta === undefined)
  // The text of plain completions, with reasoning in tags only. Together also repeats a delta here.
  if (typeof choice.text === 'string' && message === none) collector.text(choice.text)
  collector.finish(choice.finish_reason ?? choice.finishReason)
}

/** A message or delta in the common form: a field for reasoning, text as a string or in parts, tool calls. */
export function readMessage(message: Json, collector: StepCollector): void {
  collector.reasoning('reasoning', string(message.reasoning) ?? '')
  collector.reasoning('reasoning_content', string(message.reasoning_content) ?? '')
  collector.reasoning('thinking', string(message.thinking) ?? '')
  readContent(message.content, collector)
  readContent(message.refusal, collector)
  readCalls(message.tool_calls ?? message.toolCalls ?? soleCall(message), collector)
}

/** The single call of older chat completions. */
function soleCall({ function_call }: Json): Json | undefined {
  return record(function_call) && { index: 0, function: function_call }
}

function readContent(content: unknown, collector: StepCollector): void {
  if (typeof content === 'string') collector.text(content)
  else for (const part of records(content)) readPart(part, collector)
}

/** Mistral, Cohere and Databricks send thoughts as parts of the content, as texts or lists of texts. */
function readPart(part: Json, collector: StepCollector): void {
  const thought = readThought(part)
  if (thought !== undefined) collector.thought('thinking', thought)
  else if (typeof part.text === 'string') collector.text(part.text)
  else if (typeof part.refusal === 'string') collector.text(part.refusal)
}

/** The thought in a part of the content; `undefined` = none. */
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

/** In a stream, `index` identifies the call that continues; arguments that are not strings are complete. */
export function readCalls(calls: unknown, collector: StepCollector): void {
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

/** `isWhole`: the details are not pieces. */
type DetailsReader = (details: unknown, isWhole: boolean) => void
type Detail = Record<string, unknown>

/**
 * Reads `reasoning_details`, which OpenRouter wants back unchanged. In a stream each arrives in pieces of equal `type` and
 * `index`; its signature is a separate piece, and may follow the next detail.
 */
function detailsReader(collector: StepCollector): DetailsReader {
  const all: Detail[] = []

  function findDetail(piece: Json): number {
    const last = all.length - 1
    if (isFilled(piece.data)) return -1
    // Without an index, a signature ends a detail.
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

/** Ollama's own form, the same for a complete response and each line of a stream. */
export function ollamaReader(collector: StepCollector): (chunk: Json) => void {
  return (chunk) => {
    if (!('done' in chunk)) return
    const { message, response, thinking, done, done_reason } = chunk
    // `/api/generate` has no enclosing message.
    readMessage(record(message) ?? { thinking, content: response }, collector)
    if (done !== true) return
    collector.finish(string(done_reason) ?? 'stop')
    collector.usage(chunk)
  }
}
