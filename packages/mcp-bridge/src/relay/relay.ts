import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { getErrorMessage, omitUndefined } from '@meup/protocol'
import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { relayError } from '../errors.js'
import { createCalls, type RelayElicitation, type RelayedCallOptions, withRequestId } from './calls.js'
import { createClientLink } from './client-link.js'
import { answerAll, createElicitations, readInputRequired } from './elicitations.js'
import { describeRelayFailure } from './failures.js'
import { FaultLog } from './fault-log.js'
import { type McpServerInfo, performHandshake } from './handshake.js'
import type { Fault } from './read-message.js'

export interface McpRelay extends AsyncDisposable {
  /** The server's self-description in the handshake. */
  readonly server: McpServerInfo
  /**
   * Relays a JSON-RPC request unchanged, and returns the response with the request's id. Never rejects: if the server has ended
   * or is unreachable (-32000), after a timeout (-32001), or if it is aborted (-32800), it returns a JSON-RPC error. Answers
   * `initialize` itself, from the server's self-description.
   */
  request(payload: McpRequestPayload, options?: RelayedCallOptions): Promise<McpResponsePayload>
  /**
   * Relays a notification. Rejects if the server has ended. Drops `notifications/initialized`, which was already sent, and
   * `notifications/cancelled`, whose request id is that of the caller. To cancel a request, abort its signal.
   */
  notify(payload: McpRequestPayload): Promise<void>
  /** Resolves when the server has ended, for whatever reason; `reason` reads like "exited with code 1". */
  readonly closed: Promise<{ reason: string }>
  close(): Promise<void>
}

/** Handlers for notifications and elicitations of a server. */
export interface RelayHandlers {
  /** Called with each notification that does not belong to a single call. */
  readonly onNotification?: (payload: McpRequestPayload) => void
  /**
   * Answers elicitations that do not belong to a known call. Absent: the capability `elicitation` is not declared to the
   * server.
   */
  readonly onElicitation?: RelayElicitation
}

interface RelayOptions extends RelayHandlers {
  readonly name: string
  readonly transport: RelayTransport
  readonly mode: VersionNegotiationMode
  readonly startTimeoutMs: number
  readonly callMs: number | undefined
  readonly signal: AbortSignal | undefined
  readonly onWarning: (message: string) => void
}

/** Maximum number of times that a server may require additional input for one call. */
const maxRounds = 8

const notRelayed = ['notifications/initialized', 'notifications/cancelled']

/** Methods of notifications that handlers do not get, because they concern a single request, or this connection only. */
const notAnnounced = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
  'notifications/tasks/status',
]

/** The JSON-RPC code for invalid requests. */
const invalidRequest = -32600

/**
 * Starts an MCP session and relays messages in it. The SDK's client does the handshake and answers requests of the server.
 * Relayed messages bypass it, because it validates results, and drops or refuses unknown ones. Invalid messages of a server do
 * not end the session: they are skipped and reported, and at most fail the call that they respond to.
 */
