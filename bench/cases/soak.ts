import { Crowd } from '../load/crowd.js'
import type { Options } from '../load/options.js'
import { pace } from '../load/pace.js'
import { pause } from '../load/waiting.js'
import { chosen } from '../peers/contenders.js'
import { decimals, type Section } from '../report/section.js'

const perSecond = 1000
/**
 * A faster load before the measurement, which fills the bounded memories of the latest envelopes. Memory that still grows
 * afterwards is unbounded.
 */
const filling = { perSecond: 5000, maxMs: 60_000 }
const receivers = 10
const size = 300
const everyMs = 10_000
const megabyte = 2 ** 20

interface Sample {
  readonly seconds: number
  readonly megabytes: number
}

/** Measures whether memory grows under a constant load. */
export async function soak(options: Options): Promise<Section[]> {
  const ms = options.minutes * 60_000
  const sections: Section[] = []
  for (const contender of chosen(options.only ?? ['sqlite'])) {
    const shape = { receivers: options.receivers?.[0] ?? receivers, senders: 1, size }
    const server = await contender.start(shape)
    try {
      const crowd = await Crowd.gather(server, shape)
      const samples = await sampled(crowd, ms, Math.min(everyMs, ms / 12))
      await crowd.close()
      sections.push(sectionOf(contender.name, samples, shape.receivers))
    } finally {
      await server.stop()
    }
  }
  return sections
}

async function sampled(crowd: Crowd, total: number, every: number): Promise<Sample[]> {
  const [sender] = crowd.senders
  if (sender === undefined) throw new Error('nobody sends')
  const ms = Math.min(filling.maxMs, total / 10)
  await crowd.within(pace(sender, { perSecond: filling.perSecond, ms }))
  await crowd.drain()
  const samples: Sample[] = []
  const begin = performance.now()
  let isOver = false
  const sampling = async (): Promise<void> => {
    while (!isOver) {
      const seconds = (performance.now() - begin) / 1000
      samples.push({ seconds, megabytes: crowd.server.rss() / megabyte })
      await pause(every)
    }
  }
  const sampler = sampling()
  await crowd.within(pace(sender, { perSecond, ms: total }))
  isOver = true
  await crowd.drain()
  await sampler
  return samples
}

/** Returns the growth of memory over the last three quarters, in megabytes per minute. The first quarter is warm-up. */
export function slopeOf(samples: readonly Sample[]): number {
  const some = samples.slice(Math.floor(samples.length / 4))
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, each) => sum + each, 0) / values.length
  const [x, y] = [mean(some.map(({ seconds }) => seconds)), mean(some.map(({ megabytes }) => megabytes))]
  const of = (part: (sample: Sample) => number): number => some.reduce((sum, each) => sum + part(each), 0)
  const rise = of(({ seconds, megabytes }) => (seconds - x) * (megabytes - y))
  return (60 * rise) / of(({ seconds }) => (seconds - x) ** 2)
}

function sectionOf(name: string, samples: readonly Sample[], hearers: number): Section {
  const slope = slopeOf(samples)
  const minutes = (samples.at(-1)?.seconds ?? 0) / 60
  return {
    id: 'soak',
    title: `Soak: ${name}`,
    about: `${perSecond} messages of ${size} B a second to ${hearers} receivers for ${decimals(minutes, 1)} minutes, behind a minute of five times as many: resident memory, and what its last three quarters rise by.`,
    columns: ['seconds', 'MB'],
    rows: [
      ...samples
        .filter((_, i) => i % Math.ceil(samples.length / 12) === 0 || i === samples.length - 1)
        .map(({ seconds, megabytes }) => [decimals(seconds, 0), decimals(megabytes, 1)]),
      ['MB a minute', decimals(slope)],
    ],
    figures: { name, slope, samples },
  }
}
