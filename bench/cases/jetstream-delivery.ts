import { createHash, type Hash } from 'node:crypto'
import type { Nats } from '../../test/support/nats.js'
import { Crowd } from '../load/crowd.js'
import type { Connection } from '../load/line.js'
import type { Options } from '../load/options.js'
import { pace } from '../load/pace.js'
import { openSeats } from '../load/seats.js'
import { placeOfSender } from '../load/sender.js'
import { mark, numberAt, numberBehindSender } from '../load/template.js'
import { until } from '../load/waiting.js'
import type { Running } from '../peers/contenders.js'
import { receiverName } from '../peers/space.js'
import { median } from '../report/section.js'
import { withTwoGateways } from './jetstream-gateways.js'

const perSecond = 500
const size = 300
/** Maximum bytes that a gateway adds to a message. */
const slack = 20
/** Distance between the message numbers of two passes on the same servers, so that no number is used twice. */
const apart = 1_000_000

type Role = 'sequencing' | 'following'

interface Quantiles {
  /** Milliseconds from before the sender's write to after a receiver's read. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

export interface Pass {
  readonly servers: number
  /** The gateway that the sender is connected to. */
  readonly sentTo: Role
  /** Quantiles by the gateway that the receivers are connected to. */
  readonly at: Readonly<Record<Role, Quantiles>>
}

/**
 * Measures the delivery at both gateways. Hashes what each receiver gets: fails if two receivers of either gateway get
 * different bytes.
 */
export async function deliveredAlike(nats: Nats, sentTo: Role, options: Options): Promise<Pass> {
  const { receivers: [each = 25] = [], rounds, ms, warmMs } = options
  const seats = { receivers: 2 * each, senders: 1 }
  const found: Record<Role, Quantiles>[] = []
  await withTwoGateways(nats, seats, async (sequencing, following) => {
    const [near, far] = sentTo === 'sequencing' ? [sequencing, following] : [following, sequencing]
    const first = sentTo === 'sequencing' ? 0 : apart
    const distant = await openDistant(far, each)
    const crowd = await Crowd.gather(near, { receivers: each, senders: 1, size, first })
    try {
      await distant.settle()
      await measure(crowd, distant.lines, warmMs * 4)
      for (let round = 0; round < rounds; round++) {
        const [here, there] = await measure(crowd, distant.lines, ms * 4)
        found.push(
          sentTo === 'sequencing'
            ? { sequencing: here, following: there }
            : { sequencing: there, following: here },
        )
      }
    } finally {
      await Promise.all([crowd.close(), ...distant.lines.map((line) => line.close())])
    }
  })
  const of = (role: Role): Quantiles => {
    const middle = (quantile: keyof Quantiles): number => median(found.map((one) => one[role][quantile]))
    return { p50: middle('p50'), p99: middle('p99'), p999: middle('p999') }
  }
  return {
    servers: nats.nodes.length,
    sentTo,
    at: { sequencing: of('sequencing'), following: of('following') },
  }
}

/** Connects receivers to the gateway that the sender is not connected to, with other names than at the sender's gateway. */
async function openDistant(gateway: Running, count: number) {
  const names = Array.from({ length: count }, (_, i) => receiverName(count + i))
  const lines = await openSeats(gateway, names, { least: size, maximum: size + slack })
  const heard = new Set<Connection>()
  for (const line of lines) {
    line.reader.watch = (bytes, from, to) => {
      if (bytes.subarray(from, to).includes(mark)) heard.add(line)
    }
  }
  /** Resolves once all receivers have got the first message, so that no messages about joins are in flight. */
  const settle = (): Promise<void> => until(() => heard.size === lines.length)
  return { lines, settle }
}

async function measure(
  crowd: Crowd,
  distant: readonly Connection[],
  ms: number,
): Promise<[Quantiles, Quantiles]> {
  const [sender] = crowd.senders
  if (sender === undefined) throw new Error('nobody sends')
  const sentAt = new Map<number, number>()
  const near = watched(crowd.receivers, sentAt)
  const far = watched(distant, sentAt)
  const failed = Promise.race(distant.map((line) => line.failed))
  const before = sender.sent
  await crowd.within(Promise.race([pace(sender, { perSecond, ms, sentAt }), failed]))
  await crowd.drain()
  const all = sender.sent - before
  await Promise.race([until(() => far.every(({ took }) => took.length >= all)), failed])
  const digests = new Set([...near, ...far].map(({ hash, took }) => `${took.length} ${hash.digest('hex')}`))
  if (digests.size !== 1 || near[0]?.took.length !== all) {
    throw new Error(`${all} messages were sent; receivers have ${[...digests].join(', ')}`)
  }
  return [quantiles(near), quantiles(far)]
}

interface Watched {
  readonly took: number[]
  readonly hash: Hash
}

function watched(lines: readonly Connection[], sentAt: ReadonlyMap<number, number>): Watched[] {
  return lines.map(({ reader }) => {
    const [took, hash]: [number[], Hash] = [[], createHash('sha256')]
    reader.watch = (bytes, from, to) => {
      const sent = sentAt.get(numberAt(bytes, placeOfSender(bytes, from, to) + numberBehindSender))
      if (sent === undefined) throw new Error('a message came that was not sent in this round')
      took.push(performance.now() - sent)
      hash.update(bytes.subarray(from, to))
    }
    return { took, hash }
  })
}

function quantiles(all: readonly Watched[]): Quantiles {
  const sorted = Float64Array.from(all.flatMap(({ took }) => took)).sort()
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}
