import { describe, expect, test } from 'vitest'
import { bearer } from './http-client.js'
import { RawSocket } from './raw-socket.js'
import { start } from './support.js'

const participants = { alice: ['*'] }
const origins = ['https://good.example', 'http://good.example:8080', 'https://[2001:db8::1]:8443']

/** A request to the gateway as if it had this name, from a page of this origin; gives the status of its answer. */
async function ask(url: string, what: 'socket' | 'http' | 'events', host: string, origin: string) {
  const socket = new RawSocket(url)
  const upgrade = [
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: meup.v0.3',
  ]
  const path = { socket: 'ws', http: 'participants', events: 'events' }[what]
  const lines = [
    `GET /spaces/test/${path} HTTP/1.1`,
    `host: ${host}`,
    `origin: ${origin}`,
    `authorization: ${bearer('alice').authorization}`,
    ...(what === 'socket' ? upgrade : []),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await socket.until(/\r\n\r\n/)) ?? []
  socket.socket.destroy()
  return Number(status)
}

describe.for([
  ['socket', 101],
  ['http', 200],
  ['events', 200],
] as const)('%s', ([what, good]) => {
  test.for([
    ['gate.example', 'https://good.example'],
    ['gate.example', 'http://good.example:8080'],
    ['gate.example', 'https://[2001:db8::1]:8443'],
    ['gate.example', 'https://gate.example'],
    ['gate.example', 'http://gate.example'],
    ['gate.example', 'https://gate.example:443'],
    ['Gate.Example:9000', 'https://gate.example:9000'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['localhost:8080', 'http://localhost:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
  ])('at %s lets pages of %s in', async ([host = '', origin = '']) => {
    const { url } = await start({ participants, origins })
    expect(await ask(url, what, host, origin)).toBe(good)
  })

  test.for([
    ['gate.example', 'https://good.example.evil.example'],
    ['gate.example', 'https://evil.example'],
    ['gate.example', 'https://evil-good.example'],
    ['gate.example', 'https://sub.good.example'],
    ['gate.example', 'http://good.example'],
    ['gate.example', 'https://good.example:8443'],
    ['gate.example', 'https://good.example:8080'],
    ['gate.example', 'https://good.example/'],
    ['gate.example', 'https://good.example@evil.example'],
    ['gate.example', 'https://evil.example#https://good.example'],
    ['gate.example', 'https://evil.example, https://good.example'],
    ['gate.example', 'https://gate.example@evil.example'],
    ['gate.example', 'https://evil.example/gate.example'],
    ['gate.example', 'https://gate.example:8443'],
    ['gate.example', 'https://gate.example.'],
    ['gate.example', 'https://xn--gte-example.example'],
    ['gate.example', 'https://evil-gate.example'],
    ['gate.example:8080', 'http://gate.example'],
    ['gate.example', 'ftp://gate.example'],
    ['gate.example', 'chrome-extension://gate.example'],
    ['127.0.0.1:8080', 'http://localhost:8080'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081'],
    ['127.0.0.1:8080', 'http://127.0.0.1.evil.example:8080'],
    ['127.0.0.1:8080', 'http://[::1]:8080'],
    ['[::1]:8080', 'http://[::2]:8080'],
    ['gate.example', 'null'],
    ['', 'null'],
    ['gate.example', ''],
    ['', 'file://'],
    ['gate.example', 'file://'],
    ['', 'about:blank'],
    ['gate.example', 'data:text/html,x'],
    ['gate.example', 'blob:https://good.example/7'],
    ['gate.example', 'sandbox'],
    ['gate.example', '*'],
  ])('at %j keeps pages of %j out', async ([host = '', origin = '']) => {
    const { url } = await start({ participants, origins })
    // Without a host a request is none, whoever sends it.
    const status = host === '' && what !== 'socket' ? 400 : 403
    expect(await ask(url, what, host, origin)).toBe(status)
  })
})

test('a program that is no page needs no origin', async () => {
  const { connect, url } = await start({ participants })
  await connect('alice')
  expect((await fetch(`${url}/spaces/test/participants`, { headers: bearer('alice') })).status).toBe(200)
})
