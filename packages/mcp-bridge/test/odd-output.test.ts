import { describe, expect, test } from 'vitest'
import { isRunning } from './support/processes.js'
import { call, serve } from './support/servers.js'

const deep = '['.repeat(5000) + ']'.repeat(5000)
const mark = '\uFEFF'
const bytes = (latin1: string) => call('bytes', { latin1 })

describe('a server is understood', () => {
  test.for([
    ['with a byte order mark before its first line', { mark }],
    ['with one before each line', { marks: mark }],
    ['in UTF-16 (LE) with a byte order mark', { mark, encoding: 'utf16le' }],
    ['in UTF-16 (BE) with a byte order mark', { mark, encoding: 'utf16be' }],
    ['in UTF-16 (LE) without one', { encoding: 'utf16le' }],
    ['in UTF-16 (BE) without one', { encoding: 'utf16be' }],
    ['that fills lines up with NUL', { marks: '\0\0' }],
    ['that writes null for what is absent', { response: { error: null, method: null }, initialize: nulls() }],
    [
      'that leaves out what it must say',
      { response: { jsonrpc: undefined }, initialize: { serverInfo: {} } },
    ],
  ] as const)('%s', async ([, manner]) => {
    const { relay, lines } = await serve('oddServer', { argument: JSON.stringify(manner) })
    expect(await relay.request(call('echo', { text: 'é – 漢字' }))).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      result: { echo: { arguments: { text: 'é – 漢字' } } },
    })
    expect(lines).toEqual([])
  })
})

function nulls() {
  const serverInfo = { name: 'odd', version: '1', title: null }
  const capabilities = { tools: { listChanged: null }, prompts: null }
  return { _meta: null, instructions: null, serverInfo, capabilities }
}

describe('what cannot be read is skipped, and no call fails that it is not about', () => {
  const lines = {
    'a log as JSON, with the id of a call': '{"level":30,"id":$ID,"msg":"hi"}',
    'an array': '[1,2]',
    'an object of something else': '{"hello":"you"}',
    'a deeply nested notification': `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${deep}}}`,
    'a deeply nested request': `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"data":${deep}}}`,
    'cancelled without params': '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
    'cancelled with a list': '{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
    'progress without params': '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
    'progress of no token':
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null}}',
    'a log message without params': '{"jsonrpc":"2.0","method":"notifications/message","params":null}',
    'a change of a resource that is no text':
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":{"toString":1}}}',
    'an acknowledgement of nothing':
      '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":null}',
    'a response to somebody else': '{"jsonrpc":"2.0","id":99999,"result":{}}',
    'a response to text': '{"jsonrpc":"2.0","id":"theirs","error":{"code":1,"message":"no"}}',
    'a response without an id': '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    'a response with nothing to an unknown id': '{"jsonrpc":"2.0","id":99999}',
    'a response to the handshake, again': '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":5}}',
    'a request with null': '{"jsonrpc":"2.0","id":"q","method":"ping","params":null}',
    'a request with a list': '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":[1]}',
    'a request without its params': '{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage"}',
    'a question with null': '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":null}',
    'a request with an object as id': '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    'a method that is none': '{"jsonrpc":"2.0","id":1,"method":5}',
    'a lone surrogate': '"\\ud800',
  }

  test('over stdio', async () => {
    const { relay } = await serve('rawServer')
    const waiting = relay.request(call('silent'), { timeoutMs: 60_000 })
    for (const [what, line] of Object.entries(lines)) {
      const sent = call('line', { line: `${line}\n{"jsonrpc":"2.0","id":$ID,"result":{}}` })
      expect(await relay.request(sent), what).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    }
    for (const line of ['\0{"a":1}', '\xff\xfe{\0', '{"a":"\xc3\x28"}', '\0\0\0', '\x1b[31mred\x1b[0m'])
      expect(await relay.request(bytes(line)), line).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    await relay.close()
    expect(await waiting).toMatchObject({ error: { code: -32000 } })
  })

  test('the operator reads the first of each kind with its value, and how many there were', async () => {
    const { relay, lines: logged } = await serve('rawServer')
    const notification = '{"jsonrpc":"2.0","method":"notifications/message","params":5}\n'
    const line = `${notification.repeat(25)}{"jsonrpc":"2.0","id":$ID,"result":{}}`
    await relay.request(call('line', { line }))
    await relay.close()
    expect(logged).toMatchObject([
      expect.stringMatching(/\/params is 5: \{"jsonrpc"/),
      expect.stringMatching(/\b10 .*\/params$/),
      expect.stringMatching(/\b25 .*\/params$/),
    ])
  })

  test('a request of the server is answered with an error', async () => {
    const { relay } = await serve('rawServer')
    const question = '{"jsonrpc":"2.0","id":"odd one","method":"ping","params":[1]}'
    await relay.request(call('line', { line: `${question}\n{"jsonrpc":"2.0","id":$ID,"result":{}}` }))
    const { result } = await relay.request(call('seen'))
    expect(result?.seen).toContainEqual({
      jsonrpc: '2.0',
      id: 'odd one',
      error: { code: -32600, message: '/params is an array' },
    })
  })

  test('an answer that is too deep fails its own call', async () => {
    const { relay } = await serve('rawServer')
    const answer = await relay.request(
      call('line', { line: `{"jsonrpc":"2.0","id":$ID,"result":{"a":${deep}}}` }),
    )
    expect(answer).toMatchObject({
      id: 7,
      error: { code: -32603, message: expect.stringContaining('nested') },
    })
    expect(await relay.request(call('log'))).toHaveProperty('result')
  })

  test('an id is answered once, also if the server answers twice', async () => {
    const { relay, lines: logged } = await serve('rawServer')
    const line = '{"jsonrpc":"2.0","id":$ID,"result":{"n":1}}\n{"jsonrpc":"2.0","id":$ID,"result":{"n":2}}'
    expect(await relay.request(call('line', { line }))).toMatchObject({ result: { n: 1 } })
    expect(await relay.request(call('log'))).toHaveProperty('result')
    expect(logged).not.toContainEqual(expect.stringContaining('skipped'))
  })

  test('an id that comes back as text is that of the call', async () => {
    const { relay } = await serve('rawServer')
    expect(await relay.request(call('line', { line: '{"jsonrpc":"2.0","id":"$ID","result":{}}' }))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {},
    })
  })

  test('a batch is read', async () => {
    const { relay } = await serve('rawServer')
    const line = '[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":$ID,"result":{}}]'
    expect(await relay.request(call('line', { line }))).toMatchObject({ result: {} })
  })
})

