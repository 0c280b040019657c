import { AsyncLocalStorage } from 'node:async_hooks'
import { parseExact, stringifyExact } from '@meup/protocol'
import {
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SdkHttpError,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { settlesWithin } from '../child/lines.js'
import { restoreNumbers } from '../exact-numbers.js'
import { createRpcError, RelayError } from './calls.js'
import { describeRelayFailure, isNetworkFailure, parseErrorBody } from './failures.js'
import { hasLostSession, type SessionRefusal } from './lost-session.js'
import { isSameId } from './message-id.js'
import { readBody } from './read-body.js'
import type { RelayTransport } from './relay.js'

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1]

const TERMINATE_TIMEOUT_MS = 1000

interface HttpTransportOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for a new handshake after the server lost the session. */
  readonly handshakeTimeoutMs: number
}

interface Attempt {
  readonly message: JSONRPCMessage
  readonly options: SendOptions
  /** The session in its header. */
  readonly sessionId: string | undefined
}

/** A message being sent, with its reply. */
interface Sent extends Attempt {
  readonly inner: StreamableHTTPClientTransport
  readonly id: RequestId | undefined
  readonly isRepeated: boolean
  /** Whether the server has sent anything about it, so that it is being carried out. */
  hasNews: boolean
  /** Messages of the reply that the SDK parses next, with exact numbers. */
  readonly unread: JSONRPCMessage[]
  /** It was sent again, so the end of this reply does not matter. */
  isReplaced: boolean
  /** Event id from which the reply's stream was last resumed. */
  lastEventId: string | null
  /** Consecutive resumptions without progress, and the time of the last one by `performance.now`. */
  cuts: number
  resumedAt: number
}

/**
 * The message being sent: the stream of a reply is read in the async context of its request. One storage for all transports,
 * because before Node.js 24 each one slows down every promise of the process, even after it is unreferenced.
 */
const sending = new AsyncLocalStorage<Sent>()

/**
 * MCP over Streamable HTTP. Renews a session that the server has lost, and resends the message that it refused for that reason,
 * once. An unreachable server counts as ended, but not one that refuses a message.
 */
