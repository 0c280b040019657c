import {
  copyNumberTexts,
  getErrorMessage,
  type McpRequestPayload,
  type McpResponsePayload,
  omitUndefined,
} from '@meup/protocol'
import type { JSONRPCMessage, RequestId, TransportSendOptions } from '@modelcontextprotocol/client'
import { describeRelayFailure } from './failures.js'
import { readNumber } from './message-id.js'

/** Ids of relayed requests start above the SDK's own, which are few and count from 0. */
const FIRST_ID = 1000
/** An id that no request has. */
const NO_ID = -1
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface RelayedCallOptions {
  readonly signal?: AbortSignal
  /** Milliseconds to wait for the response, or progress; default: that of the server's calls. */
  readonly timeoutMs?: number
  /** Receives notifications about this request, with the caller's progress token. */
  readonly onNotification?: (notification: McpRequestPayload) => void
  /** Answers elicitations that refer to this request; default: the server's `RelayElicitation`. */
  readonly onElicitation?: RelayElicitation
}

/** Answers an elicitation: `params` and result of `elicitation/create`. The signal is aborted when it is withdrawn. */
export type RelayElicitation = (params: Record<string, unknown>, signal: AbortSignal) => Promise<object>

interface Calls {
  /** Sends a request under an internal id; the response has the caller's id. Never rejects. */
  request(payload: McpRequestPayload, options: RelayedCallOptions): Promise<McpResponsePayload>
  /** Sends a notification; rejects if the server has ended. */
  notify(payload: McpRequestPayload): Promise<void>
  /**
   * Handles a message of the server about a relayed request, including those given up. `streamRequest`: the request whose
   * stream carried it, for transports with a stream per request.
   */
  onMessage(message: JSONRPCMessage, streamRequest: RequestId | undefined): boolean
  /** The handler for an elicitation on the stream of this request. Restarts the timeouts of pending requests. */
  getElicitation(streamRequest: RequestId | undefined): RelayElicitation | undefined
  /** Fails the pending request with this internal id, if any. */
  fail(id: RequestId, reason: string): void
  /** Fails pending and future requests, because the server has ended. */
  end(reason: string): void
}

interface Pending {
  settle(response: McpResponsePayload): void
  notify(notification: McpRequestPayload): void
  readonly onElicitation: RelayElicitation | undefined
  restartTimer(): void
}

