import { traceEndpoint } from '@meup/folds'
import type { Entry, EnvelopeLog, GatewayOptions, Logger } from '@meup/gateway'
import type { TraceFold, TraceSpan } from '@meup/telemetry'

interface Tracing {
  /** The gateway option that observes the log; absent if there is no tracing. */
  readonly observe?: GatewayOptions['observe']
  /** Flushes the remaining spans; call it after the gateway has closed. */
  close(): Promise<void>
}

/** Envelopes read before the start, so that open runs are traced from their beginning. */
const maxLookBack = 10_000
const page = 500

/** Exports traces of every space if the environment configures an OTLP endpoint. */
export async function traceSpaces(logger: Logger, env = process.env): Promise<Tracing> {
  const endpoint = traceEndpoint(env)
  if (endpoint === undefined) return noTracing
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    logger.warn({ endpoint }, 'nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT is not an address')
    return noTracing
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || spoken
  if (protocol !== spoken)
    logger.warn({ protocol }, `traces are sent as ${spoken}; nothing else is spoken here`)
  // Imported only if needed: a gateway without tracing starts faster.
  const { createTraceFold, exportSpans } = await import('@meup/telemetry')
  const { parseEnvelope } = await import('@meup/gateway')
  const spans = exportSpans(logger)
  const captureText = env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === 'true'
  const ended = (fold: TraceFold, entry: Entry): readonly TraceSpan[] => {
    try {
      return fold.apply(parseEnvelope(entry))
    } catch (err) {
      logger.error({ seq: entry.seq, err }, 'an envelope could not be traced')
      return []
    }
  }
  const observe = async (space: string, log: EnvelopeLog) => {
    const fold = createTraceFold({ space, epoch: log.epoch, captureText })
    for await (const row of recent(log)) ended(fold, row) // Result ignored: these spans were exported before the restart.
    return (entries: readonly Entry[]) => {
      const traced = entries.flatMap((entry) => ended(fold, entry))
      if (log.shared?.leads !== false) spans.add(traced) // If several gateways share the log, only the leader exports spans.
    }
  }
  return { observe, close: () => spans.close() }
}

const spoken = 'http/protobuf'

const noTracing: Tracing = { close: async () => {} }

async function* recent(log: EnvelopeLog): AsyncGenerator<Entry, void> {
  let after = Math.max(log.head - maxLookBack, log.oldest - 1)
  while (after < log.head) {
    const rows = await log.read({ after, limit: page })
    yield* rows
    after = rows.at(-1)?.seq ?? log.head
  }
}
