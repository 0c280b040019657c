import { Crowd } from '../load/crowd.js'
import type { Options } from '../load/options.js'
import { pace } from '../load/pace.js'
import { placeOfSender } from '../load/sender.js'
import { numberAt, numberBehindSender } from '../load/template.js'
import { chosen } from '../peers/contenders.js'
import { decimals, median, type Section } from '../report/section.js'

const perSecond = 500
const size = 300

interface Quantiles {
  /** Milliseconds from before the sender's write to after a receiver's read. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

interface LatencyFigure extends Quantiles {
  readonly key: string
  readonly name: string
}

/** Measures how long a message takes to each receiver under light load. */
export async function latency(options: Options): Promise<Section[]> {
  const { receivers = [50], only, rounds, ms, verify } = options
  const figures: LatencyFigure[] = []
  const crowds: { key: string; name: string; crowd: Crowd; found: Quantiles[] }[] = []
  const shape = { receivers: receivers[0] ?? 50, senders: 1, size, verify }
  try {
    for (const contender of chosen(only)) {
      const server = await contender.start(shape)
      crowds.push({ ...contender, crowd: await Crowd.gather(server, shape), found: [] })
    }
    for (let round = 0; round < rounds; round++) {
      for (const { crowd, found } of crowds) found.push(await measure(crowd, ms * 4))
    }
    for (const { key, name, found } of crowds) {
      const of = (quantile: keyof Quantiles): number => median(found.map((each) => each[quantile]))
      figures.push({ key, name, p50: of('p50'), p99: of('p99'), p999: of('p999') })
    }
  } finally {
    for (const { crowd } of crowds) {
      await crowd.close()
      await crowd.server.stop()
    }
  }
  return [sectionOf(figures, shape.receivers)]
}

async function measure(crowd: Crowd, ms: number): Promise<Quantiles> {
  const [sender] = crowd.senders
  if (sender === undefined) throw new Error('nobody sends')
  const sentAt = new Map<number, number>()
  const took: number[] = []
  const order = crowd.receivers.map(({ reader }) => reader.watch)
  crowd.receivers.forEach(({ reader }, i) => {
    reader.watch = (bytes, from, to) => {
      order[i]?.(bytes, from, to, 1)
      const sent = sentAt.get(numberAt(bytes, placeOfSender(bytes, from, to) + numberBehindSender))
      if (sent === undefined) throw new Error('a message came that was not sent in this round')
      took.push(performance.now() - sent)
    }
  })
  await crowd.within(pace(sender, { perSecond, ms, sentAt }))
  await crowd.drain()
  crowd.receivers.forEach(({ reader }, i) => {
    reader.watch = order[i]
  })
  const sorted = Float64Array.from(took).sort()
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

function sectionOf(figures: readonly LatencyFigure[], receivers: number): Section {
  return {
    id: 'latency',
    title: 'Latency',
    about: `${perSecond} messages of ${size} B a second to ${receivers} receivers: ms from the sender's write to a receiver's read.`,
    columns: ['', 'p50', 'p99', 'p99.9'],
    rows: figures.map(({ key, name, p50, p99, p999 }) => [
      key.length === 1 ? `(${key}) ${name}` : name,
      ...[p50, p99, p999].map((each) => decimals(each)),
    ]),
    figures,
  }
}
