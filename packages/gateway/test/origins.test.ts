import { describe, expect, test } from 'vitest'
import { createHostCheck } from '../src/transport/host-names.js'
import { bearer } from './http-client.js'
import { RawSocket } from './raw-socket.js'
import { start } from './support.js'

const participants = { alice: ['*'] }
const hosts = ['gate.example', 'other.example']
const origins = ['https://good.example', 'http://good.example:8080', 'https://[2001:db8::1]:8443']

/** Sends a request with this `Host` and this `Origin`; returns the status of the response. */
async function ask(url: string, what: 'socket' | 'http' | 'events' | 'page', host: string, origin?: string) {
  const socket = new RawSocket(url)
  const upgrade = [
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: meup.v0.3',
  ]
  const paths = { socket: 'ws', http: 'participants', events: 'events' }
  const path = what === 'page' ? '/openapi.json' : `/spaces/test/${paths[what]}`
  const lines = [
    `GET ${path} HTTP/1.1`,
    `host: ${host}`,
    ...(origin === undefined ? [] : [`origin: ${origin}`]),
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
    const { url } = await start({ participants, origins, hosts })
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
    const { url } = await start({ participants, origins, hosts })
    // HTTP requires a `Host` header, whatever the client is.
    const status = host === '' && what !== 'socket' ? 400 : 403
    expect(await ask(url, what, host, origin)).toBe(status)
  })
})

test('a program that is no page needs no origin', async () => {
  const { connect, url } = await start({ participants, hosts })
  await connect('alice')
  expect((await fetch(`${url}/spaces/test/participants`, { headers: bearer('alice') })).status).toBe(200)
})

describe.for([
  ['socket', 101],
  ['http', 200],
  ['events', 200],
  ['page', 200],
] as const)('a request for a name: %s', ([what, good]) => {
  test.for([
    'localhost:8080',
    'LOCALHOST',
    'box.localhost:1',
    '127.0.0.1',
    '[::1]:80',
    '192.0.2.7:9',
    'good.example',
    'gate.example.:80',
  ])('%s is taken', async (host) => {
    const { url } = await start({ participants, origins, hosts })
    expect(await ask(url, what, host)).toBe(good)
  })

  test.for([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'sub.gate.example',
  ])('%s, which points to this machine, is refused, with its page or without', async (host) => {
    const { url } = await start({ participants, origins, hosts })
    expect(await ask(url, what, host, `http://${host}`)).toBe(403)
    expect(await ask(url, what, host)).toBe(403)
  })

  test.for(['gate.example@evil.example', '[::1].evil.example'])(
    '%s, which is no name, is refused',
    async (host) => {
      const { url } = await start({ participants, origins, hosts })
      expect([400, 403]).toContain(await ask(url, what, host))
    },
  )

  test('any is taken behind a proxy, until some are listed', async () => {
    const behind = await start({ participants, trustProxy: true })
    expect(await ask(behind.url, what, 'meup.example')).toBe(good)
    const listed = await start({ participants, trustProxy: true, hosts: ['meup.example'] })
    expect(await ask(listed.url, what, 'meup.example')).toBe(good)
    expect(await ask(listed.url, what, 'evil.example')).toBe(403)
  })
})

test.for([
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.0.2.7', false],
] as const)('a gateway that listens on %s looks at names: %s', ([host, isChecked]) => {
  const check = createHostCheck({ host, hosts: [], origins: [], trustProxy: false })
  expect(check?.('evil.example') !== undefined).toBe(isChecked)
})

test('health checks are answered whatever they ask for', async () => {
  const { url } = await start({ participants })
  const socket = new RawSocket(url)
  socket.write('GET /healthz HTTP/1.1\r\nhost: probe.example\r\n\r\n')
  expect(await socket.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 200/)
})
