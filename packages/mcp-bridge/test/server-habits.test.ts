import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createCalls } from '../src/relay/calls.js'
import type { commandHabits } from './habits.js'
import { fixtures } from './support/processes.js'
import { openClient, serveSpace } from './support/served.js'
import { call as request, serve } from './support/servers.js'

/** Starts a scripted MCP server as the participant `odd`. `source`: its script, see `scripted-server.mjs`. */
async function join(source: string, options: { readonly limits?: { maxResultBytes: number } } = {}) {
  const participants = { ana: ['*'], eve: ['*'], odd: { kind: 'mcp', capabilities: ['mcp.*'] } }
  const space = await createTestSpace({ participants, ...options })
  const [ana, eve] = [await space.join('ana'), await space.join('eve')]
  const [lines, heard, errors]: [string[], AnyEnvelope[], string[]] = [[], [], []]
  eve.on('envelope', (envelope) => heard.push(envelope))
  ana.on('requestError', (error) => errors.push(String(error)))
  const server = { name: 'odd', command: process.execPath, args: [fixtures.scriptedServer, source], env: {} }
  const bridge = await bridgeMcpServer({
    ...server,
    connect: () => space.join('odd'),
    log: (line) => lines.push(line),
  })
  onTestFinished(async () => {
    await bridge.close()
    await space.close()
  })
  await ana.whenPresent(['odd'])
  const listings = () =>
    heard.filter(
      ({ from, payload }) => from === 'ana' && 'method' in payload && payload.method === 'tools/list',
    ).length
  return { ana, eve, bridge, lines, errors, listings, call: (args: object = {}) => ana.call('odd/do', args) }
}

const text = '{ content: [{ type: "text", text: "done" }] }'
const onCall = (body: string) =>
  `({ id, method, params }, count, write) => { if (method === "tools/call") { ${body} } }`
const writing = (...messages: string[]) =>
  onCall(messages.map((each) => `write(${JSON.stringify(each)})`).join(';'))
const done = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"done"}]}}'
const listing = (list: string) =>
  `({ method }, count, write) => { if (method === "tools/list") return ${list} }`
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name)
const isDone = async (source: string) => {
  const here = await join(source)
  expect(await here.call()).toMatchObject({ text: 'done' })
  return here
}

