import { AsyncLocalStorage } from 'node:async_hooks'
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
import { describeFailure, isNetworkFailure, parseErrorBody } from './failures.js'
import type { RelayTransport } from './relay.js'

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1]

const TERMINATE_TIMEOUT_MS = 1000

interface HttpTransportOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for a new handshake after the server lost the session. */
  readonly handshakeTimeoutMs: number
}

/**
 * The message that is sent: the stream of a reply is read in the async context of its request. One storage for all transports:
 * before Node.js 24 each one slows down every promise of the process, even when nothing refers to it any more.
 */
const sending = new AsyncLocalStorage<{
  readonly inner: StreamableHTTPClientTransport
  readonly id: RequestId | undefined
}>()

/**
 * MCP over Streamable HTTP. A session that the server has lost is renewed, and the message that it refused for that is
 * sent again. An unreachable server counts as ended; one that refuses a message does not.
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

  const fetch: FetchLike = watchedFetch(headers, {
    onUnavailable: (reason) => end(reason),
    onStreamLost: () => void renewSession().catch(() => {}), // A failure is reported by `ended`.
  })
  const inner = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch })
  inner.onmessage = (message) => {
    if (!onHandshakeMessage(message)) transport.onmessage?.(message)
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
      inner.send({ ...request, id }, { onRequestStreamEnd }).catch(reject)
    })
    if (!(await settlesWithin(answered, handshakeTimeoutMs)))
      throw new Error(`did not answer within ${handshakeTimeoutMs} ms`)
    const answer = await answered
    if (!('result' in answer)) throw new Error('answered with an error')
    inner.setProtocolVersion(String(answer.result.protocolVersion))
    await inner.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Concurrent failures of a session renew it once. */
  const renewSession = async (): Promise<void> => {
    if (initializeRequest === undefined || isClosed) return
    renewal ??= beginSession(initializeRequest).finally(() => {
      renewal = undefined
    })
    try {
      await renewal
    } catch (error) {
      end(`lost the session, and a new handshake failed: it ${describeFailure(error)}`)
      throw error
    }
  }

  const sendOnce = (message: JSONRPCMessage, options?: SendOptions): Promise<void> => {
    const id = 'method' in message && 'id' in message ? message.id : undefined
    return sending.run({ inner, id }, () => inner.send(message, options))
  }

  const send = async (message: JSONRPCMessage, options?: SendOptions): Promise<void> => {
    const { sessionId } = inner
    try {
      await sendOnce(message, options)
    } catch (error) {
      const answer = getErrorResponse(error, message)
      if (answer !== undefined) return transport.onmessage?.(answer)
      if (sessionId === undefined || !('method' in message) || !hasLostSession(error)) throw error
      if (inner.sessionId === sessionId) await renewSession()
      await sendOnce(message, options)
    }
  }

  const transport: RelayTransport = {
    ended,
    hasPerRequestStream: true,
    getStreamRequest() {
      const sent = sending.getStore()
      return sent?.inner === inner ? sent.id : undefined
    },
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

/** Statuses about the caller, not the request. */
const personal = [401, 403]

/** The JSON-RPC answer in an HTTP error: revision 2026-07-28 answers unknown methods so. */
function getErrorResponse(error: unknown, message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!(error instanceof SdkHttpError) || !('id' in message) || personal.includes(error.status))
    return undefined
  const { text } = error.data
  return parseErrorBody(text)?.id === message.id ? (JSON.parse(String(text)) as JSONRPCMessage) : undefined
}

/** The specification says 404; older examples of the SDK use 400 with a reason. */
function hasLostSession(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(String(error.data.text)))
}

interface Watcher {
  /** No server answers at the address. */
  onUnavailable(reason: string): void
  /** The server no longer knows a session whose stream it had opened. */
  onStreamLost(): void
}

/** Statuses of a proxy without a server. A single slow answer (504) is different. */
const awayStatuses = [502, 503]

/** `fetch` that reports an unavailable server and redacts header values in errors. */
function watchedFetch(headers: Readonly<Record<string, string>>, watcher: Watcher): FetchLike {
  const redact = redactor(headers)
  let hasStream = false

  return async (url, init) => {
    const response = await fetch(url, init).catch((error: unknown) => {
      if (isAbsence(error)) watcher.onUnavailable(describeFailure(error))
      throw error
    })
    if (awayStatuses.includes(response.status)) watcher.onUnavailable(`answered HTTP ${response.status}`)
    if (init?.method === 'GET') {
      if (hasStream && response.status === 404) watcher.onStreamLost()
      hasStream = response.ok
    }
    if (response.body === null) return response
    const body = bounded(response)
    return response.ok ? body : new Response(redact(await body.text()), response)
  }
}

/** A slow answer fails in the same way, and is excluded. */
function isAbsence(error: unknown): boolean {
  return isNetworkFailure(error) && !('code' in error.cause && error.cause.code === 'UND_ERR_HEADERS_TIMEOUT')
}

/** The limit of a line over stdio. */
const MAX_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** The end of a server-sent event. */
const emptyLine = /\r?\n\r?\n|\r\r/g

/** Limits the size of each message of a response. */
function bounded(response: Response): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  let size = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size = isStream ? afterLastEvent(chunk, size) : size + chunk.length
      if (size > MAX_BYTES) controller.error(new Error(`answered with more than ${MAX_BYTES} bytes`))
      else controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(count), response)
}

/** Bytes since the last complete event. */
function afterLastEvent(chunk: Uint8Array, before: number): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
  const last = [...text.matchAll(emptyLine)].at(-1)
  return last === undefined ? before + chunk.length : chunk.length - last.index - last[0].length
}

/** Shorter header values are not redacted: they would match any text. */
const SHORTEST_SECRET = 8

/** Redacts header values in logged text, which a server may echo. */
function redactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const words = Object.values(headers).flatMap((value) => value.trim().split(/\s+/))
  const secrets = words.filter((word) => word.length >= SHORTEST_SECRET)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
