import { describe, expect, test } from 'vitest'
import { readDropped } from '../src/relay/dropped-message.js'
import { readInitializeResult } from '../src/relay/initialize-result.js'
import { readMessages } from '../src/relay/read-message.js'

const read = (text: string, asked?: number) =>
  readMessages(text, { asked }).map((reading) => ('message' in reading ? reading.message : reading.fault))

describe('a message is read as what it means for certain', () => {
  test.for([
    ['no jsonrpc', '{"id":1,"result":{}}', { jsonrpc: '2.0', id: 1, result: {} }],
    ['another jsonrpc', '{"jsonrpc":"1.0","method":"x"}', { jsonrpc: '2.0', method: 'x' }],
    [
      'error null',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":null}',
      { jsonrpc: '2.0', id: 1, result: {} },
    ],
    [
      'result null beside an error',
      '{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"no"}}',
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } },
    ],
    ['result null', '{"jsonrpc":"2.0","id":1,"result":null}', { jsonrpc: '2.0', id: 1, result: null }],
    [
      'method null in a response',
      '{"jsonrpc":"2.0","id":1,"method":null,"result":{}}',
      { jsonrpc: '2.0', id: 1, result: {} },
    ],
    ['params null', '{"jsonrpc":"2.0","method":"x","params":null}', { jsonrpc: '2.0', method: 'x' }],
    [
      'id null in a notification',
      '{"jsonrpc":"2.0","id":null,"method":"x"}',
      { jsonrpc: '2.0', method: 'x' },
    ],
    [
      'an error that is a text',
      '{"jsonrpc":"2.0","id":1,"error":"boom"}',
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'boom' } },
    ],
  ] as const)('%s', ([, text, message]) => {
    expect(read(text)).toEqual([message])
  })

  test('a batch is its messages, each on its own', () => {
    const batch = '[{"jsonrpc":"2.0","id":1,"result":{}},5,{"jsonrpc":"2.0","method":"x"}]'
    expect(read(batch)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      expect.objectContaining({ problem: 'it is not an object but a number' }),
      { jsonrpc: '2.0', method: 'x' },
    ])
  })

  test('a response without an id is for the only request that it can be for', () => {
    expect(read('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}', 7)).toMatchObject([
      { id: 7 },
    ])
  })

  test('any other message is the same object, in the order of its members', () => {
    const text = '{"result":{"z":null},"id":3,"jsonrpc":"2.0","more":null}'
    expect(JSON.stringify(read(text)[0])).toBe(text)
    expect(readMessages(text)).toMatchObject([{ isChanged: false }])
  })
})

describe('a message that cannot be read', () => {
  const deep = '['.repeat(5000) + ']'.repeat(5000)
  test.for([
    ['Server is listening!', { problem: 'it is not JSON' }],
    ['{"cut":', { problem: 'it is broken JSON' }],
    ['\0\0{}', { problem: expect.stringContaining('NUL') }],
    ['null', { problem: 'it is not an object but null' }],
    ['[]', { problem: 'it is not an object but an array' }],
    ['{"level":30,"id":1000,"msg":"hi"}', { problem: 'it has no jsonrpc, which an answer requires' }],
    ['{"jsonrpc":"2.0","id":{},"result":1}', { problem: '/id is an object', kind: '/id' }],
    ['{"jsonrpc":"2.0","result":1}', { problem: '/id is missing', kind: '/id' }],
    ['{"jsonrpc":"2.0","method":5}', { problem: '/method is 5', kind: '/method' }],
    ['{"jsonrpc":"2.0","method":"x","params":[1]}', { problem: '/params is an array' }],
    ['{"jsonrpc":"2.0","id":"q","method":"x","params":5}', { problem: '/params is 5', requestId: 'q' }],
    [`{"jsonrpc":"2.0","method":"x","params":{"a":${deep}}}`, { problem: 'it is nested more than 500 deep' }],
    [`{"jsonrpc":"2.0","id":9,"result":{"a":${deep}}}`, { responseTo: 9 }],
  ] as const)('says what is wrong with it, and whose it is: %s', ([text, fault]) => {
    expect(read(text)).toMatchObject([fault])
  })

  test('is quoted, cut', () => {
    expect(read(`hello ${'x'.repeat(1000)}`)).toMatchObject([{ text: `hello ${'x'.repeat(194)}` }])
  })
})