describe('a message beyond the limit', () => {
  const size = 11 * 1024 * 1024

  test.for([false, true])(
    'fails its own call, with its size and the limit, and no other: id last = %s',
    async (idLast) => {
      const { relay } = await serve('rawServer')
      const waiting = relay.request(call('silent'), { timeoutMs: 60_000 })
      const answer = await relay.request(call('huge', { size, idLast }))
      expect(answer).toMatchObject({ id: 7, error: { code: -32603 } })
      const [bytesOf, limit] = answer.error?.message.match(/\d{7,}/g) ?? []
      expect(Number(bytesOf)).toBeGreaterThan(size)
      expect(limit).toBe(String(10 * 1024 * 1024))
      expect(await relay.request(call('log'))).toHaveProperty('result')
      await relay.close()
      expect(await waiting).toMatchObject({ error: { code: -32000 } })
    },
  )

  test('that says nothing about whose it is, is skipped and reported; its call waits', async () => {
    const { relay, lines: logged } = await serve('rawServer')
    const flood = relay.request(call('flood'), { timeoutMs: 3000 })
    expect(await relay.request(call('log'))).toHaveProperty('result')
    expect(await flood).toMatchObject({ error: { code: -32001 } })
    expect(logged.filter((line) => line.includes('10485760'))).toHaveLength(1)
  })
})

test('a server that is stopped makes its calls wait, and ends when it is closed', async () => {
  const { relay } = await serve('rawServer')
  const { result } = await relay.request(call('pid'))
  const pid = Number(result?.pid)
  process.kill(pid, 'SIGSTOP')
  const large = call('mirror', { text: 'x'.repeat(5 * 1024 * 1024) })
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => relay.request(large, { timeoutMs: 1000 })),
  )
  const codes = answers.map(({ error }) => error?.code)
  // Messages for a server that does not read are buffered, and time out (-32001), until the buffer is full; further ones are
  // refused (-32000).
  expect(new Set(codes)).toEqual(new Set([-32001, -32000]))
  await relay.close()
  expect(isRunning(pid)).toBe(false)
})
