import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { getErrorMessage, omitUndefined } from '@meup/protocol'
import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import {
  createCalls,
  createRpcError,
  type RelayElicitation,
  RelayError,
  type RelayedCallOptions,
  withRequestId,
} from './calls.js'
import { createClientLink } from './client-link.js'
import { answerAll, createElicitations, readInputRequired } from './elicitations.js'
import { describeRelayFailure } from './failures.js'
import { FaultLog } from './fault-log.js'
import { type McpServerInfo, performHandshake } from './handshake.js'
import type { Fault } from './read-message.js'

export interface McpRelay extends AsyncDisposable {
  /** The server's self-description at its start. */
  readonly server: McpServerInfo
  /**
   * Relays a JSON-RPC request unchanged; returns the response with the request's id. Never rejects: an ended or unreachable
   * server (-32000), a timeout (-32001) and an abort (-32800) are JSON-RPC errors as well. `initialize` is answered from the
   * server's self-description.
   */
  request(payload: McpRequestPayload, options?: RelayedCallOptions): Promise<McpResponsePayload>
  /**
   * Relays a notification; rejects if the server has ended. Drops `notifications/initialized`, which was sent at the start, and
   * `notifications/cancelled`, which has an id of the asker's. To cancel a request, abort its signal.
   */
  notify(payload: McpRequestPayload): Promise<void>
  /** Resolves when the server has ended in any way; the reason reads "exited with code 1". */
  readonly closed: Promise<{ reason: string }>
  close(): Promise<void>
}

/** Handlers for messages of a server other than responses. */
export interface RelayHandlers {
  /** Called with each notification that does not belong to a single call, unchanged. */
  readonly onNotification?: (payload: McpRequestPayload) => void
  /** Answers elicitations that do not refer to a request. Absent = elicitation is not offered to the server. */
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

/** Rounds of additional input that a server may request for one call. */
const maxRounds = 8

const notRelayed = ['notifications/initialized', 'notifications/cancelled']

/** Notifications about a single request, or only about this connection. */
const notAnnounced = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
  'notifications/tasks/status',
]

/** JSON-RPC's code for a message that is not a request. */
const invalidRequest = -32600

/**
 * Starts an MCP session and relays over it. The SDK's client does the handshake and answers the server; relayed messages bypass
 * it, because it validates kinds of results and drops or refuses unknown ones. Nothing that a server sends ends the session: an
 * unreadable message is skipped and reported, and at most fails the call that it answers.
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
    if (responseTo !== undefined) calls.fail(responseTo, `the answer cannot be read: ${problem}: ${text}`)
    if (requestId === undefined) return
    const error = { code: invalidRequest, message: problem }
    // If it cannot be sent, the server is ending, and expects nothing.
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

  /** Sends a request again with the input that the server requires, repeatedly. */
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
      if (inputResponses === undefined)
        return withRequestId(
          payload,
          createRpcError(
            RelayError.noOutcome,
            `the tool server "${name}" asks for more than it can be given`,
          ),
        )
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

/** Adds members to `_meta`, except those that the asker has set. */
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

/** Callers decide how long to wait; this ends forgotten calls. */
const defaultCallMs = 3_600_000

/** Options for any server. */
export interface ServerOptions {
  /** Name of the server in messages. */
  readonly name: string
  /**
   * Milliseconds for the server to answer its first request; default 120,000 for a command, which may have to be downloaded,
   * and 60,000 for an address.
   */
  readonly startTimeoutMs?: number
  /** Milliseconds of a call without an answer or progress; default 3,600,000. Its caller may give up earlier. */
  readonly callMs?: number
  /** Cancels the start; no effect afterwards. */
  readonly signal?: AbortSignal
  /** Receives log lines: the server's stderr, and reports of its faults. */
  readonly log?: (line: string) => void
}

/** A transport to one server. */
export interface RelayTransport extends Transport {
  /** Called with each unreadable message. */
  onfault?: ((fault: Fault) => void) | undefined
  /** Resolves when the server has ended and its last message was delivered; the reason reads "exited with code 1". */
  readonly ended: Promise<{ reason: string }>
  /** During delivery: the request whose stream carried the message, for transports with a stream per request. */
  getStreamRequest?(): RequestId | undefined
}
