import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { jetstreamStore } from '@meup/jetstream'
import { ProtocolError } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIdsIn } from '../support/chain.js'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { natsServer, startNats } from '../support/nats.js'
import { times } from '../support/soak.js'
import { needing } from '../verifies.js'

/** Number of times that the leader is killed. */
const rounds = times(1, 10)
const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
/** Envelopes in a burst, milliseconds between bursts (500 envelopes per second), and milliseconds of load in each round. */
const [burst, gap, loadMs] = [5, 10, 1000]

const plenty = '{ perSecond: 100000, burst: 100000 }'
const config = (servers: readonly string[]) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: jetstream, servers: ${JSON.stringify(servers)}, replicas: 3 }
limits: { rates: { chat: ${plenty}, bytes: { perSecond: 1.0e+9, burst: 1.0e+9 } } }
participants:
  ana: { kind: human, capabilities: ["*"] }
  reader: { kind: agent, capabilities: [] }
`

test(
  `${rounds} times kill -9 of the leader under load: everything acknowledged is in the stream once, in one chain`,
  withNats(async () => {
    const nats = await startNats({ nodes: 3 })
    onTestFinished(() => nats.stop())
    const folder = temporaryFolder({ 'space.yaml': config(nats.servers) })
    const gateway = await startMeup('gateway', folder)
    const [ana, reader] = await Promise.all(
      ['ana', 'reader'].map((id) => {
        const token = readFileSync(join(folder, '.meup/tokens', id), 'utf8').trim()
        return SpaceClient.open(dialWs, { url: gateway.url, space: 'demo', token })
      }),
    )
    if (ana === undefined || reader === undefined) throw new Error('nobody is there')
    onTestFinished(() => [ana, reader].forEach((space) => void space.close()))
    const seen: number[] = []
    reader.on('envelope', ({ seq }) => seq !== undefined && seen.push(seq))

    let sent = 0
    /** Sends the same envelope again and again, until it is in the log. */
    const deliver = async (): Promise<{ id: string; seq?: number }> => {
      const envelope = { id: `m${sent++}`, kind: 'chat', payload: { message: `${sent}` } }
      for (;;) {
        try {
          return await ana.send(envelope)
        } catch (error) {
          if (!(error instanceof ProtocolError) || error.code !== 'unavailable') throw error
          await pause(100)
        }
      }
    }
    const accepted: Promise<{ id: string; seq?: number }>[] = []
    const load = async (): Promise<void> => {
      const end = performance.now() + loadMs
      while (performance.now() < end) {
        for (let i = 0; i < burst; i++) accepted.push(deliver())
        await pause(gap)
      }
    }
    for (let round = 0; round < rounds; round++) {
      await ana.chat(`round ${round}`)
      const loaded = load()
      await pause(loadMs / 2)
      const leader = await nats.leaderOf('MEUP_2')
      await leader.end('SIGKILL')
      await loaded
      await Promise.all(accepted)
      await leader.start()
      await nats.leaderOf('MEUP_2')
    }
    const all = await Promise.all(accepted)
    const head = Math.max(...all.map(({ seq = 0 }) => seq))
    await expect.poll(() => seen.at(-1) ?? 0, { timeout: 60_000 }).toBeGreaterThanOrEqual(head)
    expect(seen).toEqual(seen.map((_, index) => (seen[0] ?? 0) + index))
    expect(await gateway.stop('SIGTERM')).toBe(0)

    const path = join(folder, 'another-replica.db')
    const ids = await verifiedIdsIn(
      await jetstreamStore({ servers: nats.servers, replicas: 3, path }),
      'demo',
    )
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, seq = 0 } of all) expect(ids[seq - 1]).toBe(id)
  }),
  60_000 + rounds * 60_000,
)
