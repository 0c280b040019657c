import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { settlesWithin } from '../child/settles-within.js'
import { describeFailure } from '../relay/failures.js'
import type { RelayTransport } from '../relay/transport.js'
import { answerIn, hasLostSession } from './refusals.js'
import { watchedFetch } from './watched-fetch.js'

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1]

const FAREWELL_MS = 1000

export interface HttpTransportOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** How long a server that has lost the session may take to greet again, in ms. */
  readonly greetingMs: number
}

/**
 * MCP over Streamable HTTP. A session that the server has lost is begun anew, and what met its end is sent again, for
 * it was not taken. A server out of reach has ended; one that refuses a message has not.
 */
export function httpTransport({ url, headers, greetingMs }: HttpTransportOptions): RelayTransport {
  let end = (_reason: string): void => {}
  const ended = new Promise<{ reason: string }>((resolve) => {
    end = (reason) => resolve({ reason })
  })
  let isClosed = false
  /** How the session was begun, where there is one. */
  let hello: JSONRPCRequest | undefined
  let greeting: Promise<void> | undefined
  let takeGreeting = (_message: JSONRPCMessage): boolean => false

  const fetch: FetchLike = watchedFetch(headers, {
    away: (reason) => end(reason),
    streamLost: () => void greetAgain().catch(() => {}), // That it failed is told as the end.
  })
  const inner = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch })
  inner.onmessage = (message) => {
    if (!takeGreeting(message)) transport.onmessage?.(message)
  }
  inner.onerror = (error) => {
    if (!isClosed) transport.onerror?.(error)
  }
  inner.onclose = () => transport.onclose?.()

  const beginSession = async (request: JSONRPCRequest): Promise<void> => {
    const id = `again ${inner.sessionId}`
    const answered = new Promise<JSONRPCMessage>((resolve, reject) => {
      takeGreeting = (message) => {
        if (!('id' in message) || message.id !== id) return false
        resolve(message)
        return true
      }
      const onRequestStreamEnd = () => reject(new Error('broke off its reply'))
      inner.send({ ...request, id }, { onRequestStreamEnd }).catch(reject)
    })
    if (!(await settlesWithin(answered, greetingMs)))
      throw new Error(`did not answer within ${greetingMs} ms`)
    const answer = await answered
    if (!('result' in answer)) throw new Error('answered with an error')
    inner.setProtocolVersion(String(answer.result.protocolVersion))
    await inner.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** However many messages met the end of a session, the next one is begun once. */
  const greetAgain = async (): Promise<void> => {
    if (hello === undefined || isClosed) return
    greeting ??= beginSession(hello).finally(() => {
      greeting = undefined
    })
    try {
      await greeting
    } catch (error) {
      end(`lost the session, and at a new greeting ${describeFailure(error)}`)
      throw error
    }
  }

  /** What reads the stream of a reply was begun by the sending of its request, and runs in its context. */
  const stream = new AsyncLocalStorage<RequestId | undefined>()
  const sendOnce = (message: JSONRPCMessage, options?: SendOptions): Promise<void> => {
    const id = 'method' in message && 'id' in message ? message.id : undefined
    return stream.run(id, () => inner.send(message, options))
  }

  const send = async (message: JSONRPCMessage, options?: SendOptions): Promise<void> => {
    const { sessionId } = inner
    try {
      await sendOnce(message, options)
    } catch (error) {
      const answer = answerIn(error, message)
      if (answer !== undefined) return transport.onmessage?.(answer)
      if (sessionId === undefined || !('method' in message) || !hasLostSession(error)) throw error
      if (inner.sessionId === sessionId) await greetAgain()
      await sendOnce(message, options)
    }
  }

  const transport: RelayTransport = {
    ended,
    hasPerRequestStream: true,
    streamOf: () => stream.getStore(),
    get sessionId() {
      return inner.sessionId
    },
    start: () => inner.start(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    async send(message, options) {
      if ('method' in message && 'id' in message && message.method === 'initialize') hello = message
      await send(message, options as SendOptions)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await settlesWithin(inner.terminateSession(), FAREWELL_MS)
      end('was disconnected')
      await inner.close()
    },
  }
  return transport
}