const shown: Record<keyof typeof commandHabits, () => Promise<void>> = {
  async 'ids as text'() {
    await isDone(writing(done.replace('$ID', '"$ID"')))
    await isDone(writing(done.replace('$ID', '$ID.0')))
    await isDone(writing(done.replace(/done/, 'other').replace('$ID', '" $ID"'), done))
    const cancelled =
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$ID","reason":"busy"}}'
    await expect((await join(writing(cancelled))).call()).rejects.toMatchObject({ code: -32800 })
    const progress =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"$ID","progress":1}}'
    const { ana } = await join(writing(progress, done))
    const onProgress = vi.fn()
    await ana.call('odd/do', {}, { onProgress })
    expect(onProgress).toHaveBeenCalledWith({ progress: 1 })
  },
  async 'logs as JSON'() {
    const logs = [
      '"level":30,"msg":"hi"',
      '"result":"log text","level":30',
      '"error":{"code":5},"msg":"no"',
      '"result":{"n":1},"time":1',
    ]
    const { lines } = await isDone(writing(...logs.map((each) => `{"id":$ID,${each}}`), done))
    expect(lines).toContainEqual(expect.stringContaining('"level":30'))
  },
  async 'text on stdout'() {
    const { lines } = await isDone(writing('Server is listening!', '{"cut":', done))
    expect(lines.join()).toContain('Server is listening!')
  },
  async 'a byte order mark'() {
    for (const manner of [
      { mark: '\uFEFF' },
      { mark: '\uFEFF', encoding: 'utf16le' },
      { encoding: 'utf16be' },
    ]) {
      const { relay } = await serve('oddServer', { argument: JSON.stringify(manner) })
      expect(await relay.request(request('echo'))).toHaveProperty('result.echo')
    }
  },
  async 'null in messages'() {
    const nulls = ['_meta', 'instructions', 'title'].map((name) => `${name}: null`).join()
    const capabilities = 'capabilities: { tools: { listChanged: null }, prompts: null, logging: null }'
    const info = 'serverInfo: { name: "odd", version: null, title: null, icons: null }'
    const source = `({ id, method }, count, write) => {
      if (method === "initialize") return { protocolVersion: "2025-06-18", ${capabilities}, ${info}, ${nulls} }
      write('{"jsonrpc":"2.0","method":"notifications/message","params":null,"id":null}')
      write(JSON.stringify({ jsonrpc: "2.0", id, method: null, error: null, result: ${text} }))
    }`
    await isDone(source)
  },
  async 'null in tools'() {
    const list = `{ tools: [
      { name: "a", title: null, description: null, annotations: null, outputSchema: null, inputSchema: null, _meta: null, icons: null },
      { name: "b", title: "B", annotations: { title: null, readOnlyHint: true }, inputSchema: { type: "object", required: null,
        properties: { x: { type: ["string", "null"], default: null, enum: ["y", null] } } } },
    ], nextCursor: null, _meta: null }`
    const { space, url } = await serveSpace()
    await joinAs(space, listing(list))
    const client = await openClient(url, 'legacy')
    const { tools } = await client.listTools()
    const [a, b] = ['a', 'b'].map((name) => tools.find((tool) => tool.name === `library__${name}`))
    const execution = { taskSupport: 'optional' }
    expect(a).toEqual({ name: 'library__a', inputSchema: { type: 'object' }, execution })
    expect(b).toEqual({
      execution,
      ...{ name: 'library__b', title: 'B', annotations: { readOnlyHint: true } },
      inputSchema: {
        type: 'object',
        properties: { x: { type: ['string', 'null'], default: null, enum: ['y', null] } },
      },
    })
  },
  async 'null in results'() {
    const results = [
      `{ content: null, structuredContent: { n: null }, isError: null, _meta: null }`,
      `{ content: [{ type: "text", text: "done", annotations: null, _meta: null }], structuredContent: null, isError: null }`,
    ]
    const list = '{ tools: [{ name: "do", inputSchema: { type: "object" } }] }'
    const source = `({ method, params }) => method === "tools/list" ? ${list} : method === "tools/call" ? [${results}][params.arguments.n] : undefined`
    const { ana } = await join(source)
    expect(await ana.request('odd', 'tools/call', { name: 'do', arguments: { n: 0 } })).toMatchObject({
      content: null,
    })
    expect(await ana.call('odd/do', { n: 0 })).toMatchObject({ text: '', content: [], data: { n: null } })
    expect((await ana.call('odd/do', { n: 1 })).data).toBeUndefined()
    const { space, url } = await serveSpace()
    await joinAs(space, source)
    const client = await openClient(url, 'legacy')
    expect(await client.callTool({ name: 'library__do', arguments: { n: 0 } })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('"n": null') }],
      structuredContent: { n: null },
    })
    expect(await client.callTool({ name: 'library__do', arguments: { n: 1 } })).toEqual({
      content: [{ type: 'text', text: 'done' }],
    })
  },
  async 'content without blocks'() {
    const texts = [`"done"`, `{ type: "text", text: "done" }`, `["done"]`, `[{ text: "done" }]`]
    const list = '{ tools: [{ name: "do", inputSchema: { type: "object" } }] }'
    const source = `({ method, params }) => method === "tools/list" ? ${list} : method === "tools/call" ? { content: [${texts}][params.arguments.n] } : undefined`
    const { ana } = await join(source)
    const { space, url } = await serveSpace()
    await joinAs(space, source)
    const client = await openClient(url, 'legacy')
    const content = [{ type: 'text', text: 'done' }]
    for (const n of texts.keys()) {
      expect(await ana.call('odd/do', { n })).toMatchObject({ text: 'done', content })
      expect(await client.callTool({ name: 'library__do', arguments: { n } })).toEqual({ content })
    }
  },
  async 'an empty error with a result'() {
    for (const error of ['false', '""', '{}'])
      await isDone(writing(done.replace('{"jsonrpc"', `{"error":${error},"jsonrpc"`)))
  },
  async 'no jsonrpc'() {
    await isDone(writing(done.replace('"jsonrpc":"2.0",', '')))
  },
  async 'neither result nor error'() {
    const { call } = await join(writing('{"jsonrpc":"2.0","id":$ID}'))
    await expect(call()).rejects.toMatchObject({ code: -32603, message: expect.stringContaining('neither') })
  },
  async 'a text as result'() {
    await isDone(writing('{"jsonrpc":"2.0","id":$ID,"result":"done"}'))
  },
  async 'a text as error'() {
    const { call } = await join(writing('{"jsonrpc":"2.0","id":$ID,"error":"the disk is full"}'))
    await expect(call()).rejects.toMatchObject({ message: 'the disk is full' })
  },
  async batches() {
    await isDone(writing(`[{"jsonrpc":"2.0","method":"notifications/x"},${done}]`))
  },
  async 'a cursor that never ends'() {
    for (const [cursor, pages] of [
      ['null', 1],
      ['""', 1],
      ['"more"', 2],
      ['["a", "b"][count % 2]', 3],
    ] as const) {
      const { ana, errors, listings } = await join(
        listing(`{ tools: [{ name: "do" }], nextCursor: ${cursor} }`),
      )
      expect(names(await ana.tools())).toEqual(['do'])
      await ana.tools()
      expect([listings(), errors]).toEqual([pages, []])
    }
  },
  async 'a tool twice'() {
    const many = 'Array.from({ length: 900 }, (_, n) => ({ name: "t" + n }))'
    const { ana, errors } = await join(
      listing(`{ tools: [...${many}, { name: "t1", title: "x" }], nextCursor: "p" + Math.min(count, 4) }`),
    )
    expect(await ana.tools()).toHaveLength(900)
    expect(errors).toEqual([])
  },
  async 'a late list'() {
    const source = `({ method }, count, write) => method === "tools/call" ? ${text} : method === "tools/list" && count > 1 ? { tools: [{ name: "do" }] } : undefined`
    const { ana } = await join(source)
    expect(await ana.tools()).toEqual([])
    const changed = new Promise((resolve) => ana.on('tools', () => resolve(true)))
    await ana.call('odd/login')
    await changed
    expect(names(await ana.tools())).toEqual(['do'])
  },
  async 'changes all the time'() {
    const changed = `write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')`
    const source = `({ method }, count, write) => {
      if (method === "tools/list") return { tools: [{ name: "do" }, { name: "after" + count }] }
      if (method === "tools/call") { ${changed}; return ${text} }
    }`
    const { ana, call, listings } = await join(source)
    await ana.tools()
    for (let calls = 0; calls < 20; calls++) await Promise.all([call(), ana.tools(), ana.tools()])
    expect(listings()).toBeLessThanOrEqual(20)
    const before = listings()
    await expect.poll(async () => names(await ana.tools()).includes(`after${listings()}`)).toBe(true)
    expect(listings() - before).toBeLessThanOrEqual(2)
  },
  async 'many large tools'() {
    const tools = `Array.from({ length: 50 }, (_, n) => ({ name: "t" + (50 * (count - 1) + n), inputSchema: { type: "object", properties: { x: { description: "x".repeat(1000), pattern: "x".repeat(20000) } } } }))`
    const { ana, errors } = await join(
      listing(`{ tools: ${tools}, nextCursor: count < 6 ? "p" + count : null }`),
    )
    expect(await ana.tools()).toHaveLength(300)
    expect(errors).toEqual([])
  },
  async 'a list that is too large'() {
    const tools = `Array.from({ length: 300 }, (_, n) => ({ name: "t" + n, inputSchema: { type: "object", title: "x".repeat(20000) } }))`
    const { ana, errors } = await join(listing(`{ tools: ${tools} }`))
    expect(await ana.tools()).toEqual([])
    expect(errors).toEqual([
      expect.stringMatching(
        /odd could not list its tools: .* 60\d+ bytes .*4194304\..*nextCursor.*maxResultBytes/,
      ),
    ])
  },
  async 'half a character'() {
    const expected = {
      content: [{ text: 'a \ufffd' }],
      _meta: { 'meup/changed': 'characters that are not Unicode were replaced' },
    }
    const { ana } = await join(onCall('return { content: [{ type: "text", text: "a \\ud83d" }] }'))
    expect(await ana.request('odd', 'tools/call', { name: 'do' })).toMatchObject(expected)
    const bytes = `process.stdout.write(Buffer.from('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"a \\xe9"}]}}\\n', "latin1"))`
    const raw = await join(onCall(bytes))
    expect(await raw.ana.request('odd', 'tools/call', { name: 'do' })).toMatchObject(expected)
  },
  async 'a result that is too large'() {
    const source = onCall('return { content: [{ type: "text", text: "x".repeat(300000) }] }')
    const { call } = await join(source, { limits: { maxResultBytes: 262_144 } })
    await expect(call()).rejects.toMatchObject({
      message: expect.stringMatching(/^The tool has run\. Its result has 300\d+ bytes .* 262144\./),
    })
  },
  async 'a result that is too deep'() {
    const { call } = await join(
      onCall('return { content: [], deep: JSON.parse("[".repeat(40) + "]".repeat(40)) }'),
    )
    await expect(call()).rejects.toMatchObject({
      message: expect.stringMatching(/^the tool has run; .*nested more than 32/),
    })
  },
  async 'a message that is too large'() {
    const { ana } = await join(
      onCall(
        `if (params.name === "large") return { content: [{ type: "text", text: "x".repeat(11 * 1024 * 1024) }] }; setImmediate(() => write(JSON.stringify({ jsonrpc: "2.0", id, result: ${text} })))`,
      ),
    )
    const [large, other] = await Promise.allSettled([ana.call('odd/large'), ana.call('odd/do')])
    expect(large).toMatchObject({ reason: { message: expect.stringMatching(/115\d+ bytes.*10485760/) } })
    expect(other).toMatchObject({ value: { text: 'done' } })
  },
  async 'structured content alone'() {
    const { call } = await join(onCall('return { structuredContent: { n: 1 } }'))
    expect(await call()).toMatchObject({ text: '', data: { n: 1 } })
  },
  async 'long calls'() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const calls = createCalls('odd', 60_000, async () => {})
    const answer = calls.request(request('do', {}, { _meta: { progressToken: 'p' } }), {})
    for (let progress = 0; progress < 100; progress++) {
      await vi.advanceTimersByTimeAsync(59_000)
      const params = { progressToken: 1000, progress }
      calls.onMessage({ jsonrpc: '2.0', method: 'notifications/progress', params }, undefined)
    }
    calls.onMessage({ jsonrpc: '2.0', id: 1000, result: {} }, undefined)
    expect(await answer).toMatchObject({ result: {} })
  },
  async 'a large id'() {
    const { relay } = await serve('rawServer')
    const ping = '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'
    const line = `${ping}\n{"jsonrpc":"2.0","id":$ID,"result":{}}`
    await relay.request(request('line', { line }))
    await relay.request(request('log'))
    const { result } = await relay.request(request('lines'))
    expect(JSON.stringify(result)).toContain('\\"id\\":9007199254740993')
  },
}

type TestSpace = Awaited<ReturnType<typeof createTestSpace>>

/** Starts a scripted MCP server as the participant `library`. */
async function joinAs(space: TestSpace, source: string): Promise<void> {
  const server = {
    name: 'library',
    command: process.execPath,
    args: [fixtures.scriptedServer, source],
    env: {},
  }
  const bridge = await bridgeMcpServer({ ...server, connect: () => space.join('library') })
  onTestFinished(() => bridge.close())
}

test.for(Object.entries(shown))('what servers send: %s', ([, show]) => show())
