import {
  copyNumberTexts,
  type EnvelopeOf,
  Kind,
  type McpRequestPayload,
  omitUndefined,
  ProtocolError,
} from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { Draft } from '../client/types.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>
/** An MCP notification about a call. */
export type Notification = Pick<McpRequestPayload, 'method' | 'params'>

export const progressMethod = 'notifications/progress'
/** Method of the notification that the sender's list of tools has changed. */
export const listChangedMethod = 'notifications/tools/list_changed'
const logMethod = 'notifications/message'

/** Milliseconds per notification on average, and the maximum burst. */
const [intervalMs, burst] = [100, 20]
/** Maximum queued notifications per call, and their maximum characters; further ones are dropped. */
const [maxWaiting, maxWaitingChars] = [1000, 256 * 1024]
/** Maximum notifications beyond the rate that are sent when a call ends. Few suffice, because log messages are joined. */
const maxLast = 4
/** Maximum characters of log messages joined into one notification. */
const maxJoinedChars = 32 * 1024

interface Waiting {
  readonly request: Request
  /** The latest progress; earlier ones are not sent. */
  progress: Notification | undefined
  readonly others: Notification[]
  chars: number
  dropped: number
}

/**
 * Sends an asker notifications about its request: progress, log messages, partial output [MEUP-3.8]. Limits their rate, so that
 * answers can be sent as well: sends only the latest progress, joins log messages, and reports the number of dropped
 * notifications before the answer.
 */
