import { expect, onTestFinished, test } from 'vitest'
import { retry, seat, startSharing, tokenOf, wireOf } from '../support/cluster.js'
import { natsServer, startNats } from '../support/nats.js'
import { canPartition, makeNetwork } from '../support/partition.js'
import { needing } from '../verifies.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
const withNetworks = needing('nats-server, and the right to make networks (ip netns)', () =>
  natsServer() !== undefined && canPartition() ? true : undefined,
)

async function idsIn(url: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${tokenOf('reader')}` }
  const response = await fetch(`${url}/spaces/demo/envelopes?kind=chat&limit=1000`, { headers })
  const { envelopes } = (await response.json()) as { envelopes: { id: string }[] }
  return envelopes.map(({ id }) => id)
}

const chat = (id: string) => ({ id, kind: 'chat', payload: { message: id } })

test(
  'NATS away: nothing is acknowledged, everything is read, and it goes on by itself',
  withNats(async () => {
    const nats = await startNats()
    onTestFinished(() => nats.stop())
    const gateway = await startSharing(nats.servers, 1)
    const ana = await seat(gateway.url, 'ana')
    await ana.send(chat('before'))
    const [server] = nats.nodes
    await server?.end('SIGKILL')
    await expect(ana.send(chat('refused'))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(ana.send(chat('again'))).rejects.toMatchObject({ code: 'unavailable' })
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
    expect(await idsIn(gateway.url)).toEqual(['before'])
    await server?.start()
    await retry(ana, chat('refused'))
    await ana.send(chat('after'))
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
    expect((await idsIn(gateway.url)).filter((id) => id !== 'again')).toEqual(['before', 'refused', 'after'])
    expect(await gateway.stop('SIGTERM')).toBe(0)
  }),
  180_000,
)

test(
  'a partition cuts the gateway that sequences from NATS: the other goes on, and both agree afterwards',
  withNetworks(async () => {
    const { through, servers, clients } = makeNetwork()
    const nats = await startNats({ host: servers.host })
    onTestFinished(() => nats.stop())
    const cut = await startSharing(nats.servers, 1, { host: clients.inside, through })
    const other = await startSharing(nats.servers, 1)
    const [ana, bob] = await Promise.all([seat(cut.url, 'ana'), seat(other.url, 'bob')])
    await ana.send(chat('a1'))
    await bob.send(chat('b1'))
    servers.set('down')
    await expect(ana.send(chat('a2'))).rejects.toMatchObject({ code: 'unavailable' })
    await retry(bob, chat('b2'))
    expect(await idsIn(cut.url)).toEqual(['a1', 'b1'])
    servers.set('up')
    await retry(ana, chat('a3'))
    const { seq: head = 0 } = await retry(bob, chat('b3'))
    const wires = await Promise.all([wireOf(cut.url, 'reader'), wireOf(other.url, 'reader')])
    for (const { frames } of wires) {
      await expect.poll(() => frames.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(head)
    }
    const [first, second] = wires.map(({ frames }) => frames.slice(0, head))
    expect(first).toEqual(second)
    const ids = await idsIn(other.url)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ['a1', 'b1', 'b2', 'a3', 'b3']) expect(ids).toContain(id)
  }),
  240_000,
)