export function httpTransport({ url, headers, handshakeTimeoutMs }: HttpTransportOptions): RelayTransport {
  let end = (_reason: string): void => {}
  const ended = new Promise<{ reason: string }>((resolve) => {
    end = (reason) => resolve({ reason })
  })
  let isClosed = false
  /** The `initialize` request of the session. */
  let initializeRequest: JSONRPCRequest | undefined
  let renewal: Promise<void> | undefined
  let onHandshakeMessage = (_message: JSONRPCMessage): boolean => false

  const getSent = (): Sent | undefined => {
    const sent = sending.getStore()
    return sent?.inner === inner ? sent : undefined
  }
  const fetch: FetchLike = watchedFetch(headers, {
    onUnavailable: (reason) => end(reason),
    onStreamRefused(refusal) {
      if (canRenew(refusal, inner.sessionId, undefined)) renewSession().catch(() => {}) // `ended` reports a failure.
    },
    // The SDK loses its position if a resumed stream is cut again before its first event.
    writeBody(body) {
      const sent = getSent()
      const isSent = sent !== undefined && JSON.stringify(sent.message) === body
      return restoreNumbers(isSent ? stringifyExact(sent.message) : body)
    },
    onResume(headers) {
      const sent = getSent()
      const id = headers.get('last-event-id') ?? sent?.lastEventId
      if (sent === undefined || typeof id !== 'string') return true
      if (sent.id !== undefined && !countCut(sent, id)) {
        const message = `the stream of its reply was cut ${sent.cuts} times, without any message in between`
        transport.onmessage?.({
          ...createRpcError(RelayError.serverEnded, message),
          id: sent.id,
        } as JSONRPCMessage)
        return false
      }
      sent.lastEventId = id
      headers.set('last-event-id', id)
      return true
    },
    readBody: (response) =>
      readBody(response, {
        maxBytes: MAX_BYTES,
        asked: getSent()?.id,
        onFault: (fault) => transport.onfault?.(fault),
        onMessage: (message) => void getSent()?.unread.push(message),
      }),
  })
  const inner = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch })
  inner.onmessage = (message) => {
    if (onHandshakeMessage(message)) return
    const sent = getSent()
    const isAnswer = sent !== undefined && 'error' in message && isSameId(message.id, sent.id)
    if (isAnswer && isSessionError(sent, message)) repeat(sent)
    else transport.onmessage?.(takeExact(sent, message))
    if (sent === undefined) return
    sent.hasNews = true
    sent.cuts = 0
  }
  inner.onerror = (error) => {
    if (!isClosed) transport.onerror?.(error)
  }
  inner.onclose = () => transport.onclose?.()

  const beginSession = async (request: JSONRPCRequest): Promise<void> => {
    const id = `again ${inner.sessionId}`
    const answered = new Promise<JSONRPCMessage>((resolve, reject) => {
      onHandshakeMessage = (message) => {
        if (!('id' in message) || message.id !== id) return false
        resolve(message)
        return true
      }
      const onRequestStreamEnd = () => reject(new Error('broke off its reply'))
      sendOnce({ ...request, id }, { onRequestStreamEnd }).catch(reject)
    })
    if (!(await settlesWithin(answered, handshakeTimeoutMs)))
      throw new Error(`did not answer within ${handshakeTimeoutMs} ms`)
    const answer = await answered
    if (!('result' in answer)) throw new Error('answered with an error')
    inner.setProtocolVersion(String(Object(answer.result).protocolVersion))
    await sendOnce({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Renews the session once for concurrent failures. */
  const renewSession = async (): Promise<void> => {
    if (initializeRequest === undefined || isClosed) return
    renewal ??= beginSession(initializeRequest).finally(() => {
      renewal = undefined
    })
    try {
      await renewal
    } catch (error) {
      end(`lost the session, and a new handshake failed: it ${describeRelayFailure(error)}`)
      throw error
    }
  }

  /** Whether the response to a message means that its session has to be renewed. */
  const canRenew = (
    refusal: SessionRefusal,
    sessionId: string | undefined,
    message: JSONRPCMessage | undefined,
  ): boolean => {
    const params = message !== undefined && 'params' in message ? message.params : undefined
    return sessionId !== undefined && initializeRequest !== undefined && hasLostSession(refusal, params)
  }

  const isSessionError = (
    { sessionId, message, isRepeated, hasNews }: Sent,
    answer: JSONRPCMessage,
  ): boolean =>
    !isRepeated && !hasNews && canRenew({ status: 200, body: JSON.stringify(answer) }, sessionId, message)

  const renewAndRepeat = async ({ message, options, sessionId }: Attempt): Promise<void> => {
    if (inner.sessionId === sessionId || renewal !== undefined) await renewSession()
    await sendOnce(message, options, true).catch((error: unknown) => deliverError(error, message))
  }

  /** Sends a message again after a refusal in a response. */
  const repeat = (sent: Sent): void => {
    sent.isReplaced = true
    renewAndRepeat(sent).catch((error: unknown) => {
      const message = `the session was lost, and the call could not be repeated: it ${describeRelayFailure(error)}`
      const answer = { ...createRpcError(RelayError.serverEnded, message), id: sent.id }
      transport.onmessage?.(answer as JSONRPCMessage)
    })
  }

  const sendOnce = (
    message: JSONRPCMessage,
    options: SendOptions = {},
    isRepeated = false,
  ): Promise<void> => {
    const id = 'method' in message && 'id' in message ? message.id : undefined
    const { sessionId } = inner
    const sent: Sent = {
      inner,
      message,
      id,
      options,
      sessionId,
      isRepeated,
      hasNews: false,
      unread: [],
      isReplaced: false,
      lastEventId: null,
      cuts: 0,
      resumedAt: 0,
    }
    const onRequestStreamEnd = (): void => {
      if (!sent.isReplaced) options.onRequestStreamEnd?.()
    }
    return sending.run(sent, () => inner.send(message, { ...options, onRequestStreamEnd }))
  }

  const send = async (message: JSONRPCMessage, options: SendOptions): Promise<void> => {
    const { sessionId } = inner
    try {
      await sendOnce(message, options)
    } catch (error) {
      const canRepeat = 'method' in message && error instanceof SdkHttpError
      if (canRepeat && canRenew(toRefusal(error), sessionId, message)) {
        return renewAndRepeat({ message, options, sessionId })
      }
      deliverError(error, message)
    }
  }

  /** A JSON-RPC response in an HTTP error is a regular response. */
  const deliverError = (error: unknown, message: JSONRPCMessage): void => {
    const answer = getErrorResponse(error, message)
    if (answer === undefined) throw error
    transport.onmessage?.(answer)
  }

  const transport: RelayTransport = {
    ended,
    hasPerRequestStream: true,
    getStreamRequest: () => getSent()?.id,
    get sessionId() {
      return inner.sessionId
    },
    start: () => inner.start(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    async send(message, options) {
      if ('method' in message && 'id' in message && message.method === 'initialize')
        initializeRequest = message
      await send(message, options as SendOptions)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await settlesWithin(inner.terminateSession(), TERMINATE_TIMEOUT_MS)
      end('was disconnected')
      await inner.close()
    },
  }
  return transport
}

/** The message with exact numbers. The SDK skips unknown messages. */
function takeExact(sent: Sent | undefined, message: JSONRPCMessage): JSONRPCMessage {
  const isSame = (each: JSONRPCMessage): boolean =>
    ['id', 'method'].every((name) => Reflect.get(each, name) === Reflect.get(message, name))
  const at = sent?.unread.findIndex(isSame) ?? -1
  return sent?.unread.splice(0, at + 1).at(-1) ?? message
}

/** Consecutive cuts of a reply after which its call fails. */
const maxCuts = 5
/** Cuts after this many milliseconds are not counted: proxies end idle streams, and servers close them until the client resumes. */
const slowCutMs = 10_000

/** Whether the stream of a reply may be resumed again from this event. */
function countCut(sent: Sent, lastEventId: string): boolean {
  const now = performance.now()
  const isQuick = lastEventId === sent.lastEventId && now - sent.resumedAt < slowCutMs
  sent.cuts = isQuick ? sent.cuts + 1 : 1
  sent.resumedAt = now
  return sent.cuts < maxCuts
}

/** Statuses about the caller rather than the request. */
const personal = [401, 403]

/** The JSON-RPC response in an HTTP error, as revision 2026-07-28 answers unknown methods. */
function getErrorResponse(error: unknown, message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!(error instanceof SdkHttpError) || !('id' in message) || personal.includes(error.status))
    return undefined
  const { text } = error.data
  return isSameId(parseErrorBody(text)?.id, message.id)
    ? (parseExact(String(text)) as JSONRPCMessage)
    : undefined
}

const toRefusal = ({ status, data }: SdkHttpError): SessionRefusal => ({
  status: status ?? 0,
  body: String(data.text ?? ''),
})

interface Watcher {
  /** No server responds at the address. */
  onUnavailable(reason: string): void
  /** The server refuses to reopen a stream. */
  onStreamRefused(refusal: SessionRefusal): void
  /** Restores exact numbers in the text of a message. */
  writeBody(body: string): string
  /** Called before a stream is opened or resumed; `false` = do not. */
  onResume(headers: Headers): boolean
  readBody(response: Response): Promise<Response>
}

/** Statuses of a proxy without a server; not 504, a single slow response. */
const awayStatuses = [502, 503]

/** `fetch` that detects an unavailable server and redacts header values in errors. */
function watchedFetch(headers: Readonly<Record<string, string>>, watcher: Watcher): FetchLike {
  const redact = redactor(headers)
  let hasStream = false

  return async (url, init) => {
    // The SDK takes 405 for the end of the stream, and would retry after an error.
    if (init?.method === 'GET' && init.headers instanceof Headers && !watcher.onResume(init.headers))
      return new Response(null, { status: 405 })
    const exact = typeof init?.body === 'string' ? { ...init, body: watcher.writeBody(init.body) } : init
    const response = await fetch(url, exact).catch((error: unknown) => {
      if (isAbsence(error)) watcher.onUnavailable(describeRelayFailure(error))
      throw error
    })
    const { status } = response
    if (awayStatuses.includes(status)) watcher.onUnavailable(`answered HTTP ${status}`)
    const body = await watcher.readBody(response)
    if (response.ok) {
      hasStream ||= init?.method === 'GET'
      return body
    }
    const text = redact(await body.text())
    if (init?.method === 'GET') {
      if (hasStream) watcher.onStreamRefused({ status, body: text })
      hasStream = false
    }
    return new Response(body.body === null ? null : text, response)
  }
}

/** Excludes a slow response, which fails in the same way. */
function isAbsence(error: unknown): boolean {
  return isNetworkFailure(error) && !('code' in error.cause && error.cause.code === 'UND_ERR_HEADERS_TIMEOUT')
}

/** Same limit as for a line over stdio. */
const MAX_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** Shorter header values are not redacted, because they would match any text. */
const SHORTEST_SECRET = 8

/** Redacts header values in logged text, which a server may echo. */
function redactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const words = Object.values(headers).flatMap((value) => value.trim().split(/\s+/))
  const secrets = words.filter((word) => word.length >= SHORTEST_SECRET)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
