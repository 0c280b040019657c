import { Json } from './json.js'
import { Unreadable } from './unreadable.js'

/** Measurements of a service under load. */
interface Load {
  /** Milliseconds within which 95 % of the requests were answered. */
  readonly p95: number
  /** Share of the requests that failed, from 0 to 1. */
  readonly errorRate: number
  /** Requests per second. */
  readonly throughput: number
}

export interface LoadReport {
  readonly before: Load
  readonly after: Load
}

export interface Measure {
  /** The figures in words, such as `p95 latency 285 ms → 201 ms (-29 %)`. */
  readonly figures: string
  readonly limit: string
  readonly isKept: boolean
}

/** Limits for the cost of a change, as shares: 0.1 is 10 %. */
const limits = { slowdown: 0.1, errorRate: 0.01, throughputLoss: 0.05 }

/** Parses two summaries of k6, `baseline` and `candidate`. Throws `Unreadable` if one is missing. */
export function parseLoadReport(text: string): LoadReport {
  const report = Json.parse('the load report', text)
  const [before, after] = [readLoad(report.at('baseline')), readLoad(report.at('candidate'))]
  if (before.p95 <= 0 || before.throughput <= 0) throw new Unreadable('the load report has an empty baseline')
  return { before, after }
}

function readLoad(run: Json): Load {
  const metrics = run.at('metrics')
  return {
    p95: metrics.at('http_req_duration').at('p(95)').number,
    errorRate: metrics.at('http_req_failed').at('value').number,
    throughput: metrics.at('http_reqs').at('rate').number,
  }
}

/** Compares the measurements of a change with the limits. */
export function compare({ before, after }: LoadReport): Measure[] {
  const slowdown = after.p95 / before.p95 - 1
  const gain = after.throughput / before.throughput - 1
  return [
    {
      figures: `p95 latency ${whole(before.p95)} ms → ${whole(after.p95)} ms (${signed(slowdown)})`,
      limit: `at most ${signed(limits.slowdown)}`,
      isKept: slowdown <= limits.slowdown,
    },
    {
      figures: `error rate ${percent(before.errorRate)} → ${percent(after.errorRate)}`,
      limit: `at most ${percent(limits.errorRate)}`,
      isKept: after.errorRate <= limits.errorRate,
    },
    {
      figures: `throughput ${whole(before.throughput)}/s → ${whole(after.throughput)}/s (${signed(gain)})`,
      limit: `at least ${signed(-limits.throughputLoss)}`,
      isKept: gain >= -limits.throughputLoss,
    },
  ]
}

const whole = (value: number): string => value.toFixed(0)
const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
const signed = (share: number): string => `${share < 0 ? '' : '+'}${(share * 100).toFixed(0)} %`