type Send = (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>

/** Pending requests of many callers to the server `name`. `callMs`: timeout of each without an answer or progress. */
export function createCalls(name: string, callMs: number, send: Send): Calls {
  const pending = new Map<number, Pending>()
  const server = `the tool server "${name}"`
  let nextId = FIRST_ID
  let endedBecause: string | undefined

  const hasEnded = () => endedBecause && `${server} has ended: it ${endedBecause}`

  const exchange = (payload: McpRequestPayload, options: RelayedCallOptions) =>
    new Promise<McpResponsePayload>((resolve) => {
      const { signal, timeoutMs = callMs, onNotification, onElicitation } = options
      const id = nextId++
      const token = getProgressToken(payload)
      const reply = new AbortController()
      const settle = (response: McpResponsePayload) => {
        pending.delete(id)
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        resolve(response)
      }
      const giveUp = (code: number, reason: string) => {
        settle(createRpcError(code, reason))
        const notice = toMessage({ method: 'notifications/cancelled', params: { requestId: id, reason } })
        // If it cannot be sent, the server is ending, and nothing needs cancelling.
        send(notice).catch(() => {})
        // If replies have streams, closing the stream also cancels.
        reply.abort(reason)
      }
      const abort = () => giveUp(RelayError.cancelled, cancelled(signal))
      const expire = () => giveUp(RelayError.timedOut, `${server} did not answer within ${timeoutMs} ms`)
      const startTimer = () => setTimeout(expire, Math.min(timeoutMs, LONGEST_TIMER_MS))
      let timer = startTimer()
      signal?.addEventListener('abort', abort, { once: true })
      pending.set(id, {
        settle,
        onElicitation,
        restartTimer() {
          clearTimeout(timer)
          timer = startTimer()
        },
        notify(notification) {
          if (token === undefined && notification.params?.progressToken !== undefined) return
          onNotification?.(withCallerToken(notification, token))
        },
      })
      send(
        { ...toMessage(replaceToken(payload, id)), id },
        {
          requestSignal: reply.signal,
          onRequestStreamEnd: () =>
            settle(createRpcError(RelayError.serverEnded, `${server} broke off its reply`)),
        },
      ).catch((error: unknown) => {
        settle(
          createRpcError(
            RelayError.serverEnded,
            `${server} did not take the call: it ${describeRelayFailure(error)}`,
          ),
        )
      })
    })

  const onNotification = (notification: McpRequestPayload, streamRequest: RequestId | undefined): boolean => {
    const { method, params } = notification
    if (method === 'notifications/cancelled') {
      const call = pending.get(getOwnId(params?.requestId))
      const reason = typeof params?.reason === 'string' ? params.reason : 'it gave no reason'
      call?.settle(createRpcError(RelayError.cancelled, `${server} cancelled the call: ${reason}`))
      return call !== undefined
    }
    const about = getOwnId(params?.progressToken ?? streamRequest)
    const call = pending.get(about)
    if (method === 'notifications/progress') call?.restartTimer()
    call?.notify(notification)
    return method === 'notifications/progress' || about !== NO_ID
  }

  /** The internal id of a sent request, pending or not. */
  const getOwnId = (id: unknown): number => {
    const own = readNumber(id)
    return own !== undefined && own >= FIRST_ID && own < nextId ? own : NO_ID
  }

  return {
    async request(payload, options) {
      const endReason = hasEnded()
      if (endReason) return withRequestId(payload, createRpcError(RelayError.serverEnded, endReason))
      const { signal } = options
      if (signal?.aborted)
        return withRequestId(payload, createRpcError(RelayError.cancelled, cancelled(signal)))
      return withRequestId(payload, await exchange(payload, options))
    },
    async notify(payload) {
      const endReason = hasEnded()
      if (endReason) throw new Error(endReason)
      await send(toMessage(payload))
    },
    onMessage(message, streamRequest) {
      if ('method' in message) {
        return !('id' in message) && onNotification(message as McpRequestPayload, streamRequest)
      }
      const id = getOwnId(message.id)
      if (id === NO_ID) return false
      pending
        .get(id)
        ?.settle(
          'result' in message || 'error' in message
            ? (message as McpResponsePayload)
            : createRpcError(RelayError.noOutcome, `${server} answered with neither a result nor an error`),
        )
      return true
    },
    getElicitation(streamRequest) {
      for (const { restartTimer } of pending.values()) restartTimer()
      return pending.get(getOwnId(streamRequest))?.onElicitation
    },
    fail(id, reason) {
      pending.get(getOwnId(id))?.settle(createRpcError(RelayError.noOutcome, `${server}: ${reason}`))
    },
    end(reason) {
      endedBecause = reason
      for (const { settle } of [...pending.values()]) {
        settle(
          createRpcError(RelayError.serverEnded, `${server} ended while the call was running: it ${reason}`),
        )
      }
    },
  }
}

/** Only JSON-RPC members: strict servers ignore messages with others. */
function toMessage({ method, params }: McpRequestPayload) {
  return { jsonrpc: '2.0', method, ...omitUndefined({ params }) } as const
}

function cancelled(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason
  return `the call was cancelled: ${getErrorMessage(reason)}`
}

type Token = string | number

/** Progress tokens are only unique per caller. */
function getProgressToken({ params }: McpRequestPayload): Token | undefined {
  const { _meta } = (params ?? {}) as { _meta?: { progressToken?: unknown } | null }
  const token = _meta?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

/** Replaces the caller's progress token. Leaves requests without one unchanged. */
function replaceToken(request: McpRequestPayload, token: Token): McpRequestPayload {
  if (getProgressToken(request) === undefined) return request
  const { params } = request
  const replaced = { ...params, _meta: { ...(params?._meta as object), progressToken: token } }
  return { ...request, params: copyNumberTexts(replaced, params ?? {}) }
}

/** Restores the caller's progress token. */
function withCallerToken(notification: McpRequestPayload, token: Token | undefined): McpRequestPayload {
  const { params } = notification
  if (params?.progressToken === undefined) return notification
  return { ...notification, params: copyNumberTexts({ ...params, progressToken: token }, params) }
}

/** JSON-RPC codes of the relay's errors. */
export const RelayError = {
  serverEnded: -32000,
  timedOut: -32001,
  /** From the Language Server Protocol; MCP expects no answer to a cancelled request. */
  cancelled: -32800,
  noOutcome: -32603,
} as const

export function createRpcError(code: number, message: string): McpResponsePayload {
  return { jsonrpc: '2.0', error: { code, message } }
}

/** The response with the id of the request, or without one if the request has none. */
export function withRequestId(request: McpRequestPayload, response: McpResponsePayload): McpResponsePayload {
  if (request.id !== undefined) return { ...response, id: request.id }
  const { id: _, ...rest } = response
  return rest
}
