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

/** Fetches a streamed answer. One that came whole becomes a stream; rejects with `NoStreamError` if it is no answer. */
export const fetchStream: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const type = response.headers.get('content-type') ?? ''
  if (!response.ok || !/json|html/i.test(type)) return response
  const text = await response.text()
  // Some servers name another type than the one they send.
  const body = /^\s*[{[<]/.test(text) ? toStream(text.slice(0, maxChars)) : text
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

interface Choice {
  readonly message: { readonly tool_calls?: readonly object[] }
}

/** A whole answer as the only piece of a stream. */
function toStream(text: string): string {
  const answer = parse(text)
  const choices: unknown = Object(answer).choices
  if (!Array.isArray(choices) || !choices.every(isChoice)) throw new NoStreamError(text)
  const pieces = choices.map(({ message, ...choice }) => {
    const { tool_calls, ...delta } = message
    const calls = tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }
    return { ...choice, delta: { ...delta, ...calls } }
  })
  return `data: ${JSON.stringify({ ...Object(answer), choices: pieces })}\n\ndata: [DONE]\n\n`
}

const isChoice = (value: unknown): value is Choice =>
  typeof Object(Object(value).message) === 'object' && Object(value).message !== undefined

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
