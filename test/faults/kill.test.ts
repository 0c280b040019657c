import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Dial, dialWs, SpaceClient, type Transport } from '@meup/agent-sdk/internal'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIds } from '../support/chain.js'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { times } from '../support/soak.js'

/** Number of times that the gateway is killed. */
const rounds = times(2, 50)
const readers = 20
/** Envelopes in a burst, milliseconds between bursts (1,000 envelopes per second), and milliseconds of load in each round. */
const [burst, gap, roundMs] = [10, 10, 1000]

const plenty = '{ perSecond: 100000, burst: 100000 }'
const config = (port: number) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:${port}" }
limits:
  connectionsPerParticipant: 100
  rates: { chat: ${plenty}, control: ${plenty}, bytes: { perSecond: 1.0e+9, burst: 1.0e+9 } }
participants:
  ana: { kind: human, capabilities: ["*"] }
  reader: { kind: agent, capabilities: [] }
`

/** A reader whose connection breaks now and again; it must not miss or repeat an envelope. */
async function unsteadyReader(url: string, token: string) {
  let line: Transport | undefined
  const dial: Dial = async (request, events) => {
    line = await dialWs(request, events)
    return line
  }
  const space = await SpaceClient.open(dial, { url, space: 'demo', token })
  const seen: number[] = []
  space.on('envelope', ({ seq }) => seq !== undefined && seen.push(seq))
  return { space, seen, drop: () => line?.close(4000, 'dropped by the test') }
}

test(
  `${rounds} times kill -9 under load: what was acknowledged is in the log once, and every reader sees it once`,
  async () => {
    const port = 20_000 + (process.pid % 20_000)
    const folder = temporaryFolder({ 'space.yaml': config(port) })
    let gateway = await startMeup('gateway', folder)
    const token = (id: string) => readFileSync(join(folder, '.meup/tokens', id), 'utf8').trim()
    const ana = await SpaceClient.open(dialWs, { url: gateway.url, space: 'demo', token: token('ana') })
    const audience = await Promise.all(
      Array.from({ length: readers }, () => unsteadyReader(gateway.url, token('reader'))),
    )
    onTestFinished(() => [ana, ...audience.map(({ space }) => space)].forEach((space) => void space.close()))

    const acknowledged: Promise<{ id: string; seq?: number }>[] = []
    for (let round = 0; round < rounds; round++) {
      await ana.chat(`round ${round}`) // Waits until the restarted gateway accepts envelopes.
      const end = performance.now() + roundMs
      while (performance.now() < end) {
        for (let i = 0; i < burst; i++) {
          acknowledged.push(ana.send({ kind: 'chat', payload: { message: `${acknowledged.length}` } }))
        }
        audience[Math.floor(Math.random() * readers * 20)]?.drop()
        await pause(gap)
      }
      await gateway.stop('SIGKILL')
      gateway = await startMeup('gateway', folder)
    }
    const accepted = await Promise.all(acknowledged)
    const head = Math.max(...accepted.map(({ seq = 0 }) => seq))
    for (const { seen } of audience) {
      await expect.poll(() => seen.at(-1) ?? 0, { timeout: 60_000 }).toBeGreaterThanOrEqual(head)
      expect(seen).toEqual(seen.map((_, index) => (seen[0] ?? 0) + index))
    }
    expect(await gateway.stop('SIGTERM')).toBe(0)

    const ids = await verifiedIds(join(folder, '.meup/space.db'), 'demo')
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, seq = 0 } of accepted) expect(ids[seq - 1]).toBe(id)
  },
  rounds * 40_000,
)
