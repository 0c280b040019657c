import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamStore } from '@meup/jetstream'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIdsIn } from '../support/chain.js'
import { retry, seat, startSharing, wireOf } from '../support/cluster.js'
import { natsServer, startNats } from '../support/nats.js'
import { times } from '../support/soak.js'
import { needing } from '../verifies.js'

/** Number of times that the leader is killed. */
const rounds = times(1, 10)
const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
/** Name of the stream that has the log of the space `demo`. */
const stream = 'MEUP_2'
/** Envelopes of each sender in a burst, milliseconds between bursts, and milliseconds of load in each round. */
const [burst, gap, loadMs] = [2, 10, 1000]

const hashOf = (frames: readonly string[]): string =>
  createHash('sha256').update(frames.join('\n')).digest('hex')

test(
  `two gateways on three servers, ${rounds} times kill -9 of the leader: both deliver the same bytes, all that was acknowledged once`,
  withNats(async () => {
    const nats = await startNats({ nodes: 3 })
    onTestFinished(() => nats.stop())
    const gateways = [await startSharing(nats.servers, 3), await startSharing(nats.servers, 3)] as const
    const wires = await Promise.all(gateways.map(({ url }) => wireOf(url, 'reader')))
    const senders = await Promise.all([seat(gateways[0].url, 'ana'), seat(gateways[1].url, 'bob')])
    const accepted: ReturnType<typeof retry>[] = []
    const load = async (round: number): Promise<void> => {
      const end = performance.now() + loadMs
      for (let i = 0; performance.now() < end; i++) {
        senders.forEach((sender, which) => {
          for (let n = 0; n < burst; n++) {
            const envelope = { id: `m${round}-${which}-${i}-${n}`, kind: 'chat', payload: { message: 'on' } }
            accepted.push(retry(sender, envelope))
          }
        })
        await pause(gap)
      }
    }
    for (let round = 0; round < rounds; round++) {
      const loaded = load(round)
      await pause(loadMs / 2)
      const leader = await nats.leaderOf(stream)
      await leader.end('SIGKILL')
      await loaded
      await Promise.all(accepted)
      await leader.start()
      await nats.leaderOf(stream)
    }
    const all = await Promise.all(accepted)
    const head = Math.max(...all.map(({ seq = 0 }) => seq))
    for (const { frames } of wires) {
      await expect.poll(() => frames.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(head)
      const seqs = frames.map((frame) => (JSON.parse(frame) as { seq: number }).seq)
      expect(seqs).toEqual(seqs.map((_, i) => i + 1))
    }
    const [first, second] = wires.map(({ frames }) => hashOf(frames.slice(0, head)))
    expect(first).toBe(second)
    for (const gateway of gateways) expect(await gateway.stop('SIGTERM')).toBe(0)

    const path = join(gateways[0].folder, 'another-replica.db')
    const ids = await verifiedIdsIn(
      await jetstreamStore({ servers: nats.servers, replicas: 3, path }),
      'demo',
    )
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, seq = 0 } of all) expect(ids[seq - 1]).toBe(id)
  }),
  60_000 + rounds * 60_000,
)
