/** A server gave something else than a stream, with a status of success. */
export class NoStreamError extends Error {
  override readonly name = 'NoStreamError'

  /** `body`: what it gave instead, if that is a page or JSON: a text may be what a model thinks. */
  constructor(readonly body: string) {
    super('the answer is no stream')
  }
}

/** Characters of an answer that is none. */
const maxChars = 4_000_000
/** How a stream of events begins; an empty body is one, too. */
const isStream = /^(?:$|:|data\b|event\b|id\b|retry\b)/
/** Characters that show whether it does. */
const shownChars = 6

/**
 * Fetches a streamed answer. One that came whole becomes a stream, whatever type its server names; rejects with `NoStreamError` if it is
 * no answer.
 */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.ok || response.body === null) return response
  const text = new TextBody(response.body)
  const body = isStream.test(await text.peek()) ? toEvents(text) : [toStream(await text.readAll())]
  const bytes = ReadableStream.from(body).pipeThrough(new TextEncoderStream())
  return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
}

/** The text of a body, of which the beginning can be known before it is read. */
class TextBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #ahead = ''

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** Gives the first characters that are not blank. */
  async peek(): Promise<string> {
    for (;;) {
      const beginning = this.#ahead.trimStart()
      if (beginning.startsWith(':') || beginning.length >= shownChars) return beginning
      // A failure is that of the stream, which is read next.
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
      // The connection may have failed already.
      await this.#reader.cancel().catch(() => {})
    }
  }

  /** `undefined`: that was all. */
  async #read(): Promise<string | undefined> {
    const { value } = await this.#reader.read()
    return value && this.#decoder.decode(value, { stream: true })
  }
}

/** Foundry Local says so in each piece; the package takes it for an error. */
const noError = /(?<!\\)"error"\s*:\s*null/g
const end = /^data:\s*\[DONE\]/m

const toPiece = (text: string): string => text.replaceAll(noError, '"noError":null')

/** Events that end where they say so, also if the connection stays open. */
async function* toEvents(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of text) {
    rest += piece
    const whole = rest.slice(0, Math.max(rest.lastIndexOf('\n'), rest.lastIndexOf('\r')) + 1)
    rest = rest.slice(whole.length)
    const last = end.exec(whole)
    yield toPiece(last === null ? whole : whole.slice(0, last.index))
    if (last !== null) return
  }
  yield toPiece(rest)
}

interface Choice {
  readonly message: { readonly tool_calls?: readonly object[] }
}

/** A whole answer as the only piece of a stream. */
function toStream(text: string): string {
  const answer = parse(text)
  const choices: unknown = Object(answer).choices
  if (!Array.isArray(choices) || !choices.every(isChoice))
    throw new NoStreamError(Object(answer) === answer || /^\s*</.test(text) ? text : '')
  const pieces = choices.map(({ message, ...choice }) => {
    const { tool_calls, ...delta } = message
    const calls = tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }
    return { ...choice, delta: { ...delta, ...calls } }
  })
  return `data: ${JSON.stringify({ ...Object(answer), choices: pieces })}\n\ndata: [DONE]\n\n`
}

const isChoice = (value: unknown): value is Choice =>
  typeof Object(value).message === 'object' && Object(value).message !== null

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
