import { setTimeout as sleep } from 'node:timers/promises'
import { type McpRequestPayload, type McpResponsePayload, PROTOCOL } from '@meup/protocol'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type ClientCapabilities,
  type JSONRPCMessage,
  type McpSubscription,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import {
  type CallOptions,
  createCalls,
  failure,
  type OnElicitation,
  RelayError,
  withRequestId,
} from './calls.js'
import { answerAll, createElicitations, readInputRequired } from './elicitations.js'
import { describeFailure } from './failures.js'

interface McpServerInfo {
  readonly name: string
  readonly version: string
  readonly capabilities: object
  readonly protocolVersion?: string
}

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

/** What is told of a server beside the answers to requests. */
export interface RelayHandlers {
  /** Called with each notification that belongs to no single call, unchanged. */
  readonly onNotification?: (payload: McpRequestPayload) => void
  /** Answers questions of the server that do not say which request they are about. Without it the server is told not to ask. */
  readonly onElicitation?: OnElicitation
}

interface RelayOptions extends RelayHandlers {
  readonly name: string
  readonly transport: RelayTransport
  readonly mode: VersionNegotiationMode
  readonly startTimeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly onWarning: (message: string) => void
}

/** Times that a server may ask for more before it does what it was asked. */
const maxRounds = 8

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
  const { name, transport, signal, onNotification, onElicitation } = options
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
    capabilities: onElicitation ? { elicitation: { form: {} } } : {},
  })
  const { server, initializeResult, meta } = await handshake.finally(() => {
    signal?.removeEventListener('abort', giveUp)
  })

  const calls = createCalls(name, (message, how) => transport.send(withMeta(message, meta), how))
  const elicitations =
    onElicitation &&
    createElicitations(
      (message) => transport.send(withMeta(message, meta)),
      (streamRequest) => calls.getElicitation(streamRequest) ?? onElicitation,
    )
  const toClient = transport.onmessage
  transport.onmessage = (message, extra) => {
    const streamRequest = transport.getStreamRequest?.()
    if (elicitations?.onMessage(message, streamRequest) || calls.onMessage(message, streamRequest)) return
    toClient(message, extra)
  }
  /** Sends a request again with what the server asks for, as long as it does. */
  const requestWithInput = async (
    payload: McpRequestPayload,
    callOptions: CallOptions,
  ): Promise<McpResponsePayload> => {
    const { signal: given = new AbortController().signal, onElicitation: handle = onElicitation } =
      callOptions
    let response = await calls.request(payload, callOptions)
    for (let round = 0; handle !== undefined; round++) {
      const required = readInputRequired(response)
      if (required === undefined) break
      const inputResponses = round < maxRounds ? await answerAll(required, handle, given) : undefined
      if (inputResponses === undefined)
        return withRequestId(
          payload,
          failure(RelayError.noOutcome, `the tool server "${name}" asks for more than it can be given`),
        )
      const { requestState } = required
      const params = {
        ...payload.params,
        inputResponses,
        ...(requestState !== undefined && { requestState }),
      }
      response = await calls.request({ ...payload, params }, callOptions)
    }
    return response
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
      if (payload.method === 'initialize')
        return withRequestId(payload, { jsonrpc: '2.0', id: null, result: initializeResult })
      return onElicitation ? requestWithInput(payload, callOptions) : calls.request(payload, callOptions)
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

interface Handshake {
  readonly server: McpServerInfo
  /** The server's answer to `initialize`; from a server that knows no such request, what it would be. */
  readonly initializeResult: Record<string, unknown>
  /** Keys that the server wants in the `_meta` of each message; since revision 2026-07-28 that is where clients say who they are. */
  readonly meta: Readonly<Record<string, unknown>>
}

interface HandshakeOptions {
  /** `legacy` asks by `initialize`, as most servers expect; `auto` by `server/discover`. */
  readonly mode: VersionNegotiationMode
  readonly timeoutMs: number
  /** Reports what went wrong without ending anything. */
  readonly onWarning: (message: string) => void
  readonly capabilities: ClientCapabilities
}

const LISTEN_AGAIN_MS = 1000
const clientInfo = { name: 'meup', version: PROTOCOL }

/**
 * Performs the MCP handshake. From then on the SDK's client answers requests of the server: it declines sampling and roots. The `onmessage` handler of the transport still receives each message.
 */
async function performHandshake(transport: Transport, options: HandshakeOptions): Promise<Handshake> {
  const { capabilities: own } = options
  const client = new Client(clientInfo, { capabilities: own, versionNegotiation: { mode: options.mode } })
  client.onerror = (error) => options.onWarning(describeFailure(error))

  const watch = transport.onmessage
  let answer: Record<string, unknown> | undefined
  transport.onmessage = (message, extra) => {
    if ('result' in message) answer ??= message.result
    watch?.(message, extra)
  }
  await client.connect(transport, { timeout: options.timeoutMs })

  const serverInfo = client.getServerVersion() ?? { name: 'unknown', version: 'unknown' }
  const capabilities = client.getServerCapabilities() ?? {}
  const protocolVersion = client.getNegotiatedProtocolVersion()
  const instructions = client.getInstructions()
  const server = { ...pick(serverInfo), capabilities, ...(protocolVersion && { protocolVersion }) }
  if (client.getProtocolEra() !== 'modern') return { server, initializeResult: answer ?? {}, meta: {} }

  await subscribe(client, options)
  return {
    server,
    initializeResult: { protocolVersion, capabilities, serverInfo, ...(instructions && { instructions }) },
    meta: {
      [PROTOCOL_VERSION_META_KEY]: protocolVersion,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: own,
    },
  }
}

function pick({ name, version }: { name: string; version: string }) {
  return { name, version }
}

/** Since revision 2026-07-28 a server sends change notifications only to subscribers. */
async function subscribe(client: Client, { timeoutMs, onWarning }: HandshakeOptions): Promise<void> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  const filter = {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
  }
  if (Object.keys(filter).length === 0) return
  const listen = () => client.listen(filter, { timeout: timeoutMs })
  const warn = (error: Error) => onWarning(`no news of changes: ${describeFailure(error)}`)
  try {
    keepListening(await listen(), client, listen).catch(warn)
  } catch (error) {
    warn(error as Error)
  }
}

/** A subscription is a stream, and may be cut off on its way while the server is well. */
async function keepListening(
  first: McpSubscription,
  client: Client,
  listen: () => Promise<McpSubscription>,
): Promise<void> {
  for (let subscription = first; (await subscription.closed) !== 'local'; subscription = await listen()) {
    await sleep(LISTEN_AGAIN_MS, undefined, { ref: false })
    if (client.transport === undefined) return
  }
}
