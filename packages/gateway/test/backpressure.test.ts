import { memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test, vi } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { byId, type Client, errorFor, range, said, seqs } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['chat'], bob: ['chat'], carol: ['chat'] }
const [kilobytes, mebibyte] = [64, 1024 * 1024]
const message = 'x'.repeat(kilobytes * 1024)
/** Upper bound of admitted bytes that wait: the limit, one frame in transit, and the last read of a socket. */
const maxWaitingBytes = 2 * mebibyte + 4 * kilobytes * 1024

const idOf = (from: number) => (number: number) => `m${from + number}`

/** Sends enough messages to fill every buffer between client and log, so that the last messages stay in that of the client. */
function flood(client: Client, count: number, first = 0): string[] {
  const ids = range(0, count - 1).map(idOf(first))
  for (const id of ids) client.send({ id, kind: 'chat', payload: { message } })
  return ids
}

const held = (client: Client): Promise<void> =>
  vi.waitFor(() => expect(client.ws.bufferedAmount).toBeGreaterThan(0), { timeout: 10_000 })

describe('while the log stands still', () => {
  const begin = async (clock?: FakeClock) => {
    const { store, stall } = faultyDisk(
      clock ? memoryStore() : await sqliteStore({ path: temporaryFile('log.sqlite') }),
    )
    // All waiting envelopes are delivered at once: a busy machine may not read them before a smaller buffer is full.
    const limits = { sendBufferBytes: 64 * mebibyte }
    const running = await start({ participants, store, limits, ...(clock && { clock }) })
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    await bob.accepted({ kind: 'chat', payload: { message: 'first' } })
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${running.url}/metrics`)).text()
      return Number(new RegExp(`^${name}\\{space="test"\\} (\\S+)`, 'm').exec(text)?.[1])
    }
    return { ...running, stall, alice, bob, metric }
  }

  test('whoever sends is read no further, with nothing lost and nothing twice', async () => {
    const { stall, alice, bob, metric, connect } = await begin()
    const { appending, goOn } = stall()
    const ids = flood(alice, 400)
    await appending
    await vi.waitFor(async () => expect(await metric('meup_held_reads_total')).toBe(1), { timeout: 10_000 })
    await held(alice)
    const waiting = await metric('meup_waiting_bytes')
    expect(waiting).toBeGreaterThan(mebibyte)
    expect(waiting).toBeLessThan(maxWaitingBytes)
    expect(await metric('meup_space_ready')).toBe(1)

    // Only the sender is paused: readers get everything that is logged, and new participants can join.
    const carol = await connect('carol')
    expect(carol.welcome.space.head).toBe(bob.frames.at(-1)?.seq)
    goOn()
    const last = byId(ids.at(-1))
    for (const client of [alice, bob]) {
      const frames = await client.until(last)
      expect(said(frames).filter((id) => id.startsWith('m'))).toEqual(ids)
      const places = seqs(frames)
      expect(places).toEqual(range(places[0] ?? 0, places.at(-1) ?? 0))
    }
    expect(await metric('meup_waiting_bytes')).toBe(0)
  })

  test('what comes after some time is refused, until it goes on', async () => {
    const clock = new FakeClock()
    const { stall, alice, bob, metric, url } = await begin(clock)
    const { appending, goOn } = stall()
    const ids = flood(alice, 400)
    await appending
    await held(alice)
    clock.advance(5000)
    const refusal = await alice.next(errorFor(ids.at(-1)))
    expect(refusal.payload).toMatchObject({
      code: 'unavailable',
      message: fillIn(texts.stopped, { reason: 'the log has fallen behind' }),
    })
    const readiness = await fetch(`${url}/readyz`)
    expect([readiness.status, await readiness.json()]).toMatchObject([
      503,
      { spaces: { test: 'the log has fallen behind' } },
    ])
    expect(await metric('meup_space_ready')).toBe(0)

    goOn()
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 10_000 })
    await bob.accepted({ id: 'after', kind: 'chat', payload: { message: 'after' } })
    const frames = await alice.until(byId('after'))
    const refused = alice.frames.flatMap(({ kind, correlationId }) =>
      kind === 'system.error' ? [correlationId] : [],
    )
    const accepted = said(frames).filter((id) => id.startsWith('m'))
    expect([...accepted, ...refused]).toEqual(ids)
    expect(refused.length).toBeGreaterThan(0)
  })
})
