import type { Metric, Registry } from 'prom-client'
import type { Histogram, MeterCounts, SpaceMetrics } from '../core/metering.js'
import type { SpaceReport } from '../core/space.js'
import type { Gateway } from './gateway.js'
import { countUnhandledRejections } from './unhandled-rejections.js'

/** One registry per process, because the process metrics cannot be unregistered. */
let ofProcess: Registry | undefined

/** Metrics of the gateway and of its process, for Prometheus. */
interface Metrics {
  /** Starts the process metrics, unless the first `read` has done so. */
  begin(): Promise<void>
  /** The metrics as text for Prometheus. */
  read(): Promise<{ readonly text: string; readonly type: string }>
}

export function createMetrics(gateway: Gateway): Metrics {
  const begun = lazily(() => listRegistries(gateway))
  return {
    begin: async () => void (await begun()),
    async read() {
      const all = await begun()
      const texts = await Promise.all(all.map((each) => each.metrics()))
      return { text: texts.join('\n'), type: all[0]?.contentType ?? '' }
    },
  }
}

/** Calls `make` on first use only. */
export function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Imports prom-client on first use only, because the import delays a start. */
async function listRegistries(gateway: Gateway): Promise<readonly Registry[]> {
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  for (const reading of metricDefinitions) registry.registerMetric(metricFor(reading, gateway))
  if (ofProcess === undefined) {
    ofProcess = new prometheus.Registry()
    prometheus.collectDefaultMetrics({ register: ofProcess })
  }
  return [registry, ofProcess]
}

/** A metric whose values are read when it is scraped. */
function metricFor({ name, help, type, read }: MetricDefinition, gateway: Gateway): Metric {
  const get = async () => ({ name, help, type, values: read(gateway) })
  return { name, get } as unknown as Metric
}

interface Value {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** The name of a part of a histogram, if it differs from the metric's. */
  readonly metricName?: string
}

const commitSeconds = 'meup_commit_seconds'

/** One metric in Prometheus terms. Its values are read when it is scraped. */
interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  read(gateway: Pick<Gateway, 'report' | 'disk' | 'refusedJoins' | 'failedLogins'>): Value[]
}

