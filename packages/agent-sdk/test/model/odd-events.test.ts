import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import {
  completion,
  delta,
  events,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import { getToolCalls, stage } from './stage.js'

const json = '{"a":2,"b":3}'
const named = { name: 'desk__add', arguments: json }
const call = { index: 0, id: 'c', function: named }

/** Asks an agent whose model sends these replies. */
async function asked(...replies: readonly ModelReply[]) {
  const { baseURL, requests } = await serveModel(replies)
  await using here = await stage([], { model: 'm', baseURL, settings: { maxRetries: 0 } })
  const text = (await here.ask()).replace(baseURL, '*')
  return { text, calls: getToolCalls(here), requests, log: JSON.stringify(here.heard.all) }
}

const message = (said: object): object => ({
  choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: 'stop' }],
})

describe('a call is made that comes', () => {
  const pieces = (fields: object, more: object = {}) => [
    { tool_calls: [{ ...fields, function: { name: 'desk__add', arguments: '{"a":2,' } }] },
    { tool_calls: [{ ...fields, ...more, function: { arguments: '"b":3}' } }] },
  ]
  test.for<readonly [how: string, body: string]>([
    ['in the field of old', completion('function_call', { function_call: named })],
    [
      'in the field of old, in pieces',
      completion(
        'function_call',
        { function_call: { name: 'desk__add', arguments: '{"a":2,' } },
        { function_call: { arguments: '"b":3}' } },
      ),
    ],
    ['in a whole message', events(message({ content: null, tool_calls: [call] }), '[DONE]')],
    ['in a whole message, in the field of old', events(message({ function_call: named }), '[DONE]')],
    ['alone, without a list', completion('tool_calls', { tool_calls: call })],
    [
      'without a function around it',
      completion('tool_calls', { tool_calls: [{ index: 0, id: 'c', ...named }] }),
    ],
    [
      'with its name after its id',
      completion(
        'tool_calls',
        { tool_calls: [{ index: 0, id: 'c' }] },
        { tool_calls: [{ index: 0, function: named }] },
      ),
    ],
    ['with an index that is a text', completion('tool_calls', ...pieces({ index: '0', id: 'c' }))],
    ['with an id that is a number', completion('tool_calls', ...pieces({ index: 0, id: 7 }))],
    [
      'with an empty object for its arguments, then with them',
      completion(
        'tool_calls',
        { tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: {} } }] },
        { tool_calls: [{ index: 0, function: { arguments: json } }] },
      ),
    ],
    ['without an index', completion('tool_calls', ...pieces({ id: 'c' }))],
    ['without an id', completion('tool_calls', ...pieces({ index: 0 }))],
  ])('%s', async ([, body]) => {
    const { text, calls } = await asked({ body }, saying('It is 5.'))
    expect(text).toBe('It is 5.')
    expect(calls).toEqual([{ name: 'add', arguments: { a: 2, b: 3 } }])
  })
})

const said = 'Größe: 5 € 😀 — 五'
const usual = completion('stop', { content: 'Größe: 5 €' }, { content: ' 😀 — 五' })

describe('an answer is read that comes', () => {
  test.for<readonly [how: string, body: string]>([
    ['in a whole message', events(message({ content: said }), '[DONE]')],
    [
      'in parts',
      completion('stop', {
        content: [
          { type: 'text', text: 'Größe: 5 €' },
          { type: 'text', text: ' 😀 — 五' },
        ],
      }),
    ],
    ['in lines that end with CR', usual.replaceAll('\n', '\r')],
    ['in lines that end with CRLF', usual.replaceAll('\n', '\r\n')],
    ['without blank lines', usual.replaceAll('\n\n', '\n')],
    ['without the last line break', usual.trimEnd()],
    ['with more blanks', usual.replaceAll('data: ', 'data:   ')],
    [
      'with comments and names of events',
      usual.replaceAll('data: ', ': ping\n\nevent: message\nid: 1\ndata: '),
    ],
    ['with an end in small letters', usual.replace('[DONE]', '[done]')],
    ['behind a mark of the order of bytes', `\ufeff${usual}`],
  ])('%s', async ([, body]) => {
    const bytes = new TextEncoder().encode(body)
    for (const size of [1, 7, bytes.length]) {
      const count = Math.ceil(bytes.length / size)
      const cut = Array.from({ length: count }, (_, at) => bytes.slice(at * size, (at + 1) * size))
      expect((await asked({ body: cut })).text).toBe(said)
    }
  })
})

test('an answer that is called another type is read', async () => {
  const headers = { 'content-type': 'application/json' }
  expect((await asked({ headers, body: usual.replaceAll('\n', '\r') })).text).toBe(said)
})

test.for<readonly [how: string, pieces: readonly object[]]>([
  [
    'an object',
    [{ tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__add', arguments: { a: 2, b: 3 } } }] }],
  ],
  ['after a content in parts', [{ content: [{ type: 'reasoning', text: 'RAW' }] }, { tool_calls: [call] }]],
])('a call is made of a provider that its user brings: %s', async ([, pieces]) => {
  const { baseURL } = await serveModel([{ body: completion('tool_calls', ...pieces) }, saying('It is 5.')])
  await using here = await stage([], { model: createOpenAI({ baseURL, apiKey: 'k' }).chat('gpt-4o') })
  expect(await here.ask()).toBe('It is 5.')
  expect(getToolCalls(here)).toEqual([{ name: 'add', arguments: { a: 2, b: 3 } }])
  expect(JSON.stringify(here.heard.all)).not.toContain('RAW')
})

test.for<readonly [how: string, content: object]>([
  ['a list of summaries', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'RAW' }] }],
  ['a list of texts', { type: 'thinking', thinking: [{ type: 'text', text: 'RAW' }] }],
  ['a text', { type: 'reasoning', text: 'RAW' }],
])('thoughts in parts of the content are thoughts: %s', async ([, part]) => {
  const { text, log, requests } = await asked(
    { body: completion('tool_calls', { content: [part] }, { content: 'Adding.' }, { tool_calls: [call] }) },
    saying('It is 5.'),
  )
  expect(text).toBe('It is 5.')
  expect(log).toContain('Adding.')
  expect(log).toContain('"reasoning":"full"')
  expect(log + JSON.stringify(requests[1]?.body)).not.toContain('RAW')
})

test.for<readonly [how: string, event: object]>([
  ['an object of its own', { object: 'error', message: 'out of memory', code: 500 }],
  ['a field', { error: { message: 'out of memory' } }],
  ['a text', { error: 'out of memory' }],
])('an error in the midst is told in the words of its server: %s', async ([, event]) => {
  const { text } = await asked({ body: events(delta({ content: 'It' }), event) })
  expect(text).toBe('I could not answer: m at * failed: out of memory')
})
