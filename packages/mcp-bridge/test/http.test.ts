import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { McpRequestPayload } from '@meup/protocol'
import { describe, expect, test, vi } from 'vitest'
import { type Manner, serveHttp } from './support/http-server.js'
import { eventually } from './support/processes.js'
import { relayTo, untilNotified } from './support/relay-to.js'
import { call } from './support/servers.js'

const revisions = [
  ['sessions', '2025-11-25'],
  ['stateless', '2025-11-25'],
  ['modern', '2026-07-28'],
  ['both', '2026-07-28'],
] as const satisfies readonly (readonly [Manner, string])[]

describe.for(revisions)('a server over HTTP: %s', ([manner, protocolVersion]) => {
  test('says who it is', async () => {
    const { relay } = await relayTo(await serveHttp(manner))
    expect(relay.server).toMatchObject({ name: 'tried', version: '1.2.3', protocolVersion })
    expect(await relay.request({ id: 'i', method: 'initialize' })).toMatchObject({
      id: 'i',
      result: { serverInfo: { name: 'tried', version: '1.2.3' }, protocolVersion },
    })
  })

  test('lists its tools and is called', async () => {
    const { relay } = await relayTo(await serveHttp(manner))
    expect(await relay.request({ id: 'l', method: 'tools/list' })).toMatchObject({
      id: 'l',
      result: {
        tools: [
          { name: 'add' },
          { name: 'count' },
          { name: 'log' },
          { name: 'talk' },
          { name: 'book' },
          { name: 'wait' },
        ],
      },
    })
    const sums = [1, 2, 3].map((a) => relay.request({ ...call('add', { a, b: 1 }), id: `${a} + 1` }))
    expect(await Promise.all(sums)).toMatchObject(
      [1, 2, 3].map((a) => ({ id: `${a} + 1`, result: { content: [{ text: String(a + 1) }] } })),
    )
  })

  test('answers what it does not know, whatever the HTTP status', async () => {
    const { relay } = await relayTo(await serveHttp(manner))
    const unknown = await relay.request({ jsonrpc: '2.0', id: 'u', method: 'no/such' })
    expect(unknown).toMatchObject({ id: 'u', error: { code: -32601 } })
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })

  test('reports progress of each call to whoever made it, under its own token', async () => {
    const { relay, notifications } = await relayTo(await serveHttp(manner))
    const asked = (progressToken: string | number) => {
      const received: McpRequestPayload[] = []
      const request = call('count', { to: 2 }, { _meta: { progressToken } })
      const answered = relay.request(request, {
        onNotification: (notification) => received.push(notification),
      })
      return answered.then(() => received.map(({ method, params }) => ({ method, params })))
    }
    const reports = (progressToken: string | number) =>
      [1, 2].map((progress) => ({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2, message: `${progress} of 2` },
      }))
    const received = await Promise.all([asked('same'), asked('same'), asked(0), asked('0')])
    expect(received).toEqual([reports('same'), reports('same'), reports(0), reports('0')])
    expect(notifications).toEqual([])
  })

  test('is told when a call is given up, by its asker or by time', async () => {
    const server = await serveHttp(manner)
    const { relay } = await relayTo(server)
    const asker = new AbortController()
    const begun = once(server.happenings, 'begun')
    const cancelled = relay.request(call('wait'), { signal: asker.signal })
    await begun
    asker.abort(new Error('changed my mind'))
    expect(await cancelled).toMatchObject({ id: 7, error: { code: -32800 } })
    await eventually(() => server.happenings.cancelled === 1)
    expect(await relay.request(call('wait'), { timeoutMs: 200 })).toMatchObject({ error: { code: -32001 } })
    await eventually(() => server.happenings.cancelled === 2)
    expect(server.happenings.cancelled).toBe(2)
  })

  test('is sent the headers with each request, and tells nobody of them', async () => {
    const server = await serveHttp(manner)
    const authorization = 'Bearer very-secret-token'
    const { relay, lines, notifications } = await relayTo(server, {
      headers: { authorization, 'x-team': 'a' },
    })
    const answer = await relay.request(call('add', { a: 1, b: 1 }))
    await relay.close()
    expect(server.requests.length).toBeGreaterThan(2)
    for (const { headers } of server.requests) {
      expect([headers.get('authorization'), headers.get('x-team')]).toEqual([authorization, 'a'])
    }
    expect(JSON.stringify([answer, lines, notifications, relay.server])).not.toContain('very-secret-token')
  })
})

describe('news of changes', () => {
  test('reach everyone over the stream of a session', async () => {
    const server = await serveHttp('sessions')
    const { notifications } = await relayTo(server)
    await untilNotified(server, notifications)
    expect(notifications[0]).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('reach everyone over a subscription, also after that was cut off', async () => {
    const server = await serveHttp('modern')
    const { relay, notifications } = await relayTo(server)
    await untilNotified(server, notifications)
    server.cut()
    await untilNotified(server, notifications)
    const methods = notifications.map(({ method }) => method)
    expect(new Set(methods)).toEqual(new Set(['notifications/tools/list_changed']))
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })
})

test('servers that come and go leave no more async storages behind than one server does', async () => {
  using run = vi.spyOn(AsyncLocalStorage.prototype, 'run')
  const countAfter = async (): Promise<number> => {
    const { relay } = await relayTo(await serveHttp('sessions'))
    await relay.request(call('add', { a: 1, b: 1 }))
    await relay.close()
    return new Set(run.mock.contexts).size
  }
  const first = await countAfter()
  expect(first).toBeGreaterThan(0)
  expect(await countAfter()).toBe(first)
})
