import { type ConnectionGrant, memoryStore } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { closeCodes } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { slowPeer } from './slow-peer.js'

async function logged(rows: number) {
  const store = memoryStore()
  const log = await store.open('test')
  const batch = Array.from({ length: rows }, (_, i) => {
    const fields = { id: `e${i + 1}`, ts: '2026-01-02T03:04:05.678Z', from: 'ana', kind: 'chat' }
    const body = Buffer.from(JSON.stringify({ protocol: 'meup/v0.3', ...fields, payload: { message: 'x' } }))
    return { seq: i + 1, ...fields, body, content: body }
  })
  await log.append(batch)
  const gateway = await createTestGateway({ participants: { ana: ['*'] }, store })
  onTestFinished(() => gateway.close())
  return { log, gateway }
}

test('a reader whose next page is pruned before it takes it is closed, to be told what it lost', async () => {
  const { log, gateway } = await logged(600)
  const { connection, seqs, closed, takeAll } = slowPeer()
  const grant = (await gateway.admit({
    space: 'test',
    token: testToken('ana'),
    remote: 'test',
  })) as ConnectionGrant
  await grant.open(connection, { after: 0 })
  await expect.poll(() => seqs.length, { timeout: 10_000 }).toBe(64)
  await log.prune(400, Buffer.from('state'))
  takeAll()
  expect(await closed).toMatchObject({ code: closeCodes.tooSlow, reason: expect.stringContaining('pruned') })
  expect(seqs.at(-1)).toBe(256)
})

test('others have their turn again and again while one is served that takes all at once', async () => {
  const { gateway } = await logged(640)
  const { connection, seqs, takeAll } = slowPeer()
  takeAll()
  const grant = (await gateway.admit({
    space: 'test',
    token: testToken('ana'),
    remote: 'test',
  })) as ConnectionGrant
  await grant.open(connection, { after: 0 })
  let turns = 0
  while (seqs.length < 640) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  expect(turns).toBeGreaterThanOrEqual(9)
})
