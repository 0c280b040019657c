import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { getErrorMessage } from '../child/lines.js'
import {
  type CallOptions,
  createCalls,
  failure,
  type OnElicitation,
  RelayError,
  withRequestId,
} from './calls.js'
import { createClientLink } from './client-link.js'
import { answerAll, createElicitations, readInputRequired } from './elicitations.js'
import { describeFailure } from './failures.js'
import { FaultLog } from './fault-log.js'
import { type McpServerInfo, performHandshake } from './handshake.js'
import type { Fault } from './read-message.js'

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
  readonly callMs: number | undefined
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
  'notifications/tasks/status',
]

/** JSON-RPC's code for a message that is no request. */
const invalidRequest = -32600

/**
 * Starts an MCP conversation and relays over it. The SDK's client does the greeting and what the server asks of us;
 * relayed messages pass it by, for it knows the kinds of results and drops or refuses what it does not know.
 * Nothing that a server sends ends the conversation: what cannot be read is skipped and reported, and fails at most the call
 * that it was to answer.
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
    // If it cannot be sent the server is ending, and waits for nothing.
    transport.send({ jsonrpc: '2.0', id: requestId, error }).catch(() => {})
  }
  transport.onfault = onFault
  transport.onmessage = (message) => {
    try {
      onMessage(message)
    } catch (error) {
      const problem = `it could not be handled: ${getErrorMessage(error)}`
      const responseTo = 'method' in message ? undefined : message.id
      onFault({ problem, text: excerpt(message), ...(responseTo !== undefined && { responseTo }) })
    }
  }
  transport.onclose = () => link.transport.onclose?.()
  transport.onerror = (error) => link.transport.onerror?.(error)

  const giveUp = () => {
    transport.close().catch((error: unknown) => onWarning(describeFailure(error)))
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

/** Where the asker has set a key itself, that stands. */
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

/** Whoever calls decides how long that is worth while; this ends calls that are forgotten. */
const defaultCallMs = 3_600_000

/** What is said of every server, however it is reached. */
export interface ServerOptions {
  /** What the server is called in messages about it. */
  readonly name: string
  /**
   * How long the server may take to answer its first request, in ms; default 120000 for a command, which may have to be
   * downloaded first, and 60000 for an address.
   */
  readonly startTimeoutMs?: number
  /** How long a call may take without an answer or progress, in ms; default 3600000. Its caller may give it up before. */
  readonly callMs?: number
  /** Gives up the start; afterwards it means nothing. */
  readonly signal?: AbortSignal
  /** A line for the log: of the server's stderr, or about something odd that it did. */
  readonly log?: (line: string) => void
}

/** A way to one server. */
export interface RelayTransport extends Transport {
  /** Called with each message that cannot be read. */
  onfault?: ((fault: Fault) => void) | undefined
  /** Resolves when the server is gone and its last message is delivered; the reason reads "exited with code 1". */
  readonly ended: Promise<{ reason: string }>
  /** While a message is delivered: the request on whose stream it came, where each has a stream of its own. */
  getStreamRequest?(): RequestId | undefined
}
