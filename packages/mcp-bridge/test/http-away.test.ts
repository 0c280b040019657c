import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServerOptions } from '@meup/mcp-bridge'
import { startMcpServer } from '@meup/mcp-bridge'
import { describe, expect, onTestFinished, test } from 'vitest'
import { relayError } from '../src/errors.js'
import { serveHttp } from './support/http-server.js'
import { relayTo, untilNotified } from './support/relay-to.js'
import { call } from './support/servers.js'

const name = 'remote'
const notTaken = (reason: string) => ({ ...relayError('not_taken', { name, reason }), id: 7 })
const endedMeanwhile = (reason: string) => ({ ...relayError('ended_meanwhile', { name, reason }), id: 7 })
const failed = (text: RegExp) => ({
  jsonrpc: '2.0',
  id: 7,
  error: { code: -32000, message: expect.stringMatching(text) },
})
const brokenOff = { ...relayError('broken_off', { name }), id: 7 }

const typed = (type: string) => ({ headers: { 'content-type': type } })

describe('a server that goes away', () => {
  test.for(['sessions', 'stateless', 'modern'] as const)(
    'answers what is pending, and all that is asked later: %s',
    async (manner) => {
      const server = await serveHttp(manner)
      const { relay } = await relayTo(server)
      const begun = once(server.happenings, 'begun')
      const pending = relay.request(call('wait'))
      await begun
      await server.stop()
      const first = await pending
      const second = await relay.request(call('add', { a: 1, b: 1 }))
      const { reason } = await relay.closed
      expect(reason).toMatch(/^could not be reached: ./)
      const ended = { ...relayError('ended', { name, reason }), id: 7 }
      expect([brokenOff, endedMeanwhile(reason)]).toContainEqual(first)
      expect([notTaken(reason), endedMeanwhile(reason), ended]).toContainEqual(second)
      expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(ended)
      const notified = relay.notify({ method: 'notifications/roots/list_changed' })
      await expect(notified).rejects.toMatchObject({ code: 'ended', details: { name, reason } })
    },
  )

  test.for(['sessions', 'modern'] as const)('is missed even when nobody asks: %s', async (manner) => {
    const server = await serveHttp(manner)
    const { relay, notifications } = await relayTo(server)
    await untilNotified(server, notifications) // The outage is detected on the stream for notifications.
    await server.stop()
    expect((await relay.closed).reason).toContain('could not be reached')
  })

  test.for([502, 503])('behind a proxy that says so: %i', async (status) => {
    const server = await serveHttp('stateless')
    const { relay } = await relayTo(server)
    server.interposeOn(() => new Response('<html>no</html>', { status }))
    const answer = await relay.request(call('add', { a: 1, b: 1 }))
    const reason = `answered HTTP ${status}`
    expect([endedMeanwhile(reason), notTaken(reason)]).toContainEqual(answer)
    expect(await relay.closed).toEqual({ reason })
  })
})

describe('a server that refuses one call', () => {
  const refusals = [
    ['HTTP 429', 'slow down', { status: 429 }, notTaken('answered HTTP 429: slow down')],
    ['HTTP 504', '<html>late</html>', { status: 504 }, notTaken('answered HTTP 504')],
    [
      'a JSON-RPC error to nobody',
      '{"error":{"message":"why"}}',
      { status: 400 },
      notTaken('answered HTTP 400: why'),
    ],
    ['HTTP 401', '', { status: 401 }, failed(/HTTP 401/)],
    ['HTTP 403', 'never', { status: 403 }, failed(/HTTP 403/)],
    ['text', 'hello', typed('text/plain'), failed(/neither JSON/)],
    ['other JSON', '{"hello":"you"}', typed('application/json'), failed(/not JSON-RPC/)],
    ['half an answer', '{"half":', typed('application/json'), failed(/not JSON-RPC/)],
    ['far too much', `"${'x'.repeat(11 * 1024 * 1024)}"`, typed('application/json'), failed(/\d+ bytes/)],
    ['a far too long stream', `data: ${'x'.repeat(11 * 1024 * 1024)}`, typed('text/event-stream'), brokenOff],
    ['an empty stream', ': nothing\n\n', typed('text/event-stream'), brokenOff],
  ] as const

  test.for(refusals)('%s', async ([, body, init, expected]) => {
    const server = await serveHttp('stateless')
    const { relay } = await relayTo(server)
    server.interposeOn(() => new Response(body, init))
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(expected)
    server.interposeOn(() => undefined)
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })

  test('and quotes what it was sent does not get it into any log', async () => {
    const server = await serveHttp('stateless')
    const { relay, lines } = await relayTo(server, { headers: { authorization: 'Bearer very-secret-token' } })
    server.interposeOn(
      ({ headers }) => new Response(`not for ${headers.get('authorization')}`, { status: 500 }),
    )
    const answer = await relay.request(call('add', { a: 1, b: 1 }))
    expect(answer).toEqual(notTaken('answered HTTP 500: not for Bearer [redacted]'))
    expect(lines.join()).toContain('[redacted]')
    expect(lines.join()).not.toContain('very-secret-token')
  })
})