export async function openRelay(options: RelayOptions): Promise<McpRelay> {
  const { name, transport, signal, onNotification, onElicitation, onWarning } = options
  let meta: Readonly<Record<string, unknown>> = {}
  const faults = new FaultLog(onWarning, 'server')
  const link = createClientLink(transport, onWarning)
  const calls = createCalls(name, options.callMs ?? defaultCallMs, (message, how) =>
    transport.send(withMeta(message, meta), how),
  )
  const elicitations =
    onElicitation &&
    createElicitations(
      (message) => transport.send(withMeta(message, meta)),
      (streamRequest) => calls.getElicitation(streamRequest) ?? onElicitation,
    )

  const onMessage = (message: JSONRPCMessage): void => {
    const streamRequest = transport.getStreamRequest?.()
    if (elicitations?.onMessage(message, streamRequest) || calls.onMessage(message, streamRequest)) return
    if (link.onMessage(message) || ('method' in message && notAnnounced.includes(message.method))) return
    if ('method' in message) onNotification?.(message as McpRequestPayload)
    else faults.report({ problem: 'it answers no request', text: excerpt(message) })
  }
  const onFault = (fault: Fault): void => {
    const { problem, text, responseTo, requestId, isReported = false } = fault
    if (!isReported) faults.report(fault)
    if (responseTo !== undefined) calls.fail(responseTo, problem, text)
    if (requestId === undefined) return
    const error = { code: invalidRequest, message: problem }
    // If the error cannot be sent, the server is ending, and does not wait for a response any more.
    transport.send({ jsonrpc: '2.0', id: requestId, error }).catch(() => {})
  }
  transport.onfault = onFault
  transport.onmessage = (message) => {
    try {
      onMessage(message)
    } catch (error) {
      const problem = `it could not be handled: ${getErrorMessage(error)}`
      const responseTo = 'method' in message ? undefined : message.id
      onFault({ problem, text: excerpt(message), ...omitUndefined({ responseTo }) })
    }
  }
  transport.onclose = () => link.transport.onclose?.()
  transport.onerror = (error) => link.transport.onerror?.(error)

  const giveUp = () => {
    transport.close().catch((error: unknown) => onWarning(describeRelayFailure(error)))
  }
  signal?.addEventListener('abort', giveUp)
  const handshake = performHandshake(link, {
    mode: options.mode,
    timeoutMs: options.startTimeoutMs,
    onWarning,
    capabilities: onElicitation ? { elicitation: { form: {} } } : {},
  })
  if (signal?.aborted) giveUp()
  const { server, initializeResult, ...known } = await handshake.finally(() => {
    signal?.removeEventListener('abort', giveUp)
  })
  meta = known.meta

  /** Sends a request, and repeats it with additional input as long as the server requires that. */
  const requestWithInput = async (
    payload: McpRequestPayload,
    callOptions: RelayedCallOptions,
  ): Promise<McpResponsePayload> => {
    const { signal: given = new AbortController().signal, onElicitation: handle = onElicitation } =
      callOptions
    let response = await calls.request(payload, callOptions)
    for (let round = 0; handle !== undefined; round++) {
      const required = readInputRequired(response)
      if (required === undefined) break
      const inputResponses = round < maxRounds ? await answerAll(required, handle, given) : undefined
      if (inputResponses === undefined) return withRequestId(payload, relayError('unanswerable', { name }))
      const { requestState } = required
      const params = {
        ...payload.params,
        inputResponses,
        ...omitUndefined({ requestState }),
      }
      response = await calls.request({ ...payload, params }, callOptions)
    }
    return response
  }
  const closed = transport.ended.then(async (outcome) => {
    calls.end(outcome.reason)
    faults.end()
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

/** Adds members to `_meta`, except those that the message already has. */
function withMeta(message: JSONRPCMessage, meta: Readonly<Record<string, unknown>>): JSONRPCMessage {
  if (!('method' in message) || Object.keys(meta).length === 0) return message
  return { ...message, params: { ...message.params, _meta: { ...meta, ...message.params?._meta } } }
}

const maxExcerptChars = 200

function excerpt(message: JSONRPCMessage): string {
  try {
    return JSON.stringify(message).slice(0, maxExcerptChars).toWellFormed()
  } catch (error) {
    return getErrorMessage(error)
  }
}

/**
 * Default of `callMs`. Long, because callers have their own timeouts: this one only ends calls that their callers have
 * forgotten.
 */
const defaultCallMs = 3_600_000

/** Options for a server, independent of its transport. */
export interface ServerOptions {
  /** Name of the server in error messages. */
  readonly name: string
  /**
   * Milliseconds that the server gets to answer its first request; default 120,000 for a command, which may have to be
   * downloaded, and 60,000 for an address.
   */
  readonly startTimeoutMs?: number
  /**
   * Milliseconds without a response or progress after which a call times out; default 3,600,000. Its caller may cancel it
   * earlier.
   */
  readonly callMs?: number
  /** Cancels the start of the server; it has no effect afterwards. */
  readonly signal?: AbortSignal
  /** Called with log lines: the server's stderr, and reports of its invalid messages. */
  readonly log?: (line: string) => void
}

/** An MCP transport that also reports unreadable messages and the end of the server. */
export interface RelayTransport extends Transport {
  /** Called for each message that cannot be read. */
  onfault?: ((fault: Fault) => void) | undefined
  /** Resolves when the server has ended and its last message was delivered; `reason` reads like "exited with code 1". */
  readonly ended: Promise<{ reason: string }>
  /** For transports with a stream per request: while a message is being delivered, the request whose stream contained it. */
  getStreamRequest?(): RequestId | undefined
}