describe('of a message that is too long to be kept', () => {
  const filler = 'x'.repeat(70_000)
  const dropped = (text: string) =>
    readDropped({ bytes: text.length, head: text.slice(0, 65_536), tail: text.slice(-65_536) }, 1000)

  test.for([
    ['first', `{"jsonrpc":"2.0","id":7,"result":"${filler}"}`, { responseTo: 7 }],
    ['first, as text', `{"id" : "a\\"b", "result":"${filler}"}`, { responseTo: 'a"b' }],
    ['last', `{"jsonrpc":"2.0","result":"${filler}","id":7}`, { responseTo: 7 }],
    ['before the last', `{"result":"${filler}","id":7,"jsonrpc":"2.0"} \r`, { responseTo: 7 }],
    ['after a small object', `{"_meta":{"id":1,"a":["}"]},"id":7,"result":"${filler}"}`, { responseTo: 7 }],
    ['of a request', `{"id":7,"params":{"x":"${filler}"},"method":"x"}`, { requestId: 7 }],
    ['in an event', `id: 3\ndata: {"id":7,"result":"${filler}"}\n\n`, { responseTo: 7 }],
  ] as const)('the id is found: %s', ([, text, fault]) => {
    expect(dropped(text)).toMatchObject({
      problem: expect.stringContaining(`${text.length} bytes`),
      ...fault,
    })
  })

  test.for([
    ['within a result', `{"result":{"id":7,"text":"${filler}"}}`],
    ['within a text at the end', `{"result":"${filler},\\"id\\":7}"}`],
    ['within a result at the end', `{"result":{"text":"${filler}","id":7}}`],
    ['cut off', `{"jsonrpc":"2.0","result":"${filler}`],
    ['in no JSON', filler],
  ] as const)('an id that is none of its own is not taken for it: %s', ([, text]) => {
    expect(dropped(text)).not.toHaveProperty('responseTo')
    expect(dropped(text)).not.toHaveProperty('requestId')
  })
})

describe('what a server says of itself', () => {
  const usual = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1' },
  }

  test.for([
    ['no version', { serverInfo: { name: 'odd' } }, { serverInfo: { name: 'odd', version: 'unknown' } }],
    [
      'a version that is a number',
      { serverInfo: { name: 'odd', version: 2 } },
      { serverInfo: { version: '2' } },
    ],
    ['no serverInfo', { serverInfo: null }, { serverInfo: { name: 'unknown' } }],
    ['no capabilities', { capabilities: null }, { capabilities: {} }],
    [
      'capabilities as flags',
      { capabilities: { tools: true, prompts: false } },
      { capabilities: { tools: {} } },
    ],
    [
      'null for what is absent',
      { instructions: null, _meta: null, capabilities: { tools: { listChanged: null }, prompts: null } },
      { capabilities: { tools: {} } },
    ],
    [
      'a title that is none',
      { serverInfo: { name: 'odd', version: '1', title: 5 } },
      { serverInfo: usual.serverInfo },
    ],
    ['instructions that are none', { instructions: ['a'] }, usual],
  ] as const)('is read leniently: %s', ([, members, result]) => {
    const reading = readInitializeResult({ ...usual, ...members })
    expect(reading).toMatchObject({ result })
    expect(reading).not.toHaveProperty('result.instructions')
  })

  test.for([
    ['no revision', {}, '/protocolVersion is missing'],
    ['a revision that is none', { protocolVersion: 5 }, '/protocolVersion is 5'],
  ] as const)('is refused in one sentence, with the member: %s', ([, members, part]) => {
    const { protocolVersion: _, ...rest } = usual
    const reading = readInitializeResult({ ...rest, ...members })
    expect(reading).toEqual({ problem: expect.stringContaining(part) })
  })
})
