import { readThought } from '../../extract/chat.js'
import { isFilled, type Json, record, records, string } from '../../extract/json.js'
import { findJsonEnd, parseJson } from '../../extract/json-text.js'

/** A server gave something else than a stream, with a status of success. */
export class NoStreamError extends Error {
  override readonly name = 'NoStreamError'

  /** `body`: what it gave instead. */
  constructor(readonly body: string) {
    super('the answer is no stream')
  }
}

/** Characters of an answer that is none. */
const maxChars = 4_000_000

/**
 * Fetches a streamed answer, with events as OpenAI's servers give them. One that came whole becomes a stream; rejects with
 * `NoStreamError` if it is no answer.
 */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.ok) return response
  const type = response.headers.get('content-type') ?? ''
  const headers = { 'content-type': 'text/event-stream' }
  if (!/json|html/i.test(type)) {
    const lines = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(usualLines())
    return new Response(lines?.pipeThrough(new TextEncoderStream()) ?? null, { headers })
  }
  const text = await response.text()
  // Some servers name another type than the one they send.
  const isWhole = /^\s*[{[<]/.test(text)
  return new Response(
    isWhole ? toStream(text.slice(0, maxChars)) : splitLines(text).map(toUsualLine).join(''),
    {
      headers,
    },
  )
}

/** A whole answer as the only event of a stream. */
function toStream(text: string): string {
  const choices = record(parseJson(text))?.choices
  const isAnswer = Array.isArray(choices) && choices.every((each) => record(record(each)?.message))
  if (!isAnswer) throw new NoStreamError(text)
  return `data: ${toUsualEvent(text)}\n\ndata: [DONE]\n\n`
}

/** Lines as OpenAI's servers give them, from a text in any pieces. */
function usualLines(): TransformStream<string, string> {
  let held = ''
  /** A CR at the end of a piece, which a LF may follow. */
  let end = ''
  return new TransformStream({
    transform(piece, controller) {
      const [first = '', ...more] = splitLines(end + piece)
      const lines = [held + first, ...more]
      const last = lines.pop() ?? ''
      end = piece.endsWith('\r') ? '\r' : ''
      held = end === '' ? last : last.slice(0, -1)
      if (lines.length > 0) controller.enqueue(lines.map(toUsualLine).join(''))
    },
    flush: (controller) => controller.enqueue(toUsualLine(held)),
  })
}

/** A CR at the end of a text may be half an end of a line. */
const splitLines = (text: string): string[] => text.split(/\r\n|\n|\r(?=[^\n])/)

/** A line with its end. Some servers forget the blank line after an event, or `data:` before it. */
function toUsualLine(line: string): string {
  const data = /^(?:data:|(?=\{))(.*)/.exec(line)?.[1]
  const event = data === undefined ? undefined : toUsualEvent(data)
  return event === undefined ? `${line}\n` : `data: ${event}\n\n`
}

/** `undefined` = it is no whole event. */
function toUsualEvent(data: string): string | undefined {
  if (/^\s*\[done\]\s*$/i.test(data)) return '[DONE]'
  const event = record(parseJson(quoteArguments(data)))
  if (event?.object === 'error') return JSON.stringify({ error: event })
  const choices = Array.isArray(event?.choices) && { choices: records(event.choices).map(toUsualChoice) }
  return event && JSON.stringify({ ...event, ...choices })
}

/** Arguments that are an object become its text, in which numbers keep their digits. */
function quoteArguments(json: string): string {
  let quoted = ''
  let from = 0
  for (const { 0: name, index } of json.matchAll(/"arguments"\s*:\s*(?=[{[])/g)) {
    const begin = index + name.length
    const end = begin < from ? -1 : findJsonEnd(json, begin)
    if (end < 0) continue
    quoted += json.slice(from, begin) + JSON.stringify(json.slice(begin, end))
    from = end
  }
  return quoted + json.slice(from)
}

function toUsualChoice({ delta, message, error, ...choice }: Json): Json {
  const { content, tool_calls, function_call, ...said } = record(delta) ?? record(message) ?? {}
  // What chat completions had before there could be several calls.
  const calls = tool_calls ?? (record(function_call) && { index: 0, function: function_call })
  return {
    ...choice,
    ...((record(error) || isFilled(error)) && { finish_reason: 'error' }),
    delta: {
      ...said,
      ...(Array.isArray(content) ? joinParts(records(content)) : { content }),
      ...((record(calls) || Array.isArray(calls)) && { tool_calls: records(calls).map(toUsualCall) }),
    },
  }
}

function joinParts(parts: readonly Json[]): Json {
  const thought = parts.map((each) => readThought(each) ?? '').join('')
  const texts = parts.filter((each) => readThought(each) === undefined)
  return {
    content: texts.map(({ text, refusal }) => string(text) ?? string(refusal) ?? '').join(''),
    ...(thought !== '' && { reasoning_content: thought }),
  }
}

function toUsualCall({ index, id, ...call }: Json): Json {
  const { name, arguments: given } = record(call.function) ?? call
  const json = typeof given === 'string' || given === null ? given : JSON.stringify(given)
  return {
    ...call,
    ...(isGiven(index) && { index: Number(index) }),
    ...(isGiven(id) && { id: String(id) }),
    function: { name, arguments: json },
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null
