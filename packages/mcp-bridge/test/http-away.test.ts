import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServerOptions } from '@meup/mcp-bridge'
import { startMcpServer } from '@meup/mcp-bridge'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { relayTo, untilNotified } from './support/relay-to.js'
import { call } from './support/servers.js'

const failed = (message: RegExp) => ({
  jsonrpc: '2.0',
  id: 7,
  error: { code: -32000, message: expect.stringMatching(message) },
})

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
      expect(await pending).toEqual(failed(/^the tool server "remote" (broke off its reply|ended while)/))
      expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(
        failed(/"remote" .*could not be reached/),
      )
      expect((await relay.closed).reason).toMatch(/^could not be reached: ./)
      expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(
        failed(/"remote" has ended: it could not/),
      )
      await expect(relay.notify({ method: 'notifications/roots/list_changed' })).rejects.toThrow(
        'could not be',
      )
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
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(failed(new RegExp(`HTTP ${status}$`)))
    expect(await relay.closed).toEqual({ reason: `answered HTTP ${status}` })
  })
})

describe('a server that refuses one call', () => {
  const refusals = [
    ['HTTP 429', 'slow down', { status: 429 }, /did not take the call: it answered HTTP 429: slow down$/],
    ['HTTP 504', '<html>late</html>', { status: 504 }, /it answered HTTP 504$/],
    ['a JSON-RPC error to nobody', '{"error":{"message":"why"}}', { status: 400 }, /answered HTTP 400: why$/],
    ['HTTP 401', '', { status: 401 }, /it asks for authorization \(HTTP 401\)/],
    ['HTTP 403', 'never', { status: 403 }, /it denies access \(HTTP 403\)/],
    ['text', 'hello', typed('text/plain'), /it answered with neither JSON nor an event stream/],
    ['other JSON', '{"hello":"you"}', typed('application/json'), /with something that is not JSON-RPC/],
    ['half an answer', '{"half":', typed('application/json'), /with something that is not JSON-RPC/],
    [
      'far too much',
      `"${'x'.repeat(11 * 1024 * 1024)}"`,
      typed('application/json'),
      /with more than \d+ bytes$/,
    ],
    [
      'a far too long stream',
      `data: ${'x'.repeat(11 * 1024 * 1024)}`,
      typed('text/event-stream'),
      /broke off its/,
    ],
    ['an empty stream', ': nothing\n\n', typed('text/event-stream'), /"remote" broke off its reply$/],
  ] as const

  test.for(refusals)('%s', async ([, body, init, message]) => {
    const server = await serveHttp('stateless')
    const { relay } = await relayTo(server)
    server.interposeOn(() => new Response(body, init))
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toEqual(failed(message))
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
    expect(answer).toEqual(failed(/HTTP 500: not for Bearer \[redacted\]$/))
    expect(lines.join()).toContain('[redacted]')
    expect(lines.join()).not.toContain('very-secret-token')
  })
})

describe('a server that cannot be connected to', () => {
  const getStartError = async (options: Partial<McpServerOptions> & { url: string }): Promise<string> => {
    const connecting = startMcpServer({ name: 'remote', ...options })
    return connecting.then(
      async (relay) => {
        await relay.close()
        return expect.unreachable('it was connected to')
      },
      (error: Error) => error.message,
    )
  }
  const answering = async (response: () => Response) => {
    const server = await serveHttp('stateless')
    server.interposeOn(response)
    return server
  }
  const refusals = [
    [
      'asks for authorization (HTTP 401); give a valid one in its headers',
      () => new Response('', { status: 401 }),
    ],
    ['denies access (HTTP 403); check its headers', () => new Response('', { status: 403 })],
    ['answered HTTP 404; is this the address of an MCP server?', () => new Response('', { status: 404 })],
    ['answered HTTP 405; is this the address of an MCP server?', () => new Response('', { status: 405 })],
    ['answered HTTP 500: boom', () => new Response('boom', { status: 500 })],
    [
      'answered with neither JSON nor an event stream; is this the address of an MCP server?',
      () => new Response('<html>'),
    ],
    [
      'answered with something that is not JSON-RPC; is this the address of an MCP server?',
      () => Response.json({ hello: 'you' }),
    ],
  ] as const

  test.for(refusals)('it %s', async ([message, response]) => {
    const { url } = await answering(response)
    expect(await getStartError({ url })).toBe(
      `the tool server "remote" at ${url} is not available: it ${message}`,
    )
  })

  test('because nobody is there', async () => {
    const server = await serveHttp('stateless')
    await server.stop()
    expect(await getStartError({ url: `${server.url}?key=secret` })).toMatch(
      /^the tool server "remote" at http:\/\/127\.0\.0\.1:\d+\/mcp is not available: it could not be reached: .*ECONNREFUSED/,
    )
  })

  test('because it never answers', async () => {
    const server = await serveHttp('stateless')
    server.interposeOn(() => new Promise(() => {}))
    expect(await getStartError({ url: server.url, startTimeoutMs: 50 })).toMatch(
      /is not available: it .*timed out/,
    )
  })

  test('because it sends elsewhere, where the headers must not go', async () => {
    const [server, elsewhere] = [await serveHttp('stateless'), await serveHttp('stateless')]
    server.interposeOn(() => new Response(null, { status: 307, headers: { location: elsewhere.url } }))
    expect(await getStartError({ url: server.url, headers: { authorization: 'Bearer secret' } })).toContain(
      elsewhere.url,
    )
    expect(elsewhere.requests).toEqual([])
  })

  test.for([
    ['nowhere', 'the tool server "remote" needs an address such as https://tools.example/mcp'],
    ['file:///tmp/x', 'the tool server "remote" needs an address such as https://tools.example/mcp'],
    [
      'http://me:secret@127.0.0.1/',
      'the address of the tool server "remote" contains a password; set it in a header',
    ],
  ])('because its address is none: %s', async ([url = '', message]) => {
    expect(await getStartError({ url })).toBe(message)
  })

  test('because its headers cannot be sent; what they hold is not told', async () => {
    const headers = { 'x-key': 'line one\nsecret line two' }
    expect(await getStartError({ url: 'http://127.0.0.1:9/', headers })).toBe(
      'the header x-key for the tool server "remote" contains characters that a header cannot have',
    )
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
  await expect(startMcpServer({ name: 'older', url })).rejects.toThrow(/older HTTP\+SSE transport/)
})
