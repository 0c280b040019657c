import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { Gateway } from '../gateway/gateway.js'
import { type Reading, readings } from '../gateway/readings.js'

/** What the gateway counts and what the process uses, as text for Prometheus. */
export function metricsOf(gateway: Gateway): () => Promise<{ readonly text: string; readonly type: string }> {
  const registry = new Registry()
  const registries = [registry, registryOfProcess()]
  for (const reading of readings) registry.registerMetric(metricFor(reading, gateway))
  return async () => {
    const texts = await Promise.all(registries.map((each) => each.metrics()))
    return { text: texts.join('\n'), type: registry.contentType }
  }
}

/** What a registry asks of a metric: its values when somebody wants to see them. */
function metricFor({ name, help, type, read }: Reading, gateway: Gateway): Metric {
  const get = async () => ({ name, help, type, values: read(gateway) })
  return { name, get } as unknown as Metric
}

let ofProcess: Registry | undefined

/** One for the whole process, whatever it serves: what it watches cannot be unwatched. */
function registryOfProcess(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}
