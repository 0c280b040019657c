import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Nats } from '../../test/support/nats.js'
import { chosen, type Running, type Seats } from '../peers/contenders.js'

/**
 * Starts two gateways for one space, calls `work`, and stops them. The first gateway assigns the seqs of the space; the other
 * follows it.
 */
export async function withTwoGateways<T>(
  { servers, nodes }: Nats,
  seats: Seats,
  work: (sequencing: Running, following: Running) => Promise<T>,
): Promise<T> {
  const [contender] = chosen(['sqlite'])
  if (contender === undefined) throw new Error('there is no gateway to start')
  const storage = { kind: 'jetstream', servers, replicas: nodes.length }
  const prepare = async (folder: string): Promise<void> => {
    const file = join(folder, 'space.yaml')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), storage }))
  }
  const started: Running[] = []
  try {
    const sequencing = await contender.start(seats, { prepare })
    started.push(sequencing)
    const following = await contender.start(seats, { prepare })
    started.push(following)
    return await work(sequencing, following)
  } finally {
    // Stops the followers first, so that the space is not moved to another gateway.
    for (const gateway of started.reverse()) await gateway.stop()
  }
}
