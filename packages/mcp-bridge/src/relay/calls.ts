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

/** First id of relayed requests. The SDK's own requests are few, and their ids count from 0. */
const FIRST_ID = 1000
/** An id that is never used. */
const NO_ID = -1
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface RelayedCallOptions {
  readonly signal?: AbortSignal
  /** Milliseconds to wait for the response or for progress; default: `callMs` of the server. */
  readonly timeoutMs?: number
  /** Called with notifications about this request; their progress token is the caller's. */
  readonly onNotification?: (notification: McpRequestPayload) => void
  /** Answers elicitations during this request; default: the server's `RelayElicitation`. */
  readonly onElicitation?: RelayElicitation
}

/**
 * Answers an elicitation. Gets the `params` of `elicitation/create`, and returns its result. The signal is aborted when the
 * elicitation is withdrawn.
 */
export type RelayElicitation = (params: Record<string, unknown>, signal: AbortSignal) => Promise<object>

interface Calls {
  /** Sends a request under an internal id. The response has the caller's id. Never rejects. */
  request(payload: McpRequestPayload, options: RelayedCallOptions): Promise<McpResponsePayload>
  /** Sends a notification. Rejects if the server has ended. */
  notify(payload: McpRequestPayload): Promise<void>
  /**
   * Handles a message of the server about a relayed request, pending or not; returns false for other messages. `streamRequest`:
   * for transports with a stream per request, the request whose stream contained the message.
   */
  onMessage(message: JSONRPCMessage, streamRequest: RequestId | undefined): boolean
  /**
   * Returns the handler for an elicitation that arrived on the stream of this request. Restarts the timeouts of all pending
   * requests.
   */
  getElicitation(streamRequest: RequestId | undefined): RelayElicitation | undefined
  /** Fails the pending request with this internal id, if there is one. */
  fail(id: RequestId, reason: string): void
  /** Fails all pending and future requests, because the server has ended. */
  end(reason: string): void
}

interface Pending {
  settle(response: McpResponsePayload): void
  notify(notification: McpRequestPayload): void
  readonly onElicitation: RelayElicitation | undefined
  restartTimer(): void
}

type Send = (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>

/**
 * Sends requests of many callers to the server `name`. `callMs`: milliseconds without a response or progress after which a
 * request times out.
 */
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
        // If the cancellation cannot be sent, the server is ending, so the call ends too.
        send(notice).catch(() => {})
        // For transports with a stream per request, closing the stream cancels the request as well.
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

  /** Returns the internal id of a request that was sent, pending or not; `NO_ID` = there is none. */
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

/** Copies only JSON-RPC members, because strict servers ignore messages with other members. */
function toMessage({ method, params }: McpRequestPayload) {
  return { jsonrpc: '2.0', method, ...omitUndefined({ params }) } as const
}

function cancelled(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason
  return `the call was cancelled: ${getErrorMessage(reason)}`
}

type Token = string | number

/** Returns the caller's progress token, which is unique only among the requests of that caller. */
function getProgressToken({ params }: McpRequestPayload): Token | undefined {
  const { _meta } = (params ?? {}) as { _meta?: { progressToken?: unknown } | null }
  const token = _meta?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

/** Replaces the caller's progress token. A request without one is not changed. */
function replaceToken(request: McpRequestPayload, token: Token): McpRequestPayload {
  if (getProgressToken(request) === undefined) return request
  const { params } = request
  const replaced = { ...params, _meta: { ...(params?._meta as object), progressToken: token } }
  return { ...request, params: copyNumberTexts(replaced, params ?? {}) }
}

/** Puts the caller's progress token back. */
function withCallerToken(notification: McpRequestPayload, token: Token | undefined): McpRequestPayload {
  const { params } = notification
  if (params?.progressToken === undefined) return notification
  return { ...notification, params: copyNumberTexts({ ...params, progressToken: token }, params) }
}

/** JSON-RPC codes of the relay's errors. */
export const RelayError = {
  serverEnded: -32000,
  timedOut: -32001,
  /** This code is from the Language Server Protocol: MCP does not define a response to a cancelled request. */
  cancelled: -32800,
  noOutcome: -32603,
} as const

export function createRpcError(code: number, message: string): McpResponsePayload {
  return { jsonrpc: '2.0', error: { code, message } }
}

/** Sets the id of a response to that of the request; removes it if the request has none. */
export function withRequestId(request: McpRequestPayload, response: McpResponsePayload): McpResponsePayload {
  if (request.id !== undefined) return { ...response, id: request.id }
  const { id: _, ...rest } = response
  return rest
}