export class RequestNotifications {
  readonly #client: Pick<BaseClient, 'send'>
  readonly #onError: (error: unknown, request: Request) => void
  readonly #waiting = new Map<Request, Waiting>()
  /** Answered requests, which get no more notifications. */
  readonly #closed = new WeakSet<Request>()
  /** Time in ms since 1970 until which the notifications sent so far use up the average rate; a burst may exceed it. */
  #budgetUntil = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(client: Pick<BaseClient, 'send'>, onError: (error: unknown, request: Request) => void) {
    this.#client = client
    this.#onError = onError
  }

  /** Sends a notification to the asker only. Drops progress if the request has no progress token. */
  notify(request: Request, { method, params }: Notification): void {
    if (this.#closed.has(request)) return
    if (method === progressMethod) {
      const progressToken = getProgressToken(request)
      if (progressToken === undefined) return
      this.#getQueue(request).progress = {
        method,
        params: copyNumberTexts({ ...params, progressToken }, params ?? {}),
      }
    } else this.#append(this.#getQueue(request), { method, ...omitUndefined({ params }) })
    this.#flush()
  }

  /**
   * Ends the notifications of a request; call it before the request is answered. `isAwaited`: the asker still waits for the
   * answer.
   */
  end(request: Request, isAwaited: boolean): void {
    const waiting = this.#waiting.get(request)
    if (waiting !== undefined && isAwaited) this.#finish(waiting)
    this.#closed.add(request)
    this.#waiting.delete(request)
    if (this.#waiting.size === 0) clearTimeout(this.#timer)
  }

  #getQueue(request: Request): Waiting {
    const known = this.#waiting.get(request)
    if (known !== undefined) return known
    const waiting = { request, progress: undefined, others: [], chars: 0, dropped: 0 }
    this.#waiting.set(request, waiting)
    return waiting
  }

  #append(waiting: Waiting, notification: Notification): void {
    const chars = countChars(notification)
    if (waiting.others.length >= maxWaiting || waiting.chars + chars > maxWaitingChars) waiting.dropped++
    else {
      waiting.others.push(notification)
      waiting.chars += chars
    }
  }

  /** Sends queued notifications within the rate, alternating between requests. */
  #flush(): void {
    clearTimeout(this.#timer)
    for (;;) {
      const waiting = [...this.#waiting.values()].find(hasMore)
      if (waiting === undefined) return
      const tooSoonMs = this.#getDelayMs()
      if (tooSoonMs > 0) {
        this.#timer = setTimeout(() => this.#flush(), tooSoonMs)
        return
      }
      this.#waiting.delete(waiting.request)
      this.#waiting.set(waiting.request, waiting)
      this.#sendNext(waiting)
    }
  }

  /** Drops progress, sends the other notifications as far as allowed, and reports the number of dropped ones. */
  #finish(waiting: Waiting): void {
    waiting.progress = undefined
    for (let beyond = 0; waiting.others.length > 0; ) {
      if (this.#getDelayMs() > 0 && ++beyond > maxLast) break
      this.#sendNext(waiting)
    }
    const dropped = waiting.dropped + waiting.others.length
    if (dropped === 0) return
    const data = `Dropped notifications about this call: ${dropped}. They came too fast for the space, or were too large.`
    this.#send(waiting, { method: logMethod, params: { level: 'warning', logger: 'meup', data } })
  }

  #sendNext(waiting: Waiting): void {
    const { progress, others } = waiting
    waiting.progress = undefined
    const next = progress ?? shiftJoined(others)
    if (next === undefined) return
    if (progress === undefined) waiting.chars = others.reduce((sum, each) => sum + countChars(each), 0)
    this.#send(waiting, next)
  }

  #getDelayMs(): number {
    const now = Date.now()
    return Math.max(now, this.#budgetUntil) - now - (burst - 1) * intervalMs
  }

  #send(waiting: Waiting, notification: Notification): void {
    this.#budgetUntil = Math.max(Date.now(), this.#budgetUntil) + intervalMs
    const draft = createDraft(waiting.request, notification)
    this.#client.send(draft).catch((error: unknown) => this.#onRefused(waiting, notification, error))
  }

  #onRefused(waiting: Waiting, notification: Notification, error: unknown): void {
    const { request } = waiting
    if (error instanceof ProtocolError && error.code === 'payload_too_large') waiting.dropped++
    else if (error instanceof ProtocolError && error.retryable) {
      if (notification.method === progressMethod || this.#closed.has(request)) return // Later progress replaces the refused one.
      waiting.others.unshift(notification)
      const { retryAfterMs } = error.details
      this.#budgetUntil += typeof retryAfterMs === 'number' ? retryAfterMs : intervalMs
      this.#flush()
    } else if (!this.#closed.has(request)) {
      this.#closed.add(request) // Further notifications would be refused as well.
      this.#waiting.delete(request)
      this.#onError(error, request)
    }
  }
}

const hasMore = ({ progress, others }: Waiting): boolean => progress !== undefined || others.length > 0

const createDraft = ({ id, from, context }: Request, notification: Notification): Draft => ({
  kind: Kind.mcpRequest,
  to: [from],
  correlationId: id,
  ...omitUndefined({ context }),
  payload: { jsonrpc: '2.0', ...notification },
})

const countChars = (notification: Notification): number => JSON.stringify(notification).length

/** Takes the first notification, merged with following log messages that differ only in their text. */
function shiftJoined(others: Notification[]): Notification | undefined {
  const first = others.shift()
  if (first === undefined || !isTextLog(first)) return first
  let { data } = first.params
  for (let next = others[0]; next !== undefined && isTextLog(next); next = others[0]) {
    const isAlike = next.params.level === first.params.level && next.params.logger === first.params.logger
    if (!isAlike || data.length + next.params.data.length > maxJoinedChars) break
    data += `\n${next.params.data}`
    others.shift()
  }
  return { ...first, params: { ...first.params, data } }
}

type TextLog = Notification & { readonly params: { readonly data: string } & Record<string, unknown> }

const isTextLog = (notification: Notification): notification is TextLog =>
  notification.method === logMethod && typeof notification.params?.data === 'string'

function getProgressToken({ payload }: Request): string | number | undefined {
  const { _meta } = (payload.params ?? {}) as { _meta?: { progressToken?: unknown } | null }
  const token = _meta?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}
