import { formatTraceparent, Traces } from '@meup/folds'
import { type Envelope, omitUndefined } from '@meup/protocol'

/** A request or a proposal that is about to be sent. */
interface Outgoing {
  readonly id: string
  readonly method: string
  readonly params: object | undefined
  readonly context?: string | undefined
}

/** Adds trace context to the requests and proposals of this participant. */
export class Tracing {
  readonly #traces: Traces | undefined

  /** `getEpoch`: returns the epoch of the log; absent = no tracing. */
  constructor(getEpoch: (() => string) | undefined) {
    this.#traces = getEpoch && new Traces(getEpoch)
  }

  onEnvelope(envelope: Envelope): void {
    this.#traces?.apply(envelope)
  }

  /** Adds a `traceparent` to `_meta` of the params, unless they have one. */
  addTraceContext({ id, method, params, context }: Outgoing): object | undefined {
    const payload = { method, params }
    const span = this.#traces?.getCarriedSpan({ id, payload, ...omitUndefined({ context }) })
    if (span === undefined) return params
    const { _meta } = (params ?? {}) as { readonly _meta?: object }
    return { ...params, _meta: { traceparent: formatTraceparent(span), ..._meta } }
  }
}
