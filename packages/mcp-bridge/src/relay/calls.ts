import {
  copyNumberTexts,
  getErrorMessage,
  type McpRequestPayload,
  type McpResponsePayload,
  omitUndefined,
} from '@meup/protocol'
import type { JSONRPCMessage, RequestId, TransportSendOptions } from '@modelcontextprotocol/client'
import { programError, relayError } from '../errors.js'
import { describeRelayFailure } from './failures.js'
import { readNumber } from './message-id.js'

/** First id of relayed requests. The SDK's own requests are few, and their ids count from 0. */
const FIRST_ID = 1000
/** An id that no request has. */
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
   * requests: the elicitation counts as progress of each of them.
   */
  getElicitation(streamRequest: RequestId | undefined): RelayElicitation | undefined
  /** Fails the pending request with this internal id, if there is one. */
  fail(id: RequestId, problem: string, text: string): void
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
  let nextId = FIRST_ID
  let endReason: string | undefined

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
      const giveUp = (response: McpResponsePayload) => {
        settle(response)
        const reason = response.error?.message
        const notice = toMessage({ method: 'notifications/cancelled', params: { requestId: id, reason } })
        // If the cancellation cannot be sent, the server is ending, and stops work on the call anyway.
        send(notice).catch(() => {})
        // For transports with a stream per request, closing the stream cancels the request as well.
        reply.abort(reason)
      }
      const abort = () => giveUp(cancelledError(signal))
      const expire = () => giveUp(relayError('late', { name, timeoutMs }))
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
          onRequestStreamEnd: () => settle(relayError('broken_off', { name })),
        },
      ).catch((error: unknown) => {
        settle(relayError('not_taken', { name, reason: describeRelayFailure(error) }))
      })
    })

  const onNotification = (notification: McpRequestPayload, streamRequest: RequestId | undefined): boolean => {
    const { method, params } = notification
    if (method === 'notifications/cancelled') {
      const call = pending.get(getOwnId(params?.requestId))
      const reason = typeof params?.reason === 'string' ? params.reason : 'it gave no reason'
      call?.settle(relayError('cancelled_by_server', { name, reason }))
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
      const { signal } = options
      if (endReason !== undefined)
        return withRequestId(payload, relayError('ended', { name, reason: endReason }))
      if (signal?.aborted) return withRequestId(payload, cancelledError(signal))
      return withRequestId(payload, await exchange(payload, options))
    },
    async notify(payload) {
      if (endReason !== undefined) throw programError('ended', { name, reason: endReason })
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
            : relayError('no_outcome', { name }),
        )
      return true
    },
    getElicitation(streamRequest) {
      for (const { restartTimer } of pending.values()) restartTimer()
      return pending.get(getOwnId(streamRequest))?.onElicitation
    },
    fail(id, problem, text) {
      pending.get(getOwnId(id))?.settle(relayError('unreadable', { name, problem, text }))
    },
    end(reason) {
      endReason = reason
      for (const { settle } of [...pending.values()]) settle(relayError('ended_meanwhile', { name, reason }))
    },
  }
}

/** Copies only JSON-RPC members, because strict servers ignore messages with other members. */
function toMessage({ method, params }: McpRequestPayload) {
  return { jsonrpc: '2.0', method, ...omitUndefined({ params }) } as const
}

export const cancelledError = (signal: AbortSignal | undefined): McpResponsePayload =>
  relayError('cancelled', { reason: getErrorMessage(signal?.reason) })

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

/** Sets the id of a response to that of the request; removes it if the request has none. */
export function withRequestId(request: McpRequestPayload, response: McpResponsePayload): McpResponsePayload {
  if (request.id !== undefined) return { ...response, id: request.id }
  const { id: _, ...rest } = response
  return rest
}
