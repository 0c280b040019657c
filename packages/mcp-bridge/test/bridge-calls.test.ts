import { type SpaceClient, ToolError } from '@meup/agent-sdk'
import type { Progress } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer, type McpServerOptions } from '@meup/mcp-bridge'
import { type AnyEnvelope, defaultLimits, type Limits } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { fixtures } from './support/processes.js'

const fast = { perSecond: 10_000, burst: 10_000 }

const run = (program: 'rawServer' | 'sdkServer'): McpServerOptions => ({
  name: 'files',
  command: process.execPath,
  args: [fixtures[program]],
  env: {},
})

async function bridged(server = run('rawServer'), limits: Partial<Limits> = {}) {
  const files = ['mcp.response', { kind: 'mcp.request', payload: { method: 'notifications/**' } }]
  const space = await createTestSpace({
    participants: { ana: ['*'], eve: ['*'], files },
    limits: { maxResultBytes: 256 * 1024, ...limits },
  })
  const [ana, eve, seat] = [await space.join('ana'), await space.join('eve'), await space.join('files')]
  const [broken, lines]: [string[], string[]] = [[], []]
  for (const each of [ana, seat]) each.on('reconnecting', (_, reason) => broken.push(reason))
  const bridge = await bridgeMcpServer({
    ...server,
    connect: async () => seat,
    log: (line) => lines.push(line),
  })
  onTestFinished(async () => {
    await bridge.close()
    await space.close()
  })
  return { ana, eve, broken, lines }
}

function heardBy(seat: SpaceClient): AnyEnvelope[] {
  const heard: AnyEnvelope[] = []
  seat.on('envelope', (envelope) => heard.push(envelope))
  return heard
}

describe('progress', () => {
  test('of two askers with the same token goes to each of them, where they asked', async () => {
    const { ana, eve } = await bridged()
    const heard = heardBy(ana)
    const reports =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}'
    const line = `${reports}\n{"jsonrpc":"2.0","id":$ID,"result":{}}`
    const ask = async (asker: SpaceClient, context: string, progressToken: string | number) => {
      const params = { name: 'line', arguments: { line }, _meta: { progressToken } }
      const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return asker.send({ kind: 'mcp.request', to: ['files'], context, payload })
    }
    const asked = [await ask(ana, 'a', 'same'), await ask(eve, 'b', 'same'), await ask(eve, 'c', 7)]
    await until(() => heard.filter(({ kind }) => kind === 'mcp.response').length === 3)
    const received = heard.filter(
      ({ payload }) => 'method' in payload && payload.method === 'notifications/progress',
    )
    expect(received).toMatchObject(
      (['same', 'same', 7] as const).map((progressToken, i) => ({
        from: 'files',
        to: [asked[i]?.from],
        context: asked[i]?.context,
        correlationId: asked[i]?.id,
        payload: { params: { progressToken, progress: 1 } },
      })),
    )
  })

  test.for(['stdio', 'http'] as const)('reaches whoever called with onProgress: %s', async (way) => {
    const { ana, eve } = await bridged(
      way === 'stdio' ? run('sdkServer') : { name: 'files', url: (await serveHttp('modern')).url },
    )
    const received: Progress[][] = [[], []]
    const calls = [ana, eve].map((asker, i) =>
      asker.call('files/count', { to: 3 }, { onProgress: (progress) => received[i]?.push(progress) }),
    )
    await Promise.all(calls)
    for (const progress of received) {
      expect(progress).toMatchObject([1, 2, 3].map((n) => ({ progress: n, total: 3 })))
    }
  })
})

/** Calls a tool that sends a log message, and returns the notifications about the call. */
async function logged(asker: SpaceClient, data: string): Promise<unknown[]> {
  const received: unknown[] = []
  const options = { onNotification: ({ params }: { params?: object }) => received.push(params) }
  await asker.call('files/log', { data }, options)
  return received
}

