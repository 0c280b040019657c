import type { TraceBar } from './trace.js'

/** A mark on the axis. */
interface Tick {
  /** Position on the axis, from 0 to 1. */
  readonly at: number
  /** Time of the mark, in ms since the epoch. */
  readonly ms: number
}

/** A period without activity, drawn shorter than it was. */
interface Pause {
  readonly from: number
  readonly to: number
  /** Actual duration of the pause, in ms. */
  readonly ms: number
}

/** A time axis, which maps times to positions. */
export interface TimeScale {
  /** Position of a time, from 0 to 1; times beyond the axis are clamped. */
  at(ms: number): number
  readonly ticks: readonly Tick[]
  readonly pauses: readonly Pause[]
}

/** Share of the axis for each pause, and minimum length of a pause as a share of the active time. */
const [pauseShare, longestGap] = [0.06, 0.3]
const minAxisMs = 1000
const tickSeconds = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
]
const targetTicks = 6

/** Creates a time axis for these spans; open ones last until `now`. Long pauses are shortened. */
export function timeScale(spans: readonly TraceBar[], now: number): TimeScale {
  const busy = busyTimes(spans, now)
  const total = busy.reduce((sum, { from, to }) => sum + to - from, 0)
  const width = pauseShare * total
  const points: { readonly ms: number; readonly x: number }[] = []
  const pauses: Pause[] = []
  let x = 0
  for (const { from, to } of busy) {
    const before = points.at(-1)
    if (before !== undefined) {
      pauses.push({ from: x, to: x + width, ms: from - before.ms })
      x += width
    }
    points.push({ ms: from, x }, { ms: to, x: x + to - from })
    x += to - from
  }
  const whole = x
  const at = (ms: number): number => Math.min(position(points, ms) / whole, 1)
  const ticks = busy
    .flatMap(({ from, to }) => ticksIn(from, to, stepFor(total)))
    .map((ms) => ({ ms, at: at(ms) }))
  return {
    at,
    ticks: spread(ticks),
    pauses: pauses.map((each) => ({ ...each, from: each.from / whole, to: each.to / whole })),
  }
}

interface Time {
  readonly from: number
  readonly to: number
}

/** Periods with activity, including short gaps. The last one is extended to a round time. */
function busyTimes(spans: readonly TraceBar[], now: number): readonly Time[] {
  const sorted = spans
    .map(({ from, to = now }) => ({ from, to: Math.max(to, from) }))
    .sort((one, other) => one.from - other.from)
  const touching = join(sorted, 0)
  const total = touching.reduce((sum, { from, to }) => sum + to - from, 0)
  const joined = join(touching, Math.max(longestGap * total, minAxisMs))
  const last = joined.at(-1)
  if (last === undefined) return [{ from: now - minAxisMs, to: now }]
  const sum = joined.reduce((length, { from, to }) => length + to - from, 0)
  const step = stepFor(Math.max(sum, minAxisMs)) / 4
  return [
    ...joined.slice(0, -1),
    { from: last.from, to: Math.max(Math.ceil(last.to / step) * step, last.from + step) },
  ]
}

/** Merges periods that are at most `gap` ms apart. */
function join(times: readonly Time[], gap: number): readonly Time[] {
  const joined: Time[] = []
  for (const { from, to } of times) {
    const last = joined.at(-1)
    if (last === undefined || from > last.to + gap) joined.push({ from, to })
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) }
  }
  return joined
}

function position(points: readonly { readonly ms: number; readonly x: number }[], ms: number): number {
  const next = points.findIndex((point) => point.ms >= ms)
  const [before, after] = [points[next - 1], points[next]]
  if (after === undefined) return points.at(-1)?.x ?? 0
  if (before === undefined || after.ms === before.ms) return after.x
  return before.x + ((ms - before.ms) / (after.ms - before.ms)) * (after.x - before.x)
}

/** Interval of ticks, in ms. */
function stepFor(total: number): number {
  const wanted = total / targetTicks / 1000
  if (wanted < 0.1) return 100
  if (wanted < 0.5) return 500
  return (tickSeconds.find((step) => step >= wanted) ?? Math.ceil(wanted / 86_400) * 86_400) * 1000
}

function ticksIn(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step) * step
  const count = Math.max(Math.floor((to - first) / step) + 1, 0)
  return Array.from({ length: count }, (_, index) => first + index * step)
}

/** Share of the axis that a tick's label takes. */
const tickShare = 0.1

/** Drops ticks whose labels would overlap or exceed the axis. */
function spread(ticks: readonly Tick[]): readonly Tick[] {
  const kept: Tick[] = []
  for (const tick of ticks)
    if (tick.at - (kept.at(-1)?.at ?? -1) > tickShare && tick.at <= 1 - tickShare) kept.push(tick)
  return kept
}
