import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { HttpClient } from '@meup/agent-sdk/http'
import type { TestSpace } from '@meup/agent-sdk/testing'
import { serveSpaceOverStdio } from '@meup/mcp-bridge/serve'
import { PROTOCOL, parseExact } from '@meup/protocol'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { markNumbers, restoreNumbers, restoreResponse } from '../src/exact-numbers.js'
import { serveSpace, token } from './support/served.js'

const numbers = '{"id":9007199254740993,"price":0.1000,"in":[-2047948614742839297,1.0,{"e":1E5}],"n":7}'
const escaped = JSON.stringify(numbers).slice(1, -1)
const spaceless = (text: string): string => text.replace(/\\n|\s/g, '')

/** A participant whose tools return exact numbers as data. The tool `bare` returns no content. */
async function openDesk(space: TestSpace) {
  const desk = await space.join('desk')
  const tools = ['whole', 'bare', 'failed'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  const data = { structuredContent: parseExact(numbers), _meta: { at: parseExact('[0.50]') } }
  const content = [{ type: 'text', text: 'kept' }]
  const results = { bare: data, whole: { ...data, content }, failed: { ...data, content, isError: true } }
  desk.serve(async ({ payload: { method, params } }) => {
    if (method === 'initialize') return { result: { capabilities: { tools: {} }, protocolVersion: PROTOCOL } }
    if (method === 'tools/list') return { result: { tools } }
    return { result: results[Object(params).name as keyof typeof results] }
  })
}

test.for(['legacy', 'auto'] as const)('numbers of results keep their digits over HTTP: %s', async (mode) => {
  const { space, url } = await serveSpace({ more: { desk: ['*'] } })
  await openDesk(space)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const bodies: Promise<string>[] = []
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    async fetch(address, init) {
      const response = await fetch(address, init)
      if (init?.method === 'POST') bodies.push(response.clone().text())
      return response
    },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const call = async (name: string): Promise<string> => {
    bodies.splice(0)
    await client.callTool({ name: `desk__${name}` })
    return (await Promise.all(bodies)).join('\n')
  }
  const whole = await call('whole')
  expect(whole).toContain(`"structuredContent":${numbers}`)
  expect(whole).toContain('"at":[0.50]')
  expect(spaceless(await call('bare'))).toContain(spaceless(escaped))
  expect(await call('failed')).toContain(escaped)
})

test('numbers of results keep their digits over stdio, also of a task', async () => {
  const { space } = await serveSpace({ more: { desk: ['*'] } })
  await openDesk(space)
  const pipes = { stdin: new PassThrough(), stdout: new PassThrough() }
  const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
  const serving = serveSpaceOverStdio({ space: await space.join('desktop'), http }, pipes)
  onTestFinished(() => serving.close())
  const lines = createInterface({ input: pipes.stdout })[Symbol.asyncIterator]()
  let id = 0
  const ask = async (method: string, params: object): Promise<string> => {
    pipes.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
    for (;;) {
      const { value } = await lines.next()
      if (JSON.parse(value).id === id) return value
    }
  }
  const clientInfo = { name: 'test', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  pipes.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  const call = { name: 'desk__whole', arguments: {} }
  expect(await ask('tools/call', call)).toContain(`"structuredContent":${numbers}`)
  const { taskId } = JSON.parse(await ask('tools/call', { ...call, task: {} })).result.task
  const result = await ask('tasks/result', { taskId })
  expect(result).toContain(`"structuredContent":${numbers}`)
  expect(result).toContain('"at":[0.50]')
})

const bigId = '9007199254740993'
const ping = `{"jsonrpc":"2.0","id":${bigId},"method":"ping"}`
const pong = `"id":${bigId}`

test('an id beyond 2^53 comes back with its digits, over stdio and HTTP', async () => {
  const { space, url } = await serveSpace()
  const pipes = { stdin: new PassThrough(), stdout: new PassThrough() }
  const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
  const serving = serveSpaceOverStdio({ space: await space.join('desktop'), http }, pipes)
  onTestFinished(() => serving.close())
  const lines = createInterface({ input: pipes.stdout })[Symbol.asyncIterator]()
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  pipes.stdin.write(`${hello}\n`)
  await lines.next()
  pipes.stdin.write(`${ping}\n`)
  expect((await lines.next()).value).toContain(pong)
  pipes.stdin.write(`${ping.replace('ping', 'no/such')}\n`)
  expect((await lines.next()).value).toMatch(new RegExp(`${pong}.*"error"|"error".*${pong}`))

  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const begun = await fetch(url, { method: 'POST', headers, body: hello })
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  const post = (body: string) => fetch(url, { method: 'POST', headers: { ...headers, ...session }, body })
  expect(await (await post(ping)).text()).toContain(pong)
  expect(await (await post(ping.replace('"ping"', '5'))).text()).toContain(pong)
})

test('a progress token beyond 2^53 comes back with its digits', async () => {
  const { space } = await serveSpace({ more: { desk: ['*'] } })
  const desk = await space.join('desk')
  desk.tool('count', {}, async (_, { progress }) => {
    await progress(1)
    return 'counted'
  })
  const pipes = { stdin: new PassThrough(), stdout: new PassThrough() }
  const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
  const serving = serveSpaceOverStdio({ space: await space.join('desktop'), http }, pipes)
  onTestFinished(() => serving.close())
  const lines = createInterface({ input: pipes.stdout })[Symbol.asyncIterator]()
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  pipes.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  await lines.next()
  pipes.stdin.write(
    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"desk__count","_meta":{"progressToken":${bigId}}}}\n`,
  )
  const said: string[] = []
  for (let line = ''; !line.includes('"id":2'); said.push(line)) line = (await lines.next()).value
  expect(said.join('\n')).toContain(`"progressToken":${bigId}`)
})

test('a result without such numbers is the same object', () => {
  const result = { content: [], structuredContent: parseExact('{"n":1,"deep":[{"x":0.5}]}') }
  expect(markNumbers(result)).toBe(result)
})

test('a list and a number keep their digits within the JSON of a text, and across pieces of a response', async () => {
  const { structuredContent: list } = markNumbers({
    structuredContent: parseExact('[0.10,9007199254740993]'),
  })
  const json = JSON.stringify({
    list,
    text: JSON.stringify(list),
    twice: JSON.stringify([JSON.stringify(list)]),
  })
  const whole = '[0.10,9007199254740993]'
  const expected = JSON.stringify({ list: 0, text: whole, twice: JSON.stringify([whole]) })
  expect(restoreNumbers(json)).toBe(expected.replace('"list":0', `"list":${whole}`))
  const pieces =
    Buffer.from(`data: ${json}\n\ndata: ${json}`)
      .toString()
      .match(/.{1,7}|\n+/g) ?? []
  const body = ReadableStream.from(pieces.map((piece) => Buffer.from(piece)))
  expect(await restoreResponse(new Response(body)).text()).toBe(
    `data: ${restoreNumbers(json)}\n\ndata: ${restoreNumbers(json)}`,
  )
})
