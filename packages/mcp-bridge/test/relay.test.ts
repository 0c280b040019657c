import { describe, expect, test } from 'vitest'
import { eventually } from './support/processes.js'
import { call, serve } from './support/servers.js'

describe('an SDK server', () => {
  test.for([['serve'], ['modern-only']])('lists its tools and is called: %s', async ([argument = '']) => {
    const { relay } = await serve('sdkServer', { argument })
    const list = await relay.request({ jsonrpc: '2.0', id: 'l', method: 'tools/list' })
    expect(list).toMatchObject({
      id: 'l',
      result: {
        tools: [
          { name: 'add' },
          { name: 'count' },
          { name: 'log' },
          { name: 'book' },
          { name: 'fail' },
          { name: 'grow' },
        ],
      },
    })
    const sum = await relay.request(call('add', { a: 2, b: 3 }))
    expect(sum).toMatchObject({ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: '5' }] } })
    expect(relay.server).toMatchObject({ name: 'sums', version: '2.3.4', capabilities: { tools: {} } })
  })

  test.for([['serve'], ['modern-only']])('tells that its tools have changed: %s', async ([argument = '']) => {
    const { relay, notifications } = await serve('sdkServer', { argument })
    await relay.request(call('grow'))
    const changed = () => notifications.map(({ method }) => method)
    await eventually(() => changed().includes('notifications/tools/list_changed'))
    expect(changed()).toContain('notifications/tools/list_changed')
  })

  test('tells of which revision it is', async () => {
    const { relay: older } = await serve('sdkServer')
    const { relay: newer } = await serve('sdkServer', { argument: 'modern-only' })
    expect([older.server.protocolVersion, newer.server.protocolVersion]).toEqual(['2025-11-25', '2026-07-28'])
    expect(await newer.request({ id: 1, method: 'initialize' })).toMatchObject({
      id: 1,
      result: { protocolVersion: '2026-07-28', serverInfo: { name: 'sums', version: '2.3.4' } },
    })
  })

  test('reports a failing tool in its result', async () => {
    const { relay } = await serve('sdkServer')
    expect(await relay.request(call('fail'))).toMatchObject({
      result: { isError: true, content: [{ text: 'not today' }] },
    })
  })
})

describe('what a server answers', () => {
  const answers = {
    'with unknown content blocks':
      '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"hologram","z":1,"a":{"deep":[null,true]}},{"text":"x","type":"text"},{"type":"image"},5]}}',
    'with unknown keys, in its own order':
      '{"jsonrpc":"2.0","result":{"zeta":1,"content":[],"alpha":{"b":1,"a":2},"resultType":"odd","isError":false},"id":7,"trace":"t-1"}',
    'with _meta':
      '{"jsonrpc":"2.0","id":7,"result":{"_meta":{"x/y":{"z":[1]},"progressToken":[]},"content":[]}}',
    'with a result that is no object': '{"jsonrpc":"2.0","id":7,"result":null}',
    'with an error':
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32055,"message":"no","data":{"b":[1],"a":null},"hint":"h"}}',
    'with an error of a missing resource':
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"gone","data":{"uri":"a://b","since":3}}}',
    'with an error that asks for a visit':
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"visit","data":{"elicitations":[],"more":1}}}',
    'with line separators in a string': '{"jsonrpc":"2.0","id":7,"result":{"text":"a\u2028b\u2029c\u0085d"}}',
  }

  test.for(Object.entries(answers))('%s arrives as it is', async ([, answer]) => {
    const { relay } = await serve('rawServer')
    const line = answer.replace('"id":7', '"id":$ID')
    expect(JSON.stringify(await relay.request(call('line', { line })))).toBe(answer)
  })

  test('after noise on stdout arrives, and the noise is logged', async () => {
    const { relay, lines } = await serve('rawServer')
    const noise = 'Server is listening!\n\n[1,2]\n"text"\n{"cut": \n'
    const answer = await relay.request(
      call('line', { line: `${noise}{"jsonrpc":"2.0","id":$ID,"result":{}}` }),
    )
    expect(answer).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    const logged = ['Server is listening!', '[1,2]', '"text"', '{"cut": ']
    expect(lines).toEqual(logged.map((line) => expect.stringContaining(line)))
  })

  test('without an outcome is an error', async () => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request(call('line', { line: '{"jsonrpc":"2.0","id":$ID}' }))
    expect(answer).toMatchObject({
      id: 7,
      error: { code: -32603, message: expect.stringContaining('"files"') },
    })
  })

  test('as its last words arrives before its end is told', async () => {
    const { relay } = await serve('rawServer')
    expect(await relay.request(call('lastWords'))).toMatchObject({ id: 7, result: { words: 'farewell' } })
    expect(await relay.closed).toEqual({ reason: 'exited with code 0' })
  })
})