export const metricDefinitions: readonly MetricDefinition[] = [
  gauge('meup_space_ready', '1 while the space takes envelopes', ({ stopped }) => (stopped ? 0 : 1)),
  gauge('meup_log_head', 'Seq of the last envelope that was committed', ({ head }) => head),
  gauge('meup_connections', 'Open sockets and streams of events', ({ connections }) => connections),
  gauge('meup_unsent_bytes', 'Bytes that clients have not taken yet', ({ unsentBytes }) => unsentBytes),
  gauge(
    'meup_waiting_envelopes',
    'Admitted envelopes that wait for the log',
    (space) => space.waiting.envelopes,
  ),
  gauge('meup_waiting_bytes', 'Bytes of the envelopes that wait for the log', (space) => space.waiting.bytes),
  gauge(
    'meup_unindexed_envelopes',
    'Delivered envelopes that the index of turns has not taken yet',
    ({ unindexed }) => unindexed,
  ),
  gauge(
    'meup_unerased_envelopes',
    'Envelopes that were erased, whose bytes are not removed yet',
    ({ unerased }) => unerased,
  ),
  gauge('meup_participants_present', 'Present participants', ({ present }) => present),
  gauge(
    'meup_open_contexts',
    'Contexts that reasoning has opened and not closed',
    ({ openContexts }) => openContexts,
  ),
  gauge('meup_open_proposals', 'Proposals that wait for a decision', ({ openProposals }) => openProposals),
  counter('meup_envelopes_accepted_total', 'Envelopes that were committed, by class', (metrics) =>
    byKey('class', metrics.accepted),
  ),
  counter(
    'meup_log_appended_bytes_total',
    'Bytes of the envelopes that were committed',
    (metrics) => metrics.appendedBytes,
  ),
  counter('meup_envelopes_refused_total', 'Envelopes that were refused, by error code', (metrics) =>
    byKey('code', metrics.refused),
  ),
  counter('meup_reported_tokens_total', 'Tokens that agents report at the ends of runs', (metrics) =>
    byKey('direction', metrics.tokens),
  ),
  counter('meup_safety_findings_total', 'Envelopes with findings of the guard, by outcome', (metrics) =>
    byKey('action', metrics.findings),
  ),
  perSpace('histogram', commitSeconds, 'Seconds that the log took to commit one batch', ({ metrics }) =>
    listBuckets(commitSeconds, metrics.commits),
  ),
  counter(
    'meup_commits_failed_total',
    'Batches that the log did not take',
    (metrics) => metrics.failedCommits,
  ),
  counter(
    'meup_held_reads_total',
    'Times that a connection was not read for a while: the log fell behind, or its rates were used up',
    (metrics) => metrics.heldReads,
  ),
  counter(
    'meup_slow_closes_total',
    'Connections that were closed because their peer took too little (4410)',
    (metrics) => metrics.slowCloses,
  ),
  counter(
    'meup_suppressed_envelopes_total',
    'Envelopes that subscriptions have cut',
    (metrics) => metrics.suppressed.envelopes,
  ),
  counter(
    'meup_suppressed_bytes_total',
    'Bytes that subscriptions have cut',
    (metrics) => metrics.suppressed.bytes,
  ),
  counter(
    'meup_reasoning_suppressed_total',
    'Thoughts of hidden runs, which were only sent to their sender',
    (metrics) => metrics.withheldThoughts,
  ),
  {
    name: 'meup_log_bytes',
    type: 'gauge',
    help: 'Bytes of the files of the logs and of their index',
    read: ({ disk }) => readOne(disk()?.logBytes),
  },
  {
    name: 'meup_disk_free_bytes',
    type: 'gauge',
    help: 'Bytes that are left on the disk of the logs',
    read: ({ disk }) => readOne(disk()?.freeBytes),
  },
  {
    name: 'meup_joins_refused_total',
    type: 'counter',
    help: 'Connections that were not opened, by error code',
    read: ({ refusedJoins }) => byKey('code', refusedJoins),
  },
  {
    name: 'meup_auth_failures_total',
    type: 'counter',
    help: 'Requests and connections that lack a valid token and need one',
    read: ({ failedLogins }) => [{ labels: {}, value: failedLogins }],
  },
  {
    name: 'meup_unhandled_rejections_total',
    type: 'counter',
    help: 'Unhandled errors inside the gateway or its bridges; each is logged',
    read: () => [{ labels: {}, value: countUnhandledRejections() }],
  },
]

type ReadSpace<Of> = (of: Of) => number | Value[]

function gauge(name: string, help: string, read: ReadSpace<SpaceReport>): MetricDefinition {
  return perSpace('gauge', name, help, read)
}

function counter(name: string, help: string, read: ReadSpace<SpaceMetrics>): MetricDefinition {
  return perSpace('counter', name, help, ({ metrics }) => read(metrics))
}

function perSpace(
  type: MetricDefinition['type'],
  name: string,
  help: string,
  read: ReadSpace<SpaceReport>,
): MetricDefinition {
  const listValues = (space: SpaceReport): Value[] => {
    const found = read(space)
    const values = typeof found === 'number' ? [{ labels: {}, value: found }] : found
    return values.map((value) => ({ ...value, labels: { space: space.space, ...value.labels } }))
  }
  return { name, type, help, read: ({ report }) => report().flatMap(listValues) }
}

const readOne = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }])

function byKey(label: string, counts: MeterCounts): Value[] {
  return [...counts.entries()].map(([key, value]) => ({ labels: { [label]: key }, value }))
}

/** Cumulative counts per bound, as Prometheus expects them. */
function listBuckets(name: string, { bounds, counts, count, sum }: Histogram): Value[] {
  let upTo = 0
  const buckets = bounds.map((bound, index) => {
    upTo += counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { le: `${bound}` }, value: upTo }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ]
}
