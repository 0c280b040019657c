import { closeCodes } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { frame, kickMessage, RawSocket } from './raw-socket.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['chat'] }
const [more, text, ping] = [0, 1, 9]
/** The pong that answers a ping with the text `hello`. */
const answer = '\x8a\x05hello'
const chat = JSON.stringify({ id: 'whole', kind: 'chat', payload: { message: 'x'.repeat(3000) } })

async function enter(heartbeatMs = 20_000) {
  const { connect, url } = await start({ participants, heartbeatMs })
  const bob = await connect('bob')
  const alice = new RawSocket(url).upgrade()
  await alice.until(/system\.welcome/)
  return {
    alice,
    /** Waits until the gateway closes the connection; checks that another connection stays open. */
    async end() {
      const received = await alice.closed
      await bob.accepted({ kind: 'chat', payload: { message: 'still here' } })
      return kickMessage(received)
    },
  }
}

const repeated = (count: number, piece: Uint8Array): Buffer => Buffer.concat(Array(count).fill(piece))

describe('a message', () => {
  test('may come in pieces', async () => {
    const { alice } = await enter()
    const pieces = chat.match(/.{1,10}/g) ?? []
    alice.write(frame(text, '', false))
    for (const piece of pieces) alice.write(frame(more, piece, false))
    alice.write(frame(more, ''))
    await alice.until(/"id":"whole"/)
  })

  test.for([
    ['small', 'x'],
    ['empty', ''],
  ])('ends the connection where its pieces are %s and without end', async ([, piece = '']) => {
    const { alice, end } = await enter()
    alice.write(frame(text, '"', false)).write(repeated(2000, frame(more, piece, false)))
    expect(await end()).toMatchObject({ code: 1008 })
  })

  test('ends the connection where it is larger than a response may be', async () => {
    const { alice, end } = await enter()
    alice.write(frame(text, '"', false)).write(repeated(80, frame(more, 'x'.repeat(60_000), false)))
    expect(await end()).toMatchObject({ code: 1009 })
  })

  test('that comes a byte at a time, while no ping is answered, ends the connection', async () => {
    const { alice, end } = await enter(500)
    alice.write(Buffer.from([0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0]))
    // Sends slowly: if bytes were unread when the gateway closes the socket, the close frame would be lost.
    const trickle = setInterval(() => alice.write('x'), 200)
    onTestFinished(() => clearInterval(trickle))
    expect(await end()).toMatchObject({ code: closeCodes.heartbeatLost })
  })

  test('that is announced and never comes waits for nobody', async () => {
    const { alice, end } = await enter()
    alice.write(Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]))
    expect(await end()).toMatchObject({ code: 1009 })
  })
})

test('pings are answered', async () => {
  const { alice } = await enter()
  alice.write(repeated(50, frame(ping, 'hello')))
  await alice.until(new RegExp(`(${answer}){50}`))
  alice.write(frame(text, chat))
  await alice.until(/"id":"whole"/)
})

test('nothing is compressed, whatever is offered', async () => {
  const { url } = await start({ participants })
  const offer = ['sec-websocket-extensions: permessage-deflate; client_max_window_bits']
  const socket = new RawSocket(url)
  socket.ask('GET /spaces/test/ws', [
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    'sec-websocket-protocol: meup.v0.3',
    ...['sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'authorization: Bearer token-of-alice'],
    ...offer,
  ])
  expect(await socket.until(/\r\n\r\n/)).not.toMatch(/sec-websocket-extensions/i)
  const compressed = frame(text, chat)
  compressed[0] = 0xc1
  socket.write(compressed)
  expect(kickMessage(await socket.closed)).toMatchObject({ code: 1002 })
})
