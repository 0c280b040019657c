import type { Metric, Registry } from 'prom-client'
import type { Gateway } from './gateway.js'
import { type Reading, readings } from './readings.js'

/** One for the whole process, whatever it serves: what it watches cannot be unwatched. */
let ofProcess: Registry | undefined

/** What the gateway counts and what the process uses. */
export interface Metrics {
  /** Begins to watch the process, unless the first `read` has. */
  begin(): Promise<void>
  /** As text for Prometheus. */
  read(): Promise<{ readonly text: string; readonly type: string }>
}

export function metricsOf(gateway: Gateway): Metrics {
  let registries: Promise<readonly Registry[]> | undefined
  const begun = (): Promise<readonly Registry[]> => {
    registries ??= registriesOf(gateway)
    return registries
  }
  return {
    begin: async () => void (await begun()),
    async read() {
      const all = await begun()
      const texts = await Promise.all(all.map((each) => each.metrics()))
      return { text: texts.join('\n'), type: all[0]?.contentType ?? '' }
    },
  }
}

/** Loaded late: a start is faster without. */
async function registriesOf(gateway: Gateway): Promise<readonly Registry[]> {
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  for (const reading of readings) registry.registerMetric(metricFor(reading, gateway))
  if (ofProcess === undefined) {
    ofProcess = new prometheus.Registry()
    prometheus.collectDefaultMetrics({ register: ofProcess })
  }
  return [registry, ofProcess]
}

/** What a registry asks of a metric: its values when somebody wants to see them. */
function metricFor({ name, help, type, read }: Reading, gateway: Gateway): Metric {
  const get = async () => ({ name, help, type, values: read(gateway) })
  return { name, get } as unknown as Metric
}
