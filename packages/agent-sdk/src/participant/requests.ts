import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  Kind,
  type McpResponsePayload,
} from '@meup/protocol'
import { ToolError } from './errors.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

type Response = EnvelopeOf<typeof Kind.mcpResponse>

/** Requests that wait for their response, by the id of the request. */
export class Requests {
  readonly #waiting = new Map<string, Waiter<Response>>()

  /** The first response to this request. Rejects when it is aborted or takes too long. */
  response(id: string, options: WaitOptions): Promise<Response> {
    return wait(
      'response',
      options,
      (waiter) => this.#waiting.set(id, waiter),
      () => this.#waiting.delete(id),
    )
  }

  take(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.mcpResponse) return
    for (const id of correlations(envelope)) this.#waiting.get(id)?.resolve(envelope)
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.reject(error)
  }

  failAll(error: Error): void {
    for (const { reject } of [...this.#waiting.values()]) reject(error)
  }
}

/** The result of a JSON-RPC response; throws `ToolError` for its error. */
export function resultOf({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error !== undefined) throw new ToolError(error.message, error.code, error.data)
  return result ?? {}
}
