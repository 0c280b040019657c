import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { eventually } from './support/processes.js'
import { relayTo, untilNotified } from './support/relay-to.js'
import { call } from './support/servers.js'

describe('a session', () => {
  test('is named in each request after the first, and ended at the close', async () => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    await relay.request(call('add', { a: 1, b: 1 }))
    const [session] = server.sessions.keys()
    await relay.close()
    const named = server.requests.filter(({ headers }) => headers.get('mcp-session-id') === session)
    expect(named.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'POST', 'DELETE']))
    expect(server.sessions.size).toBe(0)
  })

  test.for([404, 400])('that the server has lost is begun anew, once for all who ask: %i', async (status) => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    const [old] = server.sessions.keys()
    await server.forget()
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
    server.interposeOn((request) =>
      request.headers.get('mcp-session-id') === old ? Response.json({ error }, { status }) : undefined,
    )
    const answers = await Promise.all([1, 2, 3].map((a) => relay.request(call('add', { a, b: 1 }))))
    expect(answers).toMatchObject(
      [2, 3, 4].map((sum) => ({ id: 7, result: { content: [{ text: `${sum}` }] } })),
    )
    expect([...server.sessions.keys()]).toEqual([expect.not.stringContaining(old ?? 'none')])
    expect(relay.server.name).toBe('tried')
  })

  const ofRequest = async (request: Request, error: object) => {
    const { id } = (await request.clone().json()) as { id?: unknown }
    return { jsonrpc: '2.0', id: id ?? null, error }
  }
  const eventOf = (message: object) =>
    new Response(`event: message\ndata: ${JSON.stringify(message)}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  const lost = { code: -32001, message: 'Session not found' }
  const uninitialized = { code: -32000, message: 'Bad Request: Server not initialized' }
  type Refusal = (request: Request) => Response | Promise<Response>
  const refusals: Readonly<Record<string, Refusal>> = {
    '404, text': () => new Response('Not Found', { status: 404 }),
    '404, nothing': () => new Response(null, { status: 404 }),
    '404, a page': () => new Response('<html>404</html>', { status: 404 }),
    '404, an error of the request': async (request) =>
      Response.json(await ofRequest(request, lost), { status: 404 }),
    '404, an error about the params': async (request) =>
      Response.json(await ofRequest(request, { code: -32602, message: 'no' }), { status: 404 }),
    '404, an answer that is none': () => Response.json({ jsonrpc: '2.0', id: 5 }, { status: 404 }),
    '410, nothing': () => new Response(null, { status: 410 }),
    '410, text': () => new Response('Gone', { status: 410 }),
    '400, nothing': () => new Response(null, { status: 400 }),
    '400, server not initialized': () =>
      Response.json({ jsonrpc: '2.0', id: null, error: uninitialized }, { status: 400 }),
    '400, server not initialized, of the request': async (request) =>
      Response.json(await ofRequest(request, uninitialized), { status: 400 }),
    '400, text': () => new Response('Invalid or missing session ID', { status: 400 }),
    '400, an error that is a text': () => Response.json({ error: 'session_not_found' }, { status: 400 }),
    '409, text': () => new Response('session expired', { status: 409 }),
    '422, text': () => new Response('unknown session', { status: 422 }),
    '500, text': () => new Response('SessionNotFound: 1234', { status: 500 }),
    '200, an error of the request': async (request) => Response.json(await ofRequest(request, lost)),
    '200, an error of nobody': () => Response.json({ jsonrpc: '2.0', id: null, error: lost }),
    '200, not initialized': async (request) => Response.json(await ofRequest(request, uninitialized)),
    '200, before initialization': async (request) =>
      Response.json(
        await ofRequest(request, {
          code: -32602,
          message: 'Received request before initialization was complete',
        }),
      ),
    '200, terminated, as an event': async (request) =>
      eventOf(await ofRequest(request, { code: -32600, message: 'Session has been terminated' })),
  }

  test.for(Object.entries(refusals))('is begun anew, and the call repeated once: %s', async ([, refuse]) => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    const [old] = server.sessions.keys()
    await server.forget()
    server.interposeOn((request) =>
      request.method === 'POST' && request.headers.get('mcp-session-id') === old
        ? refuse(request)
        : undefined,
    )
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toMatchObject({
      id: 7,
      result: { content: [{ text: '2' }] },
    })
    expect(server.sessions.size).toBe(1)
  })

  test.for(Object.entries(refusals))(
    'that is refused again ends the call, and nothing loops: %s',
    async ([, refuse]) => {
      const server = await serveHttp('sessions')
      const { relay } = await relayTo(server)
      let [calls, handshakes] = [0, 0]
      server.interposeOn(async (request) => {
        if (request.method !== 'POST') return undefined
        const { method } = (await request.clone().json()) as { method: string }
        if (method === 'initialize') handshakes++
        return method === 'tools/call' && ++calls ? refuse(request) : undefined
      })
      expect(await relay.request(call('add', { a: 1, b: 1 }))).toMatchObject({ id: 7, error: {} })
      expect({ calls, handshakes }).toEqual({ calls: 2, handshakes: 1 })
      server.interposeOn(() => undefined)
      expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
    },
  )

  test.for([
    ['an error of a tool', 200, { code: -32603, message: 'the disk is full' }, {}],
    [
      'of a session that the call is about',
      200,
      { code: -32000, message: 'session not found' },
      { session: 'x' },
    ],
    ['of a method that it does not know', 404, { code: -32601, message: 'Method not found' }, {}],
    ['of a session of its own, in a refusal', 403, { code: -32000, message: 'session not found' }, {}],
  ] as const)('goes on after another error: %s', async ([, status, error, args]) => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    const [session] = server.sessions.keys()
    server.interposeOn(async (request) =>
      request.method === 'POST' ? Response.json(await ofRequest(request, error), { status }) : undefined,
    )
    expect(await relay.request(call('add', { a: 1, b: 1, ...args }))).toMatchObject({ id: 7, error: {} })
    server.interposeOn(() => undefined)
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
    expect([...server.sessions.keys()]).toEqual([session])
  })

  test('that is lost in the middle of a call: the call is answered with an error, the next one goes on', async () => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    const begun = once(server.happenings, 'begun')
    const waiting = relay.request(call('wait'))
    await begun
    await server.forget()
    expect(await waiting).toMatchObject({
      error: { code: -32000, message: expect.stringContaining('"remote"') },
    })
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })

  test('that is lost while nobody asks is begun anew, so that news go on', async () => {
    const server = await serveHttp('sessions')
    const { relay, notifications } = await relayTo(server)
    await untilNotified(server, notifications)
    await server.forget()
    await eventually(() => server.sessions.size === 1)
    await untilNotified(server, notifications)
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })

  test('that cannot be begun anew is the end of the server', async () => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    await server.forget()
    server.interposeOn(() => new Response('no', { status: 404 }))
    const answer = await relay.request(call('add', { a: 1, b: 1 }))
    expect(answer).toMatchObject({ id: 7, error: { code: -32000 } })
    expect((await relay.closed).reason).toMatch(
      /^lost the session, and a new handshake failed: it answered HTTP 404/,
    )
  })
})
