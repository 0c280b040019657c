import { traceEndpoint } from '@meup/folds'
import type { Entry, EnvelopeLog, Logger, LogStore } from '@meup/gateway'
import type { TraceFold, TraceSpan } from '@meup/telemetry'

export interface Tracing {
  /** What the gateway is to keep its logs in. */
  readonly store: LogStore
  /** Sends the remaining spans, once the store is closed. */
  close(): Promise<void>
}

/** Envelopes of before the start that are looked at again: runs that go on are traced from their beginning. */
const maxLookBack = 10_000
const page = 500

/** Traces every space whose log the store opens, where the environment says whom to send traces to. */
export async function traceStore(store: LogStore, logger: Logger, env = process.env): Promise<Tracing> {
  const endpoint = traceEndpoint(env)
  if (endpoint === undefined) return createNoTracing(store)
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    logger.warn({ endpoint }, 'nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT is no address')
    return createNoTracing(store)
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || spoken
  if (protocol !== spoken)
    logger.warn({ protocol }, `traces are sent as ${spoken}; nothing else is spoken here`)
  // Loaded where it is needed: a gateway that traces nothing starts faster without.
  const { createTraceFold, exportSpans } = await import('@meup/telemetry')
  const { envelopeOf, observedStore } = await import('@meup/gateway')
  const spans = exportSpans(logger)
  const captureText = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === 'true'
  const ended = (fold: TraceFold, entry: Entry): readonly TraceSpan[] => {
    try {
      return fold.apply(envelopeOf(entry))
    } catch (err) {
      logger.error({ seq: entry.seq, err }, 'an envelope could not be traced')
      return []
    }
  }
  const observed = observedStore(store, async (space, log) => {
    const fold = createTraceFold({ space, epoch: log.epoch, captureText })
    for await (const row of recent(log)) ended(fold, row) // What ended before the start is not sent again.
    return (entries) => spans.add(entries.flatMap((entry) => ended(fold, entry)))
  })
  return { store: observed, close: () => spans.close() }
}

const spoken = 'http/protobuf'

const createNoTracing = (store: LogStore): Tracing => ({ store, close: async () => {} })

async function* recent(log: EnvelopeLog): AsyncGenerator<Entry, void> {
  let after = Math.max(log.head - maxLookBack, log.oldest - 1)
  while (after < log.head) {
    const rows = await log.read({ after, limit: page })
    yield* rows
    after = rows.at(-1)?.seq ?? log.head
  }
}
