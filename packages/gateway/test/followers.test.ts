import { type EnvelopeLog, memoryStore } from '@meup/gateway'
import { createDraft, FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { GATEWAY, Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { configurationRecord } from '../src/host/space-host.js'
import type { Note } from '../src/ports/envelope-log.js'
import { start } from './support.js'

const participants = { alice: ['*'] }

/** A log that another gateway sequences, and what that is asked. */
async function followed(answer: (note: Note) => Record<string, unknown>) {
  const inner = memoryStore()
  const log = await inner.open('test')
  const payload = { event: 'configured', ...configurationRecord(testSpaceConfig({ participants })) }
  const ts = '2026-01-01T00:00:00.000Z'
  await log.append([createDraft(1, { id: 'configured', ts, from: GATEWAY, kind: Kind.systemSpace, payload })])
  const asked: Note[] = []
  const shared = {
    leads: false,
    self: 'here',
    listen() {},
    prune: async () => {},
    notify() {},
    async ask(note: Note) {
      asked.push(note)
      return answer(note)
    },
  }
  const open = async () => Object.assign(Object.create(log) as EnvelopeLog, { shared })
  return { store: { ...inner, open }, asked }
}

test('what a sender owes the gateway that sequences, it owes where its socket is', async () => {
  const clock = new FakeClock()
  const { store, asked } = await followed(() => ({ outcome: { id: 'x', seq: 1 }, owesMs: 5000 }))
  const { connect } = await start({ participants, clock, store })
  const alice = await connect('alice')
  const ask = async (count: number): Promise<void> => {
    alice.send({ kind: 'chat', payload: { message: 'hm' } })
    await expect.poll(() => asked).toHaveLength(count)
  }
  await ask(1)
  await ask(2)
  alice.send({ kind: 'chat', payload: { message: 'held' } })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(asked).toHaveLength(2)
  clock.advance(5000)
  await expect.poll(() => asked).toHaveLength(3)
})