describe('a log message about a call', () => {
  test('over stdio goes to the caller alone while nobody else has called', async () => {
    const { ana, eve } = await bridged(run('sdkServer'))
    const heard = heardBy(eve)
    expect(await logged(ana, 'for ana')).toEqual([{ level: 'info', data: 'for ana' }])
    await eve.chat('fence')
    await until(() => heard.some(({ kind }) => kind === 'chat'))
    const notes = heard.filter(({ from, kind }) => from === 'files' && kind === 'mcp.request')
    const asked = heard.find(({ from, kind }) => from === 'ana' && kind === 'mcp.request')
    expect(notes).toMatchObject([{ to: ['ana'], correlationId: asked?.id }])
  })

  test('over stdio goes to the log of the operator where it may be about the call of somebody else', async () => {
    const { ana, eve, lines } = await bridged(run('sdkServer'))
    await logged(ana, 'for ana')
    expect(await logged(eve, 'for eve')).toEqual([])
    expect(await Promise.all([logged(ana, 'one'), logged(ana, 'two')])).toEqual([[], []])
    for (const text of ['for eve', 'one', 'two']) expect(lines.join()).toContain(text)
    expect(lines.join()).not.toContain('for ana')
  })

  test.for(['modern', 'sessions', 'stateless'] as const)(
    'over HTTP goes to its caller, whoever else calls: %s',
    async (era) => {
      const { ana, eve } = await bridged({ name: 'files', url: (await serveHttp(era)).url })
      const data = Array.from({ length: 4 }, (_, n) => `call ${n}`)
      const received = await Promise.all(data.map((text, n) => logged(n % 2 === 0 ? ana : eve, text)))
      expect(received).toMatchObject(data.map((text) => [{ data: text }]))
    },
  )
})

describe('news of a server', () => {
  test('that are about no call are told to everyone', async () => {
    const { eve, ana } = await bridged(run('sdkServer'))
    const heard = heardBy(eve)
    await ana.call('files/grow')
    await until(() =>
      heard.some(
        ({ payload }) => 'method' in payload && payload.method === 'notifications/tools/list_changed',
      ),
    )
    expect(heard.find(({ from, kind }) => from === 'files' && kind === 'mcp.request')).not.toHaveProperty(
      'to',
    )
  })
})

test('that a resource has changed is told to those who have subscribed to it', async () => {
  const { ana, eve } = await bridged()
  const heard = heardBy(ana)
  const uri = 'file:///private'
  await eve.request('files', 'resources/subscribe', { uri, name: 'mirror' })
  const params = `"params":{"uri":"${uri}"}`
  const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated",${params}}`
  const line = `${updated}\n{"jsonrpc":"2.0","id":$ID,"result":{}}`
  await ana.request('files', 'tools/call', { name: 'line', arguments: { line } })
  await until(() => heard.some(({ from, to }) => from === 'files' && to?.includes('eve') === true))
  const received = heard.filter(({ from, kind }) => from === 'files' && kind === 'mcp.request')
  expect(received).toMatchObject([{ to: ['eve'], payload: { params: { uri } } }])
})

describe('subscriptions to resources', () => {
  const uri = 'file:///shared'
  const params = { uri, name: 'mirror' }
  const updated = (of: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"${of}"}}`
  const notifyUpdated = (seat: SpaceClient, ...of: string[]) => {
    const line = [...of.map(updated), '{"jsonrpc":"2.0","id":$ID,"result":{}}'].join('\n')
    return seat.request('files', 'tools/call', { name: 'line', arguments: { line } })
  }
  const news = (heard: readonly AnyEnvelope[]) =>
    heard.filter(({ from, kind }) => from === 'files' && kind === 'mcp.request')

  test('of one participant are not ended by another', async () => {
    const { ana, eve } = await bridged()
    await ana.request('files', 'resources/subscribe', params)
    await eve.request('files', 'resources/unsubscribe', params)
    const methods = async () => {
      const { seen } = await ana.request('files', 'tools/call', { name: 'seen' })
      return (seen as { method: string }[]).map(({ method }) => method)
    }
    expect(await methods()).not.toContain('resources/unsubscribe')
    await ana.request('files', 'resources/unsubscribe', params)
    expect(await methods()).toContain('resources/unsubscribe')
  })

  test('that have ended leave their places to others; nobody has more than 100', async () => {
    const { ana, eve } = await bridged(undefined, { rates: { ...defaultLimits.rates, mcp: fast } })
    for (let n = 0; n < 110; n++) {
      const of = { uri: `file:///${n}`, name: 'mirror' }
      await eve.request('files', 'resources/subscribe', of)
      if (n < 5) await eve.request('files', 'resources/unsubscribe', of)
    }
    const heard = heardBy(ana)
    await notifyUpdated(ana, 'file:///104', 'file:///105')
    await until(() => news(heard).length > 0)
    await ana.request('files', 'tools/call', { name: 'seen' })
    expect(news(heard)).toMatchObject([{ to: ['eve'], payload: { params: { uri: 'file:///104' } } }])
  })

  test('are told of changes one by one, at once and then once a second', async () => {
    const { ana, eve } = await bridged()
    for (const each of [ana, eve]) await each.request('files', 'resources/subscribe', params)
    const heard = heardBy(ana)
    await notifyUpdated(ana, ...Array.from({ length: 20 }, () => uri))
    await until(() => news(heard).length >= 4)
    expect(news(heard).map(({ to }) => to?.join())).toEqual(['ana', 'eve', 'ana', 'eve'])
  })
})

