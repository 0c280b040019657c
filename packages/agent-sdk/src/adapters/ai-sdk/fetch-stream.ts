import { readThought } from '../../extract/chat.js'
import { isFilled, type Json, record, records, string } from '../../extract/json.js'
import { findJsonEnd, parseJson } from '../../extract/json-text.js'

/** A successful response that is not a stream. */
export class NoStreamError extends Error {
  override readonly name = 'NoStreamError'

  /** `body`: the response, if it is a page or JSON. Plain text may be reasoning, so it is not kept. */
  constructor(readonly body: string) {
    super('the answer is not a stream')
  }
}

/** Maximum characters read of a response that is not a stream. */
const maxChars = 4_000_000
/** Matches the beginning of an event stream. An empty body counts as a stream. */
const isStream = /^(?:$|:|data\b|event\b|id\b|retry\b)/
/** Characters of a response after which `isStream` can decide. */
const shownChars = 6

/**
 * Fetches a streamed answer, with events normalized to OpenAI's form. Converts a complete answer to a stream, whatever its
 * content type; rejects with `NoStreamError` if it is not an answer.
 */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.ok || response.body === null) return response
  const text = new TextBody(response.body)
  const body = isStream.test(await text.peek()) ? toEvents(text) : [toStream(await text.readAll())]
  const bytes = ReadableStream.from(body).pipeThrough(new TextEncoderStream())
  return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
}

/** The text of a response body; `peek` reads its beginning without consuming it. */
class TextBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #ahead = ''

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** Returns the first non-blank characters. */
  async peek(): Promise<string> {
    for (;;) {
      const beginning = this.#ahead.trimStart()
      if (beginning.startsWith(':') || beginning.length >= shownChars) return beginning
      // An error is ignored here, because the next read fails with the same error.
      const text = await this.#read().catch(() => undefined)
      if (text === undefined) return beginning
      this.#ahead += text
    }
  }

  async readAll(): Promise<string> {
    let all = ''
    for await (const piece of this) {
      all += piece
      if (all.length > maxChars) break
    }
    return all
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      yield this.#ahead
      for (;;) {
        const text = await this.#read()
        if (text === undefined) return
        yield text
      }
    } finally {
      // A failed connection cannot be cancelled; its error was already thrown.
      await this.#reader.cancel().catch(() => {})
    }
  }

  /** Reads the next text; `undefined` = end of the body. */
  async #read(): Promise<string | undefined> {
    const { value } = await this.#reader.read()
    return value && this.#decoder.decode(value, { stream: true })
  }
}

const end = /^data:\s*\[DONE\]/im

/** Splits a stream into events. Ends with the last event, even if the connection stays open. */
async function* toEvents(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of text) {
    rest += piece
    const whole = rest.slice(0, Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r')) + 1)
    rest = rest.slice(whole.length)
    const last = end.exec(whole)
    yield toUsualLines(last === null ? whole : whole.slice(0, last.index))
    if (last !== null) return
  }
  yield toUsualLines(rest)
}

/** Wraps a complete answer as the only event of a stream. */
function toStream(text: string): string {
  const answer = parseJson(text)
  const choices = record(answer)?.choices
  const isAnswer = Array.isArray(choices) && choices.every((each) => record(record(each)?.message))
  if (!isAnswer) throw new NoStreamError(Object(answer) === answer || /^\s*</.test(text) ? text : '')
  return `data: ${toUsualEvent(text)}\n\ndata: [DONE]\n\n`
}

/** Normalizes server-sent events to the form of OpenAI's servers. */
function toUsualLines(text: string): string {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines.map(toUsualLine).join('')
}

/** Normalizes one line. Some servers omit the blank line after an event, or the `data:` before it. */
function toUsualLine(line: string): string {
  const data = /^(?:data:|(?=\{))(.*)/.exec(line)?.[1]
  const event = data === undefined ? undefined : toUsualEvent(data)
  return event === undefined ? `${line}\n` : `data: ${event}\n\n`
}

/** Normalizes the JSON of an event; `undefined` = incomplete. */
function toUsualEvent(data: string): string | undefined {
  const { error, ...event } = record(parseJson(quoteArguments(data))) ?? {}
  if (event.object === 'error') return JSON.stringify({ error: event })
  const choices = Array.isArray(event.choices) && { choices: records(event.choices).map(toUsualChoice) }
  // Foundry Local sends an empty error in each event, which the package would take for a failure.
  const whole = { ...event, ...choices, ...(isGiven(error) && { error }) }
  return Object.keys(whole).length === 0 ? undefined : JSON.stringify(whole)
}

/** Converts call arguments from a JSON object to a string, so that numbers keep their digits. */
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
  // `function_call` is the older form of a single call.
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
