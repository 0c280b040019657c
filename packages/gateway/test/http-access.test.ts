import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { asking, bearer } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const problem = 'application/problem+json'
const spacePaths = [
  'envelopes',
  'events',
  'participants',
  'contexts',
  'contexts/run',
  'audit',
  'search',
  'audit/verify',
  'audit/export',
].map((path) => `/spaces/test/${path}`)
const openPaths = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/asyncapi.json', '/schema/chat.json']

describe('pages of other origins', () => {
  const origins = ['https://app.example']

  test.for([...spacePaths, '/spaces/test/nothing', '/spaces/nowhere/envelopes'])(
    'are refused at %s',
    async (path) => {
      const { url } = await start({ participants, origins })
      for (const origin of [
        'https://evil.example',
        'http://localhost:1',
        'null',
        'https://app.example.evil.example',
      ]) {
        for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
          const response = await fetch(url + path, { method, headers: { ...bearer('alice'), origin } })
          expect([response.status, response.headers.get('content-type')]).toEqual([403, problem])
          expect(response.headers.get('access-control-allow-origin')).toBeNull()
          expect(await response.json()).toMatchObject({ code: 'forbidden' })
        }
      }
    },
  )

  test('are let in where they are configured, or are the gateway’s own', async () => {
    const { url } = await start({ participants, origins })
    for (const origin of [...origins, url]) {
      const { get } = asking(url, 'alice')
      for (const path of ['/envelopes', '/participants', '/contexts/nothing']) {
        const response = await get(path, { origin })
        expect(response.status).toBe(path === '/contexts/nothing' ? 404 : 200)
        expect(response.headers.get('access-control-allow-origin')).toBe(origin)
        expect(response.headers.get('vary')).toMatch(/\borigin\b/)
        expect(response.headers.get('access-control-expose-headers')).toMatch(/\blink\b/)
      }
      const stream = await asking(url, 'alice').events('', { origin })
      stream.leave()
      const preflight = await get('/events', { origin, 'access-control-request-method': 'GET' }, 'OPTIONS')
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS')
      expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization.*last-event-id/)
    }
  })

  test('may look at what is open to all anyway, without leave to read it', async () => {
    const { url } = await start({ participants, origins })
    const response = await fetch(`${url}/healthz`, { headers: { origin: 'https://app.example' } })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })
})

describe('methods', () => {
  test.for([...spacePaths, ...openPaths])('of %s', async (path) => {
    const { url, gateway } = await start({ participants })
    const send = (method: string) => fetch(url + path, { method, headers: bearer('alice') })
    const options = await send('OPTIONS')
    const allow = path.endsWith('/envelopes') ? 'GET, HEAD, POST, OPTIONS' : 'GET, HEAD, OPTIONS'
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
    for (const method of ['PUT', 'PATCH', 'DELETE', ...(path.endsWith('/envelopes') ? [] : ['POST'])]) {
      const response = await send(method)
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
      expect(response.headers.get('content-type')).toBe(problem)
      expect(await response.json()).toMatchObject({ status: 405, code: 'invalid_request' })
    }
    const head = await send('HEAD')
    expect(head.status).toBe(path.endsWith('/contexts/run') ? 404 : 200)
    expect(await head.text()).toBe('')
    expect(gateway.report()).toMatchObject([{ connections: 0 }])
  })
})

describe('everything of a space', () => {
  test.for(spacePaths)('refuses a token in the URL: %s', async (path) => {
    const { url } = await start({ participants })
    for (const name of ['token', 'access_token']) {
      const response = await fetch(`${url}${path}?${name}=token-of-alice`)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'invalid_request', detail: texts.tokenInUrl },
      ])
    }
  })

  test('is kept by nobody on the way', async () => {
    const { url } = await start({ participants })
    const response = await asking(url, 'alice').get('/envelopes')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('explains where sockets are', async () => {
    const { url } = await start({ participants })
    const response = await asking(url, 'alice').get('/ws')
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
    expect(await response.json()).toMatchObject({ code: 'invalid_request' })
  })
})
