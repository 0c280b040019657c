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