describe('a request', () => {
  test('reaches the server with all its params, and nothing beside', async () => {
    const { relay } = await serve('rawServer')
    const request = call(
      'mirror',
      { z: 1, a: { '2': 1, '1': 2 } },
      { _meta: { 'x/y': 1, progressToken: [] }, more: [] },
    )
    const { result } = await relay.request({ ...request, ...{ comment: 'not JSON-RPC' } })
    const { id: _, ...received } = (result?.request ?? {}) as { id?: unknown }
    const { method, params } = request
    expect(JSON.stringify(received)).toBe(JSON.stringify({ jsonrpc: '2.0', method, params }))
  })

  test.for([['text'], [0], [-3], [null], ['']] as const)('is answered under its own id: %j', async ([id]) => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request({ ...call('log'), id })
    expect(answer).toEqual({ jsonrpc: '2.0', id, result: {} })
  })

  test('without an id is answered without one', async () => {
    const { relay } = await serve('rawServer')
    const { id: _, ...request } = call('log')
    expect(await relay.request(request)).toEqual({ jsonrpc: '2.0', result: {} })
  })

  test('of one id from two askers is answered to each', async () => {
    const { relay } = await serve('rawServer')
    const answers = await Promise.all([
      relay.request(call('mirror', { a: 1 })),
      relay.request(call('mirror', { a: 2 })),
    ])
    expect(answers.map(({ id, result }) => [id, result])).toMatchObject([
      [7, { request: { params: { arguments: { a: 1 } } } }],
      [7, { request: { params: { arguments: { a: 2 } } } }],
    ])
  })

  test('to initialize is answered with what the server said at its start, once', async () => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request({ jsonrpc: '2.0', id: 'i', method: 'initialize', params: {} })
    await relay.notify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(JSON.stringify(answer)).toBe(
      '{"jsonrpc":"2.0","id":"i","result":{"capabilities":{"tools":{"listChanged":true},"experimental":{"odd":{"kept":true}}},' +
        '"serverInfo":{"name":"raw","version":"0.0.1","extra":"kept"},"protocolVersion":"2025-11-25","unknown":[1],"instructions":"Be kind"}}',
    )
    expect(await relay.request(call('seen'))).toMatchObject({
      result: {
        seen: [{ method: 'initialize' }, { method: 'notifications/initialized' }, { method: 'tools/call' }],
      },
    })
  })

  test('to ping goes to the server', async () => {
    const { relay } = await serve('rawServer')
    expect(await relay.request({ id: 1, method: 'ping' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { pong: true },
    })
  })
})

describe('what the server starts itself', () => {
  test.for(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    '%s is declined',
    async (method) => {
      const { relay } = await serve('rawServer')
      expect(await relay.request(call('ask', { method }))).toMatchObject({
        id: 7,
        result: { answer: { id: 'my question', error: { code: -32601 } } },
      })
    },
  )

  test('ping is answered', async () => {
    const { relay } = await serve('rawServer')
    expect(await relay.request(call('ask', { method: 'ping' }))).toMatchObject({
      result: { answer: { id: 'my question', result: {} } },
    })
  })

  test('notifications are passed on as they are', async () => {
    const { relay, notifications, lines } = await serve('rawServer')
    const sent = [
      '{"params":{"extra":{"z":1,"a":2}},"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"odd","data":[]}}',
      '{"jsonrpc":"2.0","method":"notifications/x-own"}',
    ]
    await relay.request(
      call('line', { line: [...sent, '{"jsonrpc":"2.0","id":$ID,"result":{}}'].join('\n') }),
    )
    expect(notifications.map((each) => JSON.stringify(each))).toEqual(sent)
    expect(lines).toEqual([])
  })

  test('stderr is logged, to its last unfinished line', async () => {
    const { relay, lines } = await serve('rawServer')
    await relay.request(call('log'))
    await relay.close()
    await eventually(() => lines.length === 2)
    expect(lines).toEqual(['one', 'two without an end'])
  })

  test('its environment is exactly what was passed', async () => {
    const { relay } = await serve('rawServer', { env: { ONLY: 'this' } })
    const { result } = await relay.request(call('env'))
    const { __CF_USER_TEXT_ENCODING: _, MEUP_RUN: __, ...env } = (result?.env ?? {}) as Record<string, string>
    expect(env).toEqual({ ONLY: 'this' })
  })
})
