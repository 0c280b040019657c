import { request } from 'node:http'
import { connect as tcp } from 'node:net'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { serve } from '@meup/gateway'
import { createTestGateway, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { defaultRates } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'

const participants = { ana: ['*'], bob: ['*'], eve: ['*'] }

const { rates: plenty } = testSpaceConfig({ participants }).limits
const rates = { ...plenty, frames: defaultRates.frames }

async function start() {
  const gateway = await createTestGateway({ participants, limits: { rates } })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0, heartbeatMs: 200 })
  onTestFinished(() => served.close())
  const enter = async (id: string): Promise<SpaceClient> => {
    const space = await SpaceClient.open(dialWs, { url: served.url, space: 'test', token: testToken(id) })
    onTestFinished(() => space.close())
    return space
  }
  return { url: new URL(served.url), enter, bob: await enter('bob') }
}

/** Opens a TCP socket and writes the handshake by hand, to send bytes that a WebSocket library would not. */
function rawSocket(url: URL, headers: readonly string[] = []) {
  const socket = tcp({ host: url.hostname, port: Number(url.port) })
  onTestFinished(() => void socket.destroy())
  const lines = [
    'GET /spaces/test/ws HTTP/1.1',
    `Host: ${url.host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: meup.v0.3',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${testToken('eve')}`,
    ...headers,
  ]
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => {}))
  const answer = new Promise<string>((resolve) =>
    socket.once('data', (data) => resolve(data.toString('latin1'))),
  )
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return { socket, answer, closed }
}

/** Checks that other participants can still use the space. */
const unharmed = async (bob: SpaceClient): Promise<void> =>
  expect((await bob.chat('still here')).seq).toBeGreaterThan(0)

test('10,000 pings at once hold back their own connection, and harm nobody', async () => {
  const { url, bob } = await start()
  const { socket, answer } = rawSocket(url)
  expect(await answer).toMatch(/^HTTP\/1\.1 101/)
  let pongs = 0
  socket.on('data', (data) => {
    pongs += data.length / 2
  })
  const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0])
  socket.write(Buffer.concat(Array.from({ length: 10_000 }, () => ping)))
  await expect.poll(() => pongs).toBeGreaterThan(defaultRates.frames.burst)
  await unharmed(bob)
  expect(pongs).toBeLessThan(10_000)
})

test('an offer to compress is declined', async () => {
  const { url } = await start()
  const offer = 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'
  const { answer } = rawSocket(url, [offer])
  expect(await answer).not.toMatch(/permessage-deflate/i)
})

test('3,000 headers are refused', async () => {
  const { url, bob } = await start()
  const { answer } = rawSocket(
    url,
    Array.from({ length: 3000 }, (_, i) => `X-${i}: ${'x'.repeat(10)}`),
  )
  expect(await answer).toMatch(/^HTTP\/1\.1 4\d\d/)
  await unharmed(bob)
})

test('a half-open socket is noticed: its participant leaves', async () => {
  const { url, bob } = await start()
  const { socket, answer, closed } = rawSocket(url)
  await answer
  await bob.whenPresent(['eve'])
  socket.pause() // Stops reading without closing the connection.
  const status = () => bob.participants.find(({ id }) => id === 'eve')?.status
  await expect.poll(status, { timeout: 10_000 }).toBe('away')
  socket.resume()
  await closed
})

test('10,000 contexts, and envelopes to 64 addressees', async () => {
  const { enter, bob } = await start()
  const ana = await enter('ana')
  const begin = () => ana.send({ kind: 'reasoning.start' })
  for (let opened = 0; opened < 10_000; opened += 250) {
    const starts = await Promise.all(Array.from({ length: 250 }, begin))
    await Promise.all(starts.map(({ id }) => ana.send({ kind: 'reasoning.conclusion', context: id })))
  }
  const more = await Promise.allSettled(Array.from({ length: 300 }, begin))
  expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(256)
  const to = Array.from({ length: 64 }, () => 'ana')
  expect((await bob.chat('to many', { to })).to).toHaveLength(64)
  await expect(bob.chat('to more', { to: [...to, 'ana'] })).rejects.toMatchObject({
    code: 'invalid_envelope',
  })
})

test('a body without an end is refused before it is taken in', async () => {
  const { url, bob } = await start()
  const post = request(new URL('/spaces/test/envelopes', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${testToken('eve')}`, 'transfer-encoding': 'chunked' },
  })
  const status = new Promise<number | undefined>((resolve) => {
    post.on('response', ({ statusCode }) => resolve(statusCode)).on('error', () => resolve(undefined))
  })
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  for (let i = 0; i < 20; i++) post.write(chunk)
  expect([413, undefined]).toContain(await status)
  post.destroy()
  await unharmed(bob)
})
