import { expect, test } from 'vitest'
import { relayError } from '../src/errors.js'
import type { addressHabits } from './habits.js'
import { serveHttp } from './support/http-server.js'
import { relayTo } from './support/relay-to.js'
import { call as request } from './support/servers.js'

const shown: Record<keyof typeof addressHabits, () => Promise<void>> = {
  async 'a lost session'() {
    const error = { code: -32000, message: 'Bad Request: Server not initialized' }
    await expect(
      refusing((id) => Response.json({ jsonrpc: '2.0', id, error }, { status: 400 })),
    ).resolves.toMatchObject({ result: {} })
    await expect(refusing((id) => Response.json({ jsonrpc: '2.0', id, error }))).resolves.toMatchObject({
      result: {},
    })
    for (const status of [404, 410])
      await expect(refusing(() => new Response('gone', { status }))).resolves.toMatchObject({ result: {} })
    for (const status of [401, 403])
      await expect(refusing(() => new Response('no', { status }))).resolves.toMatchObject({ error: {} })
  },
  async 'a cut stream'() {
    const cut = async (resumedUntil: number) => {
      let [id, resumed] = [0, 0]
      return answered(async (message) => {
        if (message !== undefined) id = message
        else if (++resumed === resumedUntil)
          return events(`data: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`)
        return events(resumed === 0 ? 'id: 1\nretry: 0\ndata:\n\n' : ': nothing\n\n')
      })
    }
    expect(await cut(3)).toMatchObject({ result: {} })
    expect(await cut(100)).toMatchObject(relayError('cut', { name: 'remote', cuts: 5 }))
  },
  async 'a redirect'() {
    for (const status of [307, 308]) {
      const server = await serveHttp('sessions')
      server.interposeOn(({ url }) =>
        url.endsWith('/mcp') ? new Response(null, { status, headers: { location: '/mcp/' } }) : undefined,
      )
      const { relay } = await relayTo(server)
      expect(await relay.request(request('add', { a: 1, b: 1 }))).toMatchObject({
        result: { content: [{ text: '2' }] },
      })
    }
    const server = await serveHttp('stateless')
    server.interposeOn(() => new Response(null, { status: 301, headers: { location: '/mcp/' } }))
    await expect(relayTo(server)).rejects.toThrow(
      new RegExp(`answered HTTP 301: Redirect to ${server.url}/ not followed; [^(]*$`),
    )
  },
  async 'an answer to a notification'() {
    const answers = [
      () => new Response(null, { status: 200 }),
      () => Response.json(null),
      () => Response.json({}),
      () => new Response('ok', { headers: { 'content-type': 'text/plain' } }),
      () => new Response(null, { status: 204 }),
      () => events(''),
      () => Response.json(null, { status: 202 }),
    ]
    for (const respond of answers) {
      const server = await serveHttp('sessions')
      let notifications = 0
      server.interposeOn(async (incoming) => {
        if (incoming.method !== 'POST') return undefined
        const { id } = (await incoming.clone().json()) as { id?: unknown }
        return id === undefined && ++notifications ? respond() : undefined
      })
      const { relay } = await relayTo(server)
      expect(await relay.request(request('add', { a: 1, b: 1 }))).toMatchObject({
        result: { content: [{ text: '2' }] },
      })
      expect(notifications).toBeGreaterThan(0)
    }
  },
}

const events = (body: string) => new Response(body, { headers: { 'content-type': 'text/event-stream' } })

/**
 * Makes a call over HTTP, and returns its response. `respond`: creates the server's HTTP response, given the id of the call, or
 * `undefined` when a stream is resumed.
 */
async function answered(respond: (id: number | undefined) => Promise<Response>) {
  const server = await serveHttp('sessions')
  const { relay } = await relayTo(server)
  server.interposeOn(async (incoming) => {
    if (incoming.method === 'GET')
      return incoming.headers.has('last-event-id') ? respond(undefined) : undefined
    if (incoming.method !== 'POST') return undefined
    const { id, method } = (await incoming.clone().json()) as { id: number; method: string }
    return method === 'tools/call' ? respond(id) : undefined
  })
  return relay.request(request('add', { a: 1, b: 1 }))
}

/** Makes a call that the server refuses at first, and then accepts. Returns its response. */
const refusing = (refuse: (id: number) => Response) => {
  let isRefused = false
  return answered(async (id = 0) => {
    if (isRefused) return Response.json({ jsonrpc: '2.0', id, result: { fine: true } })
    isRefused = true
    return refuse(id)
  })
}

test.for(Object.entries(shown))('what servers over HTTP send: %s', ([, show]) => show())
