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
import { relayError } from '../errors.js'
import { restoreNumbers } from '../exact-numbers.js'
import { describeRelayFailure, isNetworkFailure, parseErrorBody } from './failures.js'
import { hasLostSession, type SessionRefusal } from './lost-session.js'
import { isSameId } from './message-id.js'
import { readBody } from './read-body.js'
import type { RelayTransport } from './relay.js'

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1]

const TERMINATE_TIMEOUT_MS = 1000

interface HttpTransportOptions {
  /** Name of the server in error messages. */
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for a new handshake, after the server has lost the session. */
  readonly handshakeTimeoutMs: number
}

interface Attempt {
  readonly message: JSONRPCMessage
  readonly options: SendOptions
  /** The session id in the header of the message. */
  readonly sessionId: string | undefined
}

/** A message that was sent, with the state of its reply. */
interface Sent extends Attempt {
  readonly inner: StreamableHTTPClientTransport
  readonly id: RequestId | undefined
  readonly isRepeated: boolean
  /**
   * Set when the server has sent a message about this one, such as its progress: it has accepted this one, which is not sent
   * again.
   */
  hasNews: boolean
  /**
   * Messages of the reply as received, with exact numbers, until the SDK delivers its own copies, whose numbers may be rounded.
   */
  readonly unread: JSONRPCMessage[]
  /** Set if the message was sent again, so that the end of this reply is ignored. */
  isReplaced: boolean
  /** Event id from which the stream of the reply was last resumed. */
  lastEventId: string | null
  /** Number of consecutive resumptions without progress, and the time of the last one by `performance.now`. */
  cuts: number
  resumedAt: number
}

/**
 * The message whose reply is being read: a reply's stream is read in the async context of its request. Shared by all
 * transports: before Node.js 24, each storage slows down every promise of the process, even when it is no longer used.
 */
const sending = new AsyncLocalStorage<Sent>()

/**
 * An MCP transport over Streamable HTTP. If the server has lost the session, it starts a new one, and sends the refused message
 * again, once. An unreachable server counts as ended; a server that refuses a message does not.
 */
export function httpTransport({
  name,
  url,
  headers,
  handshakeTimeoutMs,
}: HttpTransportOptions): RelayTransport {
  let end = (_reason: string): void => {}
  const ended = new Promise<{ reason: string }>((resolve) => {
    end = (reason) => resolve({ reason })
  })
  let isClosed = false
  /** The `initialize` request of the handshake, which is sent again to start a new session. */
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
        const answer = { ...relayError('cut', { name, cuts: sent.cuts }), id: sent.id }
        transport.onmessage?.(answer as JSONRPCMessage)
        return false
      }
      // The event id is kept here: the SDK forgets it if a resumed stream is cut again before its first event.
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

  /** Starts a new session, once for concurrent failures. */
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

  /** Whether a refusal means that a new session is needed. */
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

  /** Sends a message again in a new session, after a response has refused it. */
  const repeat = (sent: Sent): void => {
    sent.isReplaced = true
    renewAndRepeat(sent).catch((error: unknown) => {
      const reason = `lost the session, and ${describeRelayFailure(error)} when it was called again`
      const answer = { ...relayError('not_taken', { name, reason }), id: sent.id }
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

  /** If an HTTP error contains a JSON-RPC response to the message, delivers the response; otherwise throws the error. */
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

/**
 * Returns the copy of a message that has exact numbers. Drops the copies before it, because the SDK has skipped those messages.
 */
function takeExact(sent: Sent | undefined, message: JSONRPCMessage): JSONRPCMessage {
  const isSame = (each: JSONRPCMessage): boolean =>
    ['id', 'method'].every((name) => Reflect.get(each, name) === Reflect.get(message, name))
  const at = sent?.unread.findIndex(isSame) ?? -1
  return sent?.unread.splice(0, at + 1).at(-1) ?? message
}

/** Maximum consecutive cuts of a reply; then its call fails. */
const maxCuts = 5
/**
 * Cuts after this many milliseconds do not count: proxies end idle streams, and servers close streams until the client resumes
 * them.
 */
const slowCutMs = 10_000

/** Counts a cut of a reply's stream. Returns whether it may be resumed again. */
function countCut(sent: Sent, lastEventId: string): boolean {
  const now = performance.now()
  const isQuick = lastEventId === sent.lastEventId && now - sent.resumedAt < slowCutMs
  sent.cuts = isQuick ? sent.cuts + 1 : 1
  sent.resumedAt = now
  return sent.cuts < maxCuts
}

/** HTTP statuses that concern the credentials rather than the message. */
const personal = [401, 403]

/** Returns the JSON-RPC response in an HTTP error: servers of revision 2026-07-28 answer unknown methods like that. */
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
  /** Called if no server responds at the address. */
  onUnavailable(reason: string): void
  /** Called if the server refuses to open the stream for notifications again. */
  onStreamRefused(refusal: SessionRefusal): void
  /** Converts the marked strings in the body of a request back to exact numbers, which the SDK would have rounded. */
  writeBody(body: string): string
  /** Called before a stream is opened or resumed; `false` prevents it. */
  onResume(headers: Headers): boolean
  readBody(response: Response): Promise<Response>
}

/** Statuses with which a proxy reports that its server is unavailable. Not 504, which may concern a single slow response. */
const awayStatuses = [502, 503]

/** Creates a `fetch` that detects an unavailable server, and redacts header values in error bodies. */
function watchedFetch(headers: Readonly<Record<string, string>>, watcher: Watcher): FetchLike {
  const redact = redactor(headers)
  let hasStream = false

  return async (url, init) => {
    // Returns 405, which the SDK treats as the end of the stream; after an exception it would retry.
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

/**
 * Whether the server is unreachable. A response that is too slow also fails as a network error, but from a reachable server.
 */
function isAbsence(error: unknown): boolean {
  return isNetworkFailure(error) && !('code' in error.cause && error.cause.code === 'UND_ERR_HEADERS_TIMEOUT')
}

/** Maximum bytes of a message, as over stdio. */
const MAX_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** Minimum characters of a redacted header value: shorter ones would match ordinary text. */
const SHORTEST_SECRET = 8

/** Creates a function that redacts header values in a text, because a server may echo them. */
function redactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const words = Object.values(headers).flatMap((value) => value.trim().split(/\s+/))
  const secrets = words.filter((word) => word.length >= SHORTEST_SECRET)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
