import { Traces, traceparentOf } from '@meup/folds'
import type { Envelope } from '@meup/protocol'

/** A request or a proposal before it is sent. */
interface Outgoing {
  readonly id: string
  readonly method: string
  readonly params: object | undefined
  readonly context?: string | undefined
}

/** Tells those who carry out what this participant asks which span their work is part of. Off until it is begun. */
export class Tracing {
  #traces: Traces | undefined

  /** `epoch`: that of the log, as of now. */
  begin(epoch: () => string): void {
    this.#traces = new Traces(epoch)
  }

  take(envelope: Envelope): void {
    this.#traces?.take(envelope)
  }

  /** Its parameters, with a `traceparent` in `_meta`. One that is there already stays. */
  mark({ id, method, params, context }: Outgoing): object | undefined {
    const payload = { method, params }
    const span = this.#traces?.carriedBy({ id, payload, ...(context !== undefined && { context }) })
    if (span === undefined) return params
    const { _meta } = (params ?? {}) as { readonly _meta?: object }
    return { ...params, _meta: { traceparent: traceparentOf(span), ..._meta } }
  }
}
