import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  Kind,
  type McpResponsePayload,
} from '@meup/protocol'
import { ConnectionError, ToolError } from './errors.js'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds until the request is given up; default 60,000. */
  readonly timeoutMs?: number
}

const defaultTimeout = 60_000

interface Waiting {
  settle(outcome: EnvelopeOf<'mcp.response'> | Error): void
}

/** Requests that wait for their response, by the id of the request. */
export class Requests {
  readonly #waiting = new Map<string, Waiting>()

  /** The first response to this request. Rejects when it is aborted or takes too long. */
  response(
    id: string,
    { signal, timeoutMs = defaultTimeout }: WaitOptions,
  ): Promise<EnvelopeOf<'mcp.response'>> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => settle(new ConnectionError('aborted', `aborted: ${String(signal?.reason)}`))
      const settle: Waiting['settle'] = (outcome) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', aborted)
        this.#waiting.delete(id)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      const late = new ConnectionError('timeout', `no response within ${timeoutMs} ms`)
      const timer = setTimeout(() => settle(late), timeoutMs)
      this.#waiting.set(id, { settle })
      if (signal?.aborted) aborted()
      else signal?.addEventListener('abort', aborted)
    })
  }

  take(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.mcpResponse) return
    for (const id of correlations(envelope)) this.#waiting.get(id)?.settle(envelope)
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.settle(error)
  }

  failAll(error: Error): void {
    for (const { settle } of [...this.#waiting.values()]) settle(error)
  }
}

/** The result of a JSON-RPC response; throws `ToolError` for its error. */
export function resultOf({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error !== undefined) throw new ToolError(error.message, error.code, error.data)
  return result ?? {}
}