describe('a result that the space does not take', () => {
  const line = (result: string) => ({
    name: 'line',
    arguments: { line: `{"jsonrpc":"2.0","id":$ID,"result":${result}}` },
  })
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  test.for([300 * 1024, 1024 * 1024, 8 * 1024 * 1024])(
    'of %i bytes: its asker gets a result that says isError, its size, the limit, and how it begins',
    async (size) => {
      const { ana, broken } = await bridged()
      const result = await ana.request('files', 'tools/call', { name: 'large', arguments: { size } })
      const { content, isError } = result as { content: { text: string }[]; isError: boolean }
      expect(isError).toBe(true)
      const [, bytes, limit, beginning = ''] =
        /^The tool has run\. Its result has (\d+) bytes .* A response may have (\d+)\. .*\n\n(.*)$/.exec(
          content[0]?.text ?? '',
        ) ?? []
      expect(Number(bytes)).toBeGreaterThan(size)
      expect(limit).toBe('262144')
      expect(beginning).toHaveLength(16 * 1024)
      expect(beginning).toMatch(/^\{"text":"x+$/)
      expect(await ana.request('files', 'tools/call', line('{"fine":true}'))).toEqual({ fine: true })
      expect(broken).toEqual([])
    },
  )

  test('of another method: its asker gets an error with the same', async () => {
    const { ana } = await bridged()
    const params = { name: 'large', arguments: { size: 300 * 1024 } }
    const error = await ana.request('files', 'resources/read', params).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'ToolError',
      code: -32603,
      message: expect.stringContaining(' A response may have 262144.'),
      data: { text: expect.stringMatching(/^\{"text":"x+$/) },
    })
  })

  test('because of its size goes through where the space takes it', async () => {
    const limits = { maxEnvelopeBytes: 4 * 1024 * 1024, maxResultBytes: 4 * 1024 * 1024 }
    const { ana } = await bridged(run('rawServer'), limits)
    const params = { name: 'large', arguments: { size: 3_000_000 } }
    expect(await ana.request('files', 'tools/call', params)).toEqual({ text: 'x'.repeat(3_000_000) })
  })

  const results = [
    ['nested 40 deep', line(`{"deep":${nested(40)}}`), /nested more than 32/],
    ['with a key __proto__', line('{"a":{"__proto__":{"b":1}}}'), /a key __proto__ at \/payload\/result\/a/],
  ] as const

  test.for(results)('%s: its asker gets an error, and the connection goes on', async ([, params, reason]) => {
    const { ana, broken } = await bridged()
    const error = await ana.request('files', 'tools/call', params).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ToolError)
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^the tool has run; its result cannot be sent: /),
    })
    expect(error).toMatchObject({ message: expect.stringMatching(reason) })
    expect(await ana.request('files', 'tools/call', line('{"fine":true}'))).toEqual({ fine: true })
    expect(broken).toEqual([])
  })

  test('but half a character is sent as U+FFFD, wherever it stands', async () => {
    const { ana } = await bridged()
    const _meta = '"_meta":{"meup/changed":"characters that are not Unicode were replaced"}'
    const results = [
      [
        '{"content":[{"type":"text","text":"a \\ud83d"}]}',
        `{"content":[{"type":"text","text":"a \ufffd"}],${_meta}}`,
      ],
      ['{"\\udc00":["\\ud83d\\ud83d\\ude00"],"_meta":null}', `{"\ufffd":["\ufffd😀"],${_meta}}`],
      ['{"path":"C:\\\\udata\\\\ud83d"}', '{"path":"C:\\\\udata\\\\ud83d"}'],
    ] as const
    for (const [given, expected] of results)
      expect(await ana.request('files', 'tools/call', line(given))).toEqual(JSON.parse(expected))
  })

  test('and so are bytes that are no UTF-8, over stdio and over HTTP', async () => {
    const content = [{ type: 'text', text: 'caf\ufffd' }]
    const expected = { content, _meta: { 'meup/changed': 'characters that are not Unicode were replaced' } }
    const result = '{"content":[{"type":"text","text":"caf\xe9"}]}'
    const overStdio = await bridged()
    const params = { name: 'raw', arguments: { latin1: `{"jsonrpc":"2.0","id":$ID,"result":${result}}` } }
    expect(await overStdio.ana.request('files', 'tools/call', params)).toEqual(expected)
    for (const type of ['application/json', 'text/event-stream']) {
      const server = await serveHttp('sessions')
      const { ana } = await bridged({ name: 'files', url: server.url })
      server.interposeOn(async (request) => {
        if (request.method !== 'POST') return undefined
        const { id } = (await request.clone().json()) as { id: number }
        const message = `{"jsonrpc":"2.0","id":${id},"result":${result}}`
        const body = Buffer.from(type === 'text/event-stream' ? `data: ${message}\n\n` : message, 'latin1')
        return new Response(new Uint8Array(body), { headers: { 'content-type': type } })
      })
      expect(await ana.request('files', 'tools/call', { name: 'add' })).toEqual(expected)
    }
  })

  test('and half a character in progress, a log message or an error, which says nothing of it', async () => {
    const { ana } = await bridged()
    const half = '\\ud83d'
    const report = `"method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"message":"${half}"}`
    const log = `"method":"notifications/message","params":{"level":"info","data":"${half}"}`
    const error = `"id":$ID,"error":{"code":5,"message":"no ${half}","data":{"${half}":1}}`
    const lines = [report, log, error].map((each) => `{"jsonrpc":"2.0",${each}}`).join('\n')
    const heard: unknown[] = []
    const options = {
      onProgress: (progress: Progress) => heard.push(progress.message),
      onNotification: ({ params }: { params?: { data?: unknown } }) => heard.push(params?.data),
    }
    const asking = ana.request('files', 'tools/call', { name: 'line', arguments: { line: lines } }, options)
    await expect(asking).rejects.toMatchObject({ code: 5, message: 'no \ufffd', data: { '\ufffd': 1 } })
    expect(heard).toEqual(['\ufffd', '\ufffd'])
  })

  test('and so does a request: it never leaves', async () => {
    const { ana, broken } = await bridged()
    for (const size of [300 * 1024, 2 * 1024 * 1024]) {
      const asking = ana.call('files/mirror', { text: 'x'.repeat(size) })
      await expect(asking).rejects.toMatchObject({ name: 'ProtocolError', code: 'payload_too_large' })
    }
    expect(await ana.request('files', 'tools/call', line('{"fine":true}'))).toEqual({ fine: true })
    expect(broken).toEqual([])
  })

  test('because too much was answered at once is sent when there is room again', async () => {
    const { ana } = await bridged()
    const params = { name: 'large', arguments: { size: 250 * 1024 } }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ana.request('files', 'tools/call', params)),
    )
    expect(answers.map(({ text }) => String(text).length)).toEqual(answers.map(() => 250 * 1024))
  })
})

/** Repeats the check in each turn of the event loop until it passes. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
