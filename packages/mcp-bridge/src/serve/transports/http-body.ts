import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  readRequestBody,
} from '@modelcontextprotocol/server'
import { restoreResponse } from '../../exact-numbers.js'
import type { FaultLog } from '../../relay/fault-log.js'
import {
  createFailedAnswer,
  createFaultAnswer,
  maxMessageBytes,
  readClientMessages,
  wantsAnswer,
} from './client-messages.js'

/** A request with a parsed body. */
export interface Post {
  readonly request: Request
  readonly body?: JSONRPCMessage | readonly JSONRPCMessage[]
  /** Responses to invalid messages in the body. */
  readonly answers: readonly JSONRPCErrorResponse[]
}

/**
 * Handles a POST request. If only some messages in its body are valid, those are handled, and the others get error responses.
 */
export async function answerPost(
  request: Request,
  faults: FaultLog,
  answer: (post: Post) => Promise<Response>,
): Promise<Response> {
  const read = await readPost(request, faults)
  return restoreResponse(read instanceof Response ? read : await addAnswers(await answer(read), read.answers))
}

/** Parses the messages in the body. Returns an HTTP response if none of them is valid. */
async function readPost(request: Request, faults: FaultLog): Promise<Post | Response> {
  const read = await readRequestBody(request, maxMessageBytes)
  if (read.tooLarge) {
    const text = `${request.headers.get('content-length') ?? 'unknown'} bytes`
    const problem = `it has more than ${maxMessageBytes} bytes, the limit of a message`
    faults.report({ problem, text })
    return respond(413, [createFaultAnswer({ problem, text })])
  }
  const readings = readClientMessages(read.text)
  const failed = readings.flatMap((reading) => ('fault' in reading ? [reading.fault] : []))
  for (const fault of failed) faults.report(fault)
  const messages = readings.flatMap((reading) =>
    'message' in reading ? [reading.message] : (createFailedAnswer(reading.fault) ?? []),
  )
  const answers = failed.filter(wantsAnswer).map(createFaultAnswer)
  const [only] = messages
  if (only === undefined) {
    // Error responses to requests need status 200: clients ignore the body of other responses.
    const isRequest =
      answers.length > 0 && failed.every(({ code }) => code === ProtocolErrorCode.InvalidParams)
    return respond(isRequest ? 200 : 400, answers.length > 0 ? answers : failed.map(createFaultAnswer))
  }
  return {
    request: withUsualAccept(request),
    body: readings.length === 1 ? only : messages,
    answers,
  }
}

const respond = (status: number, answers: readonly JSONRPCErrorResponse[]): Response =>
  Response.json(answers.length > 1 ? answers : answers[0], { status })

const answerTypes = ['application/json', 'text/event-stream']

/**
 * Copies a request without its body. Sets an `accept` header with both media types if the client accepts anything or sends
 * none, because the SDK requires them.
 */
export function withUsualAccept(request: Request): Request {
  const { url, method, signal } = request
  const headers = new Headers(request.headers)
  const accept = headers.get('accept') ?? '*/*'
  const isAccepted = answerTypes.every(
    (type) => accept.includes(type) || accept.includes('*/*') || accept.includes(type.replace(/\/.*/, '/*')),
  )
  if (isAccepted) headers.set('accept', answerTypes.join(', '))
  return new Request(url, { method, headers, signal })
}

/** Adds the responses to invalid messages before the other responses. */
async function addAnswers(response: Response, answers: readonly JSONRPCErrorResponse[]): Promise<Response> {
  if (answers.length === 0) return response
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || !type.startsWith('text/event-stream')) {
    const text = await response.text()
    const more: unknown = text === '' ? [] : JSON.parse(text)
    return Response.json([...answers, ...(Array.isArray(more) ? more : [more])], { status: 200 })
  }
  const events = answers.map((answer) => `event: message\ndata: ${JSON.stringify(answer)}\n\n`)
  const { body, status, headers } = response
  async function* all(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(events.join(''))
    yield* body as unknown as AsyncIterable<Uint8Array>
  }
  return new Response(ReadableStream.from(all()), { status, headers })
}