describe('a server that cannot be connected to', () => {
  const getStartError = async (options: Partial<McpServerOptions> & { url: string }): Promise<unknown> => {
    const connecting = startMcpServer({ name, ...options })
    return connecting.then(
      async (relay) => {
        await relay.close()
        return expect.unreachable('it was connected to')
      },
      (error: unknown) => error,
    )
  }
  const unavailable = (url: unknown, reason: unknown) => ({
    code: 'unavailable',
    details: { name, url, reason },
  })
  const answering = async (response: () => Response) => {
    const server = await serveHttp('stateless')
    server.interposeOn(response)
    return server
  }
  const refusals = [
    ['HTTP 401', () => new Response('', { status: 401 })],
    ['HTTP 403', () => new Response('', { status: 403 })],
    ['HTTP 404', () => new Response('', { status: 404 })],
    ['HTTP 405', () => new Response('', { status: 405 })],
    ['HTTP 500: boom', () => new Response('boom', { status: 500 })],
    ['neither JSON nor an event stream', () => new Response('<html>')],
    ['not JSON-RPC', () => Response.json({ hello: 'you' })],
  ] as const

  test.for(refusals)('because of its answer: %s', async ([reason, response]) => {
    const { url } = await answering(response)
    expect(await getStartError({ url })).toMatchObject(unavailable(url, expect.stringContaining(reason)))
  })

  test('because nobody is there', async () => {
    const server = await serveHttp('stateless')
    await server.stop()
    expect(await getStartError({ url: `${server.url}?key=secret` })).toMatchObject(
      unavailable(server.url, expect.stringMatching(/^could not be reached: .*ECONNREFUSED/)),
    )
  })

  test('because it never answers', async () => {
    const server = await serveHttp('stateless')
    server.interposeOn(() => new Promise(() => {}))
    expect(await getStartError({ url: server.url, startTimeoutMs: 50 })).toMatchObject(
      unavailable(server.url, expect.stringContaining('timed out')),
    )
  })

  test('because it sends elsewhere, where the headers must not go', async () => {
    const [server, elsewhere] = [await serveHttp('stateless'), await serveHttp('stateless')]
    server.interposeOn(() => new Response(null, { status: 307, headers: { location: elsewhere.url } }))
    expect(
      await getStartError({ url: server.url, headers: { authorization: 'Bearer secret' } }),
    ).toMatchObject(unavailable(server.url, expect.stringContaining(elsewhere.url)))
    expect(elsewhere.requests).toEqual([])
  })

  test.for([
    ['nowhere', 'invalid_address'],
    ['file:///tmp/x', 'invalid_address'],
    ['http://me:secret@127.0.0.1/', 'secret_in_address'],
  ])('because its address is none: %s', async ([url = '', code]) => {
    const error = await getStartError({ url })
    expect(error).toMatchObject({ code, details: { name } })
    expect(String(error)).not.toContain('me:secret')
  })

  test('because its headers cannot be sent; what they hold is not told', async () => {
    const headers = { 'x-key': 'line one\nsecret line two' }
    const error = await getStartError({ url: 'http://127.0.0.1:9/', headers })
    expect(error).toMatchObject({ code: 'invalid_header', details: { name, header: 'x-key' } })
    expect(String(error)).not.toContain('secret')
  })
})

test('a stream may be of any length when its messages are not', async () => {
  const server = await serveHttp('stateless')
  const { relay } = await relayTo(server)
  const [event, end] = [
    `: ${'x'.repeat(6 * 1024 * 1024)}\n\n`,
    'data: {"jsonrpc":"2.0","id":1000,"result":{}}\n\n',
  ]
  server.interposeOn(() => new Response(event + event + end, typed('text/event-stream')))
  expect(await relay.request(call('add'))).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
})

test('a server of before Streamable HTTP is called that', async () => {
  const older = createServer((request, response) => {
    if (request.method !== 'GET') return void response.writeHead(405).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: endpoint\ndata: /messages\n\n')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    older.closeAllConnections()
    older.close()
  })
  await once(older, 'listening')
  const url = `http://127.0.0.1:${(older.address() as AddressInfo).port}/sse`
  await expect(startMcpServer({ name: 'older', url })).rejects.toMatchObject({
    code: 'unavailable',
    details: { reason: expect.stringContaining('2024-11-05') },
  })
})
