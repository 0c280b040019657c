import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { type Accepted, crowdConfig, enterAs, expectInLog, expectNoGap } from '../support/crowd.js'

const strangers = 5000
const together = 500
/** Address of the unauthenticated clients. The limit of pending connections is per address, so they use up only their own. */
const theirs = '127.0.0.2'
/** Maximum bytes of memory for the unauthenticated connections: 10 KB each. */
const maxBytes = strangers * 10_240

/** Beginnings of handshakes without a token. */
const openings = [
  '',
  'GET /spaces/demo HTTP/1.1\r\n',
  'GET /spaces/demo/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: meup.v0.3\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  'POST /spaces/demo/envelopes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{',
  `GET / HTTP/1.1\r\nX-Filler: ${'x'.repeat(4096)}`,
]

/** Resident memory of a process in bytes. */
const heldBy = (pid: number | undefined): number =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

test(`${strangers} connections without a token: who has one is served all along, memory is bounded, and nothing acknowledged is lost`, {
  timeout: 180_000,
}, async () => {
  const folder = temporaryFolder({ 'space.yaml': crowdConfig() })
  const gateway = await startMeup('gateway', folder)
  const port = Number(new URL(gateway.url).port)
  const ana = await enterAs(folder, 'ana', gateway.url)
  const ben = await enterAs(folder, 'ben', gateway.url)
  const accepted: Accepted[] = [await ana.space.chat('before')]
  await Promise.all(Array.from({ length: 200 }, () => ana.space.chat('warm'))).then((said) =>
    accepted.push(...said),
  )
  const before = heldBy(gateway.process.pid)

  const sockets = new Set<Socket>()
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  let [arrived, maximum] = [0, 0]
  for (let count = 0; count < strangers; count += together) {
    const opened = Array.from({ length: together }, (_, number) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: theirs })
      sockets.add(socket)
      return new Promise<void>((resolve) => {
        socket.on('connect', () => {
          arrived++
          socket.write(openings[number % openings.length] ?? '')
          resolve()
        })
        // The gateway may close the connection at once, or while the client writes, so an error is expected.
        socket.on('error', () => resolve())
        socket.on('close', () => sockets.delete(socket))
        socket.resume()
      })
    })
    const said = Array.from({ length: 20 }, (_, number) => ana.space.chat(`between strangers ${number}`))
    accepted.push(...(await Promise.all(said)))
    const latecomer = await enterAs(folder, 'reader', gateway.url)
    await latecomer.space.close()
    await Promise.all(opened)
    maximum = Math.max(maximum, heldBy(gateway.process.pid))
  }
  expect(arrived).toBe(strangers)
  expect(maximum - before).toBeLessThan(maxBytes + 64 * 1024 * 1024)
  // Connections without a token are closed, whatever they sent; those with a token stay open.
  await expect.poll(() => sockets.size, { timeout: 60_000 }).toBeLessThanOrEqual(32)
  accepted.push(await ana.space.chat('after'))
  const last = accepted.at(-1)?.seq ?? 0
  for (const { seen } of [ana, ben]) {
    await expect.poll(() => seen.at(-1) ?? 0, { timeout: 30_000 }).toBeGreaterThanOrEqual(last)
    expectNoGap(seen)
  }
  expect(await gateway.stop('SIGTERM')).toBe(0)
  await expectInLog(folder, accepted)
})
