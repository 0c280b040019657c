import type { Nats } from '../../test/support/nats.js'
import { startNats } from '../../test/support/nats.js'
import type { Options } from '../load/options.js'
import { atExit } from '../peers/process.js'
import { decimals, type Section } from '../report/section.js'
import { deliveredAlike, type Pass } from './jetstream-delivery.js'
import { type Fault, faults, type Outage, outagesOf } from './jetstream-outages.js'

/**
 * Measures two gateways on one space: how long a message takes to the receivers of each gateway, and how long acknowledgements
 * are missing after a fault.
 */
export async function jetstream(options: Options): Promise<Section[]> {
  const passes: Pass[] = []
  const outages: Outage[] = []
  for (const servers of [1, 3]) {
    await withNats(servers, async (nats) => {
      for (const sentTo of ['sequencing', 'following'] as const) {
        passes.push(await deliveredAlike(nats, sentTo, options))
      }
      if (servers === 1) return
      for (const fault of Object.keys(faults) as Fault[]) {
        outages.push(await outagesOf(nats, fault, options.rounds))
      }
    })
  }
  return [deliverySection(passes), outageSection(outages)]
}

async function withNats(nodes: number, work: (nats: Nats) => Promise<void>): Promise<void> {
  const nats = await startNats({ nodes })
  const kill = (): void => {
    for (const node of nats.nodes) node.signal('SIGKILL')
  }
  atExit.add(kill)
  try {
    await work(nats)
  } finally {
    await nats.stop()
    atExit.delete(kill)
  }
}

function deliverySection(passes: readonly Pass[]): Section {
  return {
    id: 'jetstream',
    title: 'Two gateways on one space',
    about:
      '500 messages of 300 B a second to receivers at each of two gateways: ms from the sender’s write to a receiver’s read. All receivers got the same bytes. Both gateways share a core, the servers of NATS that of the load generator; the load is on for four seconds before.',
    columns: ['servers, sent to the gateway that is', 'received at the one that is', 'p50', 'p99', 'p99.9'],
    rows: passes.flatMap(({ servers, sentTo, at }) =>
      Object.entries(at).map(([gateway, { p50, p99, p999 }]) => [
        `${servers}, ${sentTo}`,
        gateway,
        ...[p50, p99, p999].map((each) => decimals(each)),
      ]),
    ),
    figures: passes,
  }
}

function outageSection(outages: readonly Outage[]): Section {
  return {
    id: 'jetstream-outages',
    title: 'Without acknowledgements',
    about:
      'Three servers, two gateways, 100 messages a second, each sent again until it is acknowledged: seconds between two acknowledgements at most.',
    columns: ['fault', 'longest', 'each round'],
    rows: outages.map(({ fault, seconds }) => [
      faults[fault],
      decimals(Math.max(...seconds)),
      seconds.map((each) => decimals(each)).join(', '),
    ]),
    figures: outages,
  }
}
