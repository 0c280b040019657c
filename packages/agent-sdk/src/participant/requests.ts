import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  Kind,
  type McpRequestPayload,
  type McpResponsePayload,
} from '@meup/protocol'
import { ToolError } from './errors.js'
import { type Progress, readProgress } from './progress.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

type Response = EnvelopeOf<typeof Kind.mcpResponse>

/** A request, and who hears of it. */
export interface Asked {
  readonly id: string
  /** What progress is reported under: the id of the request, or of the proposal that it carries out. */
  readonly token: string
  readonly to: readonly string[]
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly onNotification?: ((notification: McpRequestPayload) => void) | undefined
}

interface Waiting {
  readonly asked: Asked
  readonly waiter: Waiter<Response>
}

/** Requests that wait for their response, by the id of the request. */
export class Requests {
  readonly #waiting = new Map<string, Waiting>()

  /** The first response to this request. Rejects when it is aborted or takes too long. */
  response(asked: Asked, options: WaitOptions): Promise<Response> {
    return wait(
      'response',
      options,
      (waiter) => this.#waiting.set(asked.id, { asked, waiter }),
      () => this.#waiting.delete(asked.id),
    )
  }

  /** Whether the envelope was about one of these, and nobody else's business. */
  take(envelope: AnyEnvelope): boolean {
    if (envelope.kind === Kind.mcpRequest) return this.#notified(envelope)
    if (envelope.kind !== Kind.mcpResponse) return false
    const answered = correlations(envelope).flatMap((id) => this.#waiting.get(id) ?? [])
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.waiter.reject(error)
  }

  failAll(error: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(error)
  }

  /** Believed of those alone who were asked. */
  #notified({ from, payload, ...notification }: EnvelopeOf<typeof Kind.mcpRequest>): boolean {
    if (!payload.method.startsWith('notifications/')) return false
    const known = correlations(notification).flatMap((id) => this.#waiting.get(id) ?? [])
    for (const { asked } of known) {
      if (!asked.to.includes(from)) continue
      const isProgress = payload.method === 'notifications/progress'
      const progress = isProgress ? readProgress(payload.params, asked.token) : undefined
      if (progress !== undefined) asked.onProgress?.(progress)
      else if (!isProgress) asked.onNotification?.(payload)
    }
    return known.length > 0
  }
}

/** The result of a JSON-RPC response; throws `ToolError` for its error. */
export function resultOf({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error === undefined) return result ?? {}
  // The gateway relays whatever a participant says in its place.
  const { message, code, data } = Object(error) as Partial<NonNullable<McpResponsePayload['error']>>
  throw new ToolError(String(message ?? 'the tool failed without saying why'), code, data)
}
