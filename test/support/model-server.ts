import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ModelReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Body of the response, possibly in pieces. An endless body is read as long as the client is connected. */
  readonly body: string | Iterable<string | Uint8Array> | AsyncIterable<string>
  /** State of the connection after the body: it breaks (`cut`), or stays open without further data. */
  readonly end?: 'cut' | 'open'
}

export interface ModelServer {
  /** URL with the path of OpenAI-compatible servers. */
  readonly baseURL: string
  readonly requests: {
    readonly path: string
    readonly headers: IncomingHttpHeaders
    readonly body: ChatBody
  }[]
}

export interface ChatBody {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly [field: string]: unknown
}

/** Starts a server with a scripted model: each request gets the next reply, or the one that a function chooses. */
export async function serveModel(
  script: readonly ModelReply[] | ((body: ChatBody, index: number) => ModelReply),
): Promise<ModelServer> {
  const requests: ModelServer['requests'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body: ChatBody = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    const index = requests.push({ path: request.url ?? '', headers: request.headers, body }) - 1
    const unscripted: ModelReply = {
      status: 500,
      body: JSON.stringify({ error: { message: 'not in the script' } }),
    }
    const reply = (typeof script === 'function' ? script(body, index) : script[index]) ?? unscripted
    const type = (reply.status ?? 200) < 300 ? 'text/event-stream' : 'application/json'
    response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers })
    for await (const piece of typeof reply.body === 'string' ? [reply.body] : reply.body) {
      if (response.destroyed) return
      // Waits for each piece, so that other tasks can run in between.
      await new Promise((resolve) => response.write(piece, resolve))
    }
    if (reply.end === 'cut') response.destroy()
    else if (reply.end === undefined) response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests }
}

/** Encodes server-sent events in OpenAI's format. */
export const events = (...data: readonly (object | string)[]): string =>
  data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')

export const delta = (fields: object, finish_reason: string | null = null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'scripted',
  choices: [{ index: 0, delta: fields, finish_reason, ...more }],
})

/** Encodes a complete stream, up to its regular end. */
export const completion = (finish_reason: string, ...deltas: readonly object[]): string =>
  events(
    ...deltas.map((each) => delta(each)),
    delta({}, finish_reason),
    { ...delta({}), choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
    '[DONE]',
  )

export const saying = (content: string): ModelReply => ({ body: completion('stop', { content }) })

export const calling = (name: string, input: object | string, ...before: readonly object[]): ModelReply => {
  const json = typeof input === 'string' ? input : JSON.stringify(input)
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: json } }
  return { body: completion('tool_calls', ...before, { tool_calls: [call] }) }
}

export const failing = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ModelReply => ({
  status,
  headers,
  body: JSON.stringify({ type: 'error', error: { message, type: 'error', code: null } }),
})
