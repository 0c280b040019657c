import { describe, expect, test } from 'vitest'
import { relayError } from '../src/errors.js'
import { type HttpServer, serveHttp } from './support/http-server.js'
import { relayTo } from './support/relay-to.js'
import { call } from './support/servers.js'

const json = (text: string | Uint8Array) =>
  new Response(text as string, { headers: { 'content-type': 'application/json; charset=utf-8' } })
const events = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

/** Sets the server's HTTP response to calls; it gets the id of the call. */
function answerCalls(server: HttpServer, respond: (id: number) => Response): void {
  server.interposeOn(async (request) => {
    if (request.method !== 'POST') return undefined
    const { id, method } = (await request.clone().json()) as { id: number; method: string }
    return method === 'tools/call' ? respond(id) : undefined
  })
}

const message = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"fine":true}}`
const answers: Readonly<Record<string, (id: number) => Response>> = {
  'null for what is absent': (id) => json(`{"jsonrpc":"2.0","id":${id},"result":{"fine":true},"error":null}`),
  'no jsonrpc': (id) => json(`{"id":${id},"result":{"fine":true}}`),
  'a byte order mark': (id) => json(`\uFEFF${message(id)}`),
  'no id': () => json(message(null)),
  'an id as text': (id) => json(message(String(id))),
  'a batch with something else': (id) =>
    json(`[5,{"jsonrpc":"2.0","method":"notifications/x"},${message(id)}]`),
  'an event of no jsonrpc': (id) => events(`data: {"id":${id},"result":{"fine":true}}\n\n`),
  'events with carriage returns': (id) => events(`event: message\rid: 1\rdata: ${message(id)}\r\r`),
  'events with both': (id) => events(`: hello\r\n\r\nid: 1\r\ndata: ${message(id)}\r\n\r\n`),
  'an event in many lines': (id) => events(`data: {"id":${id},\ndata: "result":{"fine":true}\ndata: }\n\n`),
  'an event with a byte order mark': (id) => events(`\uFEFFdata: ${message(id)}\n\n`),
  'a batch as an event': (id) => events(`data: [${message(id)}]\n\n`),
  'after events that cannot be read': (id) =>
    events(`data: hello\n\ndata: [1]\n\ndata: {"method":"x","params":5}\n\ndata: ${message(id)}\n\n`),
  'after progress with null': (id) =>
    events(
      `data: {"jsonrpc":"2.0","method":"notifications/progress","params":null}\n\ndata: ${message(id)}\n\n`,
    ),
}

describe('an answer over HTTP is understood', () => {
  test.for(Object.entries(answers))('%s', async ([, respond]) => {
    const server = await serveHttp('sessions')
    const { relay } = await relayTo(server)
    answerCalls(server, respond)
    expect(await relay.request(call('add'))).toEqual({ jsonrpc: '2.0', id: 7, result: { fine: true } })
  })
})

describe('an answer over HTTP that cannot be read fails its call alone', () => {
  const deep = '['.repeat(5000) + ']'.repeat(5000)
  const long = 'y'.repeat(11 * 1024 * 1024)
  const failures: Readonly<Record<string, readonly [(id: number) => Response, RegExp]>> = {
    'nested too deep': [(id) => json(`{"jsonrpc":"2.0","id":${id},"result":{"a":${deep}}}`), /nested/],
    'nested too deep, as an event': [
      (id) => events(`data: {"jsonrpc":"2.0","id":${id},"result":{"a":${deep}}}\n\n`),
      /nested/,
    ],
    'too long, as an event': [
      (id) => events(`data: {"jsonrpc":"2.0","id":${id},"result":{"text":"${long}"}}\n\n`),
      /115\d{5} bytes.* 10485760/,
    ],
    'a number': [() => json('5'), /not JSON-RPC/],
    'an event of nothing': [() => events('data: hello\n\n'), /broke off/],
  }
  test.for(Object.entries(failures))('%s', async ([, [respond, reason]]) => {
    const server = await serveHttp('sessions')
    const { relay, lines } = await relayTo(server)
    answerCalls(server, respond)
    expect(await relay.request(call('add'))).toMatchObject({
      id: 7,
      error: { message: expect.stringMatching(reason) },
    })
    expect(lines).toContainEqual(expect.stringContaining('skipped'))
    server.interposeOn(() => undefined)
    expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
  })
})

test('a start that is given up ends at once, and closes its connections', async () => {
  const server = await serveHttp('stateless')
  const abort = new AbortController()
  let gone = false
  server.interposeOn((request) => {
    request.signal.addEventListener('abort', () => {
      gone = true
    })
    abort.abort()
    return new Promise(() => {})
  })
  await expect(relayTo(server, { signal: abort.signal })).rejects.toMatchObject({
    details: { reason: 'was given up' },
  })
  await expect.poll(() => gone).toBe(true)
})

test('a reply whose stream is cut again and again is resumed where it was', async () => {
  const server = await serveHttp('sessions')
  const { relay } = await relayTo(server)
  const resumedFrom: (string | null)[] = []
  let asked = 0
  server.interposeOn(async (request) => {
    const from = request.headers.get('last-event-id')
    if (request.method === 'GET' && from !== null) {
      const isLast = resumedFrom.push(from) === 3
      return events(isLast ? `data: ${message(asked)}\n\n` : ': nothing yet\n\n')
    }
    if (request.method !== 'POST') return undefined
    asked = ((await request.clone().json()) as { id: number }).id
    return events('id: first\nretry: 0\ndata:\n\n')
  })
  expect(await relay.request(call('add'))).toMatchObject({ result: { fine: true } })
  expect(resumedFrom).toEqual(['first', 'first', 'first'])
})

test('a reply whose stream is cut five times, and nothing comes, fails with a sentence; the next call goes on', async () => {
  const server = await serveHttp('sessions')
  const { relay } = await relayTo(server)
  let resumed = 0
  server.interposeOn((request) => {
    if (request.headers.get('last-event-id') !== null) resumed++
    else if (request.method !== 'POST') return undefined
    return events(resumed === 0 ? 'id: first\nretry: 0\ndata:\n\n' : ': nothing yet\n\n')
  })
  expect(await relay.request(call('add'))).toMatchObject({
    id: 7,
    error: relayError('cut', { name: 'remote', cuts: 5 }).error,
  })
  expect(resumed).toBe(4)
  server.interposeOn(() => undefined)
  expect(await relay.request(call('add', { a: 1, b: 1 }))).toHaveProperty('result')
})

test('a reply whose stream is cut more often is resumed as long as something comes', async () => {
  const server = await serveHttp('sessions')
  const { relay } = await relayTo(server)
  let [asked, resumed] = [0, 0]
  const log = (n: number) =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${n}}}`
  server.interposeOn(async (request) => {
    if (request.headers.get('last-event-id') !== null)
      return events(++resumed === 8 ? `data: ${message(asked)}\n\n` : `data: ${log(resumed)}\n\n`)
    if (request.method !== 'POST') return undefined
    asked = ((await request.clone().json()) as { id: number }).id
    return events('id: first\nretry: 0\ndata:\n\n')
  })
  expect(await relay.request(call('add'))).toMatchObject({ result: { fine: true } })
})
