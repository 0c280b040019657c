import type { Connection } from '@meup/gateway'
import { createTestGateway, FakeClock, testToken } from '@meup/gateway/testing'
import { closeCodes } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { byId, said } from './client.js'
import { start } from './support.js'
import { chat, grant } from './trust.js'

const sendBufferBytes = 4096

/** A connection whose sent bytes stay unread until `read` is called. */
class Deaf implements Connection {
  readonly remote = 'here'
  readonly isGone = false
  pending = 0
  closedWith: number | undefined

  send(outboundBatch: Parameters<Connection['send']>[0]): void {
    for (const { text } of outboundBatch.messages) this.pending += text.length
  }

  read(bytes = this.pending): void {
    this.pending -= bytes
  }

  drained(): Promise<void> {
    return Promise.resolve()
  }

  close(code: number): void {
    this.closedWith = code
  }
}

/** A space whose participants make its welcome larger than the send buffer. */
async function crowded() {
  const crowd = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, ['x'.repeat(100)]]))
  const gateway = await createTestGateway({
    participants: { alice: ['*'], bob: ['*'], ...crowd },
    limits: { sendBufferBytes },
  })
  onTestFinished(() => gateway.close())
  const enter = async (participant: string) => {
    const grant = await gateway.admit({ space: 'test', token: testToken(participant), remote: 'here' })
    if ('message' in grant) throw new Error(grant.message)
    const peer = new Deaf()
    const line = await grant.open(peer, {})
    const send = (envelope: object) => line.receive(Buffer.from(JSON.stringify(envelope)))
    return { peer, send }
  }
  const visitor = await gateway.identify({ space: 'test', token: testToken('bob'), remote: 'here' })
  if ('message' in visitor) throw new Error(visitor.message)
  const { space } = visitor
  const bob = await enter('bob')
  /** Sends a chat of about this number of bytes, and waits until it is delivered. */
  const say = async (bytes: number) => {
    bob.peer.read()
    bob.send({ kind: 'chat', payload: { message: 'x'.repeat(bytes) } })
    await space.settled()
  }
  return { enter, say }
}

test('a welcome larger than the send buffer closes nobody who takes it', async () => {
  const { enter, say } = await crowded()
  const { peer } = await enter('alice')
  expect(peer.pending).toBeGreaterThan(2 * sendBufferBytes)
  await say(100)
  await say(100)
  expect(peer.closedWith).toBeUndefined()
  peer.read()
  await say(100)
  expect(peer.closedWith).toBeUndefined()
})

test('what waits beside a welcome is bounded, and once it was taken that is over', async () => {
  const { enter, say } = await crowded()
  const [never, late] = [await enter('alice'), await enter('alice')]
  late.peer.read()
  for (const { peer } of [never, late]) {
    await say(sendBufferBytes)
    await say(10)
    await say(10)
    expect(peer.closedWith).toBe(closeCodes.tooSlow)
  }
})

test('whoever asks for welcomes and takes none is closed', async () => {
  const { enter, say } = await crowded()
  const { peer, send } = await enter('alice')
  for (let n = 0; n < 10 && peer.closedWith === undefined; n++) {
    send({ kind: 'observe.subscribe', payload: {} })
    await say(10)
  }
  expect(peer.closedWith).toBe(closeCodes.tooSlow)
  expect(peer.pending).toBeLessThan(80_000)
})

test('whoever changes the rights of others pays for their welcomes', async () => {
  const crowd = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`p${n}`, ['x'.repeat(100)]]))
  const clock = new FakeClock()
  const { connect, gateway } = await start({
    participants: { root: ['*'], ann: [], bob: ['chat'], ...crowd },
    clock,
    limits: { rates: { bytes: { perSecond: 1000, burst: 10_000 } } },
  })
  const [root, bob] = [await connect('root'), await connect('bob')]
  for (let n = 0; n < 4; n++) await connect('ann')
  await root.accepted(grant('ann', ['x.y']))
  root.send({ id: 'held', ...chat() })
  for (let n = 0; n < 3; n++) await bob.accepted(chat())
  root.send({ id: 'later', ...chat() })
  for (let n = 0; n < 3; n++) await bob.accepted(chat())
  expect(said(bob.frames)).not.toContain('later')
  expect(gateway.report()[0]?.metrics.heldReads).toBeGreaterThan(0)
  clock.advance(60_000)
  await bob.next(byId('later'))
})
