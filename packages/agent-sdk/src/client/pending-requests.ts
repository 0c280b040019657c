import { findEnded, isElicitation } from '@meup/folds'
import { type AnyEnvelope, correlations, type EnvelopeOf, Kind, type McpRequestPayload } from '@meup/protocol'
import { programEndedError } from './errors.js'
import type { ClientHandler } from './handler.js'
import type { Progress } from './proposal.js'
import type { OnElicitation } from './types.js'
import { type TimedWaiter, type WaitOptions, wait } from './wait.js'

type Response = EnvelopeOf<typeof Kind.mcpResponse>

export interface PendingRequest {
  readonly id: string
  /** The progress token: the id of the request, or of its proposal. */
  readonly token: string
  /** The addressees, if known: those of a request that results from an approval are learned from its envelope. */
  readonly to: readonly string[]
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly onNotification?: ((notification: McpRequestPayload) => void) | undefined
  readonly onElicitation?: OnElicitation | undefined
}

interface Waiting {
  readonly request: PendingRequest
  readonly waiter: TimedWaiter<Response>
  to: readonly string[]
  elicitations: number
}

/** Maximum ms that the caller waits longer because of an elicitation by the callee. */
const elicitationMs = 300_000
/** Maximum elicitations per request that extend the wait. */
const maxElicitations = 16

/** Pending MCP requests of this participant, by envelope id. */
export class PendingRequests implements ClientHandler {
  readonly #waiting = new Map<string, Waiting>()

  /** Waits for the first response. Rejects when the wait is aborted or takes too long. */
  waitForResponse(request: PendingRequest, options: WaitOptions): Promise<Response> {
    return wait(
      'response',
      options,
      (waiter) => this.#waiting.set(request.id, { request, waiter, to: request.to, elicitations: 0 }),
      () => this.#waiting.delete(request.id),
    )
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const own = envelope.kind === Kind.mcpRequest ? this.#waiting.get(envelope.id) : undefined
    if (own !== undefined) own.to = envelope.to ?? []
    else if (this.isNotification(envelope)) this.#onNotification(envelope)
    else if (envelope.kind === Kind.mcpResponse) this.#onResponse(envelope)
    else if (this.findElicited(envelope) !== undefined) {
      for (const waiting of this.#correlated(envelope)) {
        if (++waiting.elicitations <= maxElicitations) waiting.waiter.allowMore(elicitationMs)
      }
    }
  }

  #onResponse(response: Response): void {
    const ended = findEnded(response)
    for (const waiting of this.#correlated(response)) {
      if (ended === undefined) waiting.waiter.resolve(response)
      else {
        // The program of this addressee has ended. Other addressees may still answer, so the wait ends with the last of them.
        waiting.to = waiting.to.filter((id) => id !== ended)
        if (waiting.to.length === 0) waiting.waiter.reject(programEndedError(ended))
      }
    }
  }

  /** Finds the pending request that an elicitation by its callee is about [MEUP-3.26]. */
  findElicited(envelope: AnyEnvelope): PendingRequest | undefined {
    if (envelope.kind !== Kind.mcpRequest || !isElicitation(envelope.payload)) return undefined
    return this.#correlated(envelope).find(({ to }) => to.includes(envelope.from))?.request
  }

  /** Whether the envelope is a notification about a pending request. The tools of this participant do not get these. */
  isNotification(envelope: AnyEnvelope): envelope is EnvelopeOf<typeof Kind.mcpRequest> {
    if (envelope.kind !== Kind.mcpRequest || !envelope.payload.method.startsWith('notifications/'))
      return false
    return this.#correlated(envelope).length > 0
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.waiter.reject(error)
  }

  onClose(reason: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(reason)
  }

  #correlated(envelope: AnyEnvelope): Waiting[] {
    return correlations(envelope).flatMap((id) => this.#waiting.get(id) ?? [])
  }

  /** Passes a notification to its request. Ignores senders that are not addressees of the request. */
  #onNotification(envelope: EnvelopeOf<typeof Kind.mcpRequest>): void {
    const { from, payload } = envelope
    const isProgress = payload.method === 'notifications/progress'
    for (const { request, waiter, to } of this.#correlated(envelope)) {
      if (!to.includes(from)) continue
      const progress = isProgress ? readProgress(payload.params, request.token) : undefined
      if (progress !== undefined) {
        waiter.allowMore(0)
        request.onProgress?.(progress)
      } else if (!isProgress) request.onNotification?.(payload)
    }
  }
}

/** Returns the params with a progress token in `_meta`. */
export function withProgressToken(params: object, progressToken: string): object {
  const { _meta } = params as { _meta?: object }
  return { ...params, _meta: { ..._meta, progressToken } }
}

function readProgress(params: Record<string, unknown> | undefined, token: string): Progress | undefined {
  const { progressToken, progress, total, message } = params ?? {}
  if (progressToken !== token || typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}
