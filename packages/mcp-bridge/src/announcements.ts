import { ProtocolError, type Space } from '@meup/agent-sdk'
import { Kind, type McpRequestPayload } from '@meup/protocol'
import { messageOf } from './errors.js'

/** Resources of a server that participants are told about when they change. */
const maxSubscriptions = 1000

const isOk = (response: object): boolean => !('error' in response)

/** Who has subscribed to which resource of a server. */
export class ResourceSubscriptions {
  readonly #byUri = new Map<string, Set<string>>()

  /** What was asked, and answered. */
  onAnswered(from: string, { method, params }: McpRequestPayload, response: object): void {
    const uri = params?.uri
    if (typeof uri !== 'string' || !isOk(response)) return
    if (method === 'resources/unsubscribe') this.#byUri.get(uri)?.delete(from)
    if (method !== 'resources/subscribe') return
    if (this.#byUri.size >= maxSubscriptions && !this.#byUri.has(uri)) return
    this.#byUri.set(uri, new Set([...(this.#byUri.get(uri) ?? []), from]))
  }

  subscribersOf({ params }: McpRequestPayload): string[] {
    return [...(this.#byUri.get(String(params?.uri)) ?? [])]
  }
}

/** Tells of changes; of several alike that come faster than the space takes them, the first and the last. */
export class Announcements {
  readonly #seat: Pick<Space, 'send'>
  readonly #log: (line: string) => void
  /** By what is told: whether it is to be told once more. */
  readonly #sending = new Map<string, boolean>()

  constructor(seat: Pick<Space, 'send'>, log: (line: string) => void) {
    this.#seat = seat
    this.#log = log
  }

  /** `to`: absent = everyone. */
  send(payload: McpRequestPayload, to?: readonly string[]): void {
    const key = JSON.stringify([payload, to])
    const isSending = this.#sending.has(key)
    this.#sending.set(key, isSending)
    if (!isSending) void this.#send(key, payload, to)
  }

  async #send(key: string, payload: McpRequestPayload, to: readonly string[] | undefined): Promise<void> {
    let waitMs: number | undefined
    try {
      await this.#seat.send({ kind: Kind.mcpRequest, ...(to && { to }), payload })
    } catch (error) {
      waitMs = retryAfterMs(error)
      if (waitMs === undefined)
        this.#log(`the notification ${payload.method} was refused: ${messageOf(error)}`)
      else await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
    const again = waitMs !== undefined || this.#sending.get(key)
    this.#sending.delete(key)
    if (again) this.send(payload, to)
  }
}

function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ProtocolError) || error.code !== 'rate_limited') return undefined
  const { retryAfterMs: ms } = error.details
  return typeof ms === 'number' ? ms : undefined
}
