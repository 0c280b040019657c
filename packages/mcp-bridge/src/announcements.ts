import { ProtocolError, type Space } from '@meup/agent-sdk'
import { Kind, type McpRequestPayload } from '@meup/protocol'
import { messageOf } from './errors.js'

/** Resources of a server that participants are told about when they change: in all, and of one participant. */
const [maxSubscriptions, maxOwnSubscriptions] = [1000, 100]
/** Characters of the address of one. */
const maxUriChars = 2048
/** Milliseconds between two announcements of the same. */
const gapMs = 1000

const isOk = (response: object): boolean => !('error' in response)

/** Who has subscribed to which resource of a server. */
export class ResourceSubscriptions {
  readonly #byUri = new Map<string, Set<string>>()

  /** What was asked, and answered. */
  onAnswered(from: string, { method, params }: McpRequestPayload, response: object): void {
    const uri = params?.uri
    if (typeof uri !== 'string' || !isOk(response)) return
    const subscribers = this.#byUri.get(uri) ?? new Set()
    if (method === 'resources/unsubscribe') {
      subscribers.delete(from)
      if (subscribers.size === 0) this.#byUri.delete(uri)
    } else if (method === 'resources/subscribe' && this.#hasRoom(from, uri)) {
      this.#byUri.set(uri, subscribers.add(from))
    }
  }

  /** Whether this ends the subscription of one participant to what others still want to hear of. */
  endsForOneOnly(from: string, { method, params }: McpRequestPayload): boolean {
    if (method !== 'resources/unsubscribe') return false
    return [...(this.#byUri.get(String(params?.uri)) ?? [])].some((each) => each !== from)
  }

  #hasRoom(from: string, uri: string): boolean {
    if (uri.length > maxUriChars || (this.#byUri.size >= maxSubscriptions && !this.#byUri.has(uri)))
      return false
    return [...this.#byUri.values()].filter((each) => each.has(from)).length < maxOwnSubscriptions
  }

  subscribersOf({ params }: McpRequestPayload): string[] {
    return [...(this.#byUri.get(String(params?.uri)) ?? [])]
  }
}

/** Tells of changes; of several that are about the same and come fast, the first and the last. */
export class Announcements {
  readonly #seat: Pick<Space, 'send'>
  readonly #log: (line: string) => void
  /** By what is told: what is to be told next of it. */
  readonly #sending = new Map<string, McpRequestPayload | undefined>()

  constructor(seat: Pick<Space, 'send'>, log: (line: string) => void) {
    this.#seat = seat
    this.#log = log
  }

  /** `to`: absent = everyone. */
  send(payload: McpRequestPayload, to?: string): void {
    const key = JSON.stringify([payload.method, payload.params?.uri, to])
    const isSending = this.#sending.has(key)
    this.#sending.set(key, isSending ? payload : undefined)
    if (!isSending) void this.#send(key, payload, to)
  }

  async #send(key: string, payload: McpRequestPayload, to: string | undefined): Promise<void> {
    let again: McpRequestPayload | undefined
    let waitMs = gapMs
    try {
      await this.#seat.send({ kind: Kind.mcpRequest, ...(to !== undefined && { to: [to] }), payload })
    } catch (error) {
      const retryMs = retryAfterMs(error)
      if (retryMs === undefined)
        this.#log(`the notification ${payload.method} was refused: ${messageOf(error)}`)
      else [again, waitMs] = [payload, Math.max(retryMs, gapMs)]
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    again = this.#sending.get(key) ?? again
    this.#sending.delete(key)
    if (again !== undefined) this.send(again, to)
  }
}

function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ProtocolError) || error.code !== 'rate_limited') return undefined
  const { retryAfterMs: ms } = error.details
  return typeof ms === 'number' ? ms : undefined
}
