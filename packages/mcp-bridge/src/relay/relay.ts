import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { type CallOptions, createCalls, withRequestId } from './calls.js'
import { type McpServerInfo, performHandshake } from './handshake.js'

export interface McpRelay extends AsyncDisposable {
  /** What the server said of itself at its start. */
  readonly server: McpServerInfo
  /**
   * Relays one JSON-RPC request as it stands; gives back the response under the id of the request. Never rejects:
   * a server that has ended or is out of reach (-32000), a timeout (-32001) and an abort (-32800) are JSON-RPC errors
   * too. `initialize` is answered from what the server said at its start.
   */
  request(payload: McpRequestPayload, options?: CallOptions): Promise<McpResponsePayload>
  /**
   * Passes a notification on; rejects when the server has ended. `notifications/initialized` was sent at the start,
   * and `notifications/cancelled` names a request by an id that is the asker's own: both go no further. To cancel
   * a request, abort its signal.
   */
  notify(payload: McpRequestPayload): Promise<void>
  /** Resolves when the server has ended, however; the reason reads "exited with code 1". */
  readonly closed: Promise<{ reason: string }>
  close(): Promise<void>
}

/** Gets what the server tells that is about no call for certain, as it stands. */
export type OnNotification = (payload: McpRequestPayload) => void

interface RelayOptions {
  readonly name: string
  readonly transport: RelayTransport
  readonly mode: VersionNegotiationMode
  readonly startTimeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly onNotification: OnNotification | undefined
  readonly onWarning: (message: string) => void
}

const notRelayed = ['notifications/initialized', 'notifications/cancelled']

/** What concerns a single request, or only the conversation with us. */
const notAnnounced = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
]

/**
 * Starts an MCP conversation and relays over it. The SDK's client does the greeting and what the server asks of us;
 * relayed messages pass it by, for it knows the kinds of results and drops or refuses what it does not know.
 */
export async function openRelay(options: RelayOptions): Promise<McpRelay> {
  const { name, transport, signal, onNotification } = options
  transport.onmessage = (message) => {
    if (!('method' in message) || 'id' in message || notAnnounced.includes(message.method)) return
    onNotification?.(message as McpRequestPayload)
  }
  const giveUp = () => void transport.close()
  signal?.addEventListener('abort', giveUp)
  const handshake = performHandshake(transport, {
    mode: options.mode,
    timeoutMs: options.startTimeoutMs,
    onWarning: options.onWarning,
  })
  const { server, initializeResult, meta } = await handshake.finally(() => {
    signal?.removeEventListener('abort', giveUp)
  })

  const calls = createCalls(name, (message, how) => transport.send(withMeta(message, meta), how))
  const toClient = transport.onmessage
  transport.onmessage = (message, extra) => {
    if (!calls.onMessage(message, transport.getStreamRequest?.())) toClient(message, extra)
  }
  const closed = transport.ended.then(async (outcome) => {
    calls.end(outcome.reason)
    await transport.close()
    return outcome
  })
  const close = async () => {
    await transport.close()
    await closed
  }
  return {
    server,
    closed,
    close,
    [Symbol.asyncDispose]: close,
    async request(payload, callOptions = {}) {
      if (payload.method !== 'initialize') return calls.request(payload, callOptions)
      return withRequestId(payload, { jsonrpc: '2.0', id: null, result: initializeResult })
    },
    async notify(payload) {
      if (!notRelayed.includes(payload.method)) await calls.notify(payload)
    },
  }
}

/** Where the asker has set a key itself, that stands. */
function withMeta(message: JSONRPCMessage, meta: Readonly<Record<string, unknown>>): JSONRPCMessage {
  if (!('method' in message) || Object.keys(meta).length === 0) return message
  return { ...message, params: { ...message.params, _meta: { ...meta, ...message.params?._meta } } }
}

/** What is said of every server, however it is reached. */
export interface ServerOptions {
  /** What the server is called in messages about it. */
  readonly name: string
  /** How long the server may take to answer its first request, in ms; default 60000. */
  readonly startTimeoutMs?: number
  /** Gives up the start; afterwards it means nothing. */
  readonly signal?: AbortSignal
  /** A line for the log: of the server's stderr, or about something odd that it did. */
  readonly log?: (line: string) => void
}

/** A way to one server. */
export interface RelayTransport extends Transport {
  /** Resolves when the server is gone and its last message is delivered; the reason reads "exited with code 1". */
  readonly ended: Promise<{ reason: string }>
  /** While a message is delivered: the request on whose stream it came, where each has a stream of its own. */
  getStreamRequest?(): RequestId | undefined
}
