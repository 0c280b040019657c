import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { readUpdate } from '../src/agent-updates.js'
import { listCalls, startCoder, usual } from './support/coder.js'

const own = { tool: 'coder/*' } as const
const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64')
const done = { sessionUpdate: 'tool_call', toolCallId: 'x', title: 'x', status: 'completed' }

describe('an update is read leniently', () => {
  test.each([
    [{ newText: null }, { newText: '', deleted: true }],
    [{}, { newText: '', deleted: true }],
    [
      { oldText: 5, newText: 'n' },
      { oldText: '', newText: 'n' },
    ],
  ])('a diff with %j has texts', (fields, expected) => {
    const update = { ...done, content: [{ type: 'diff', path: '/a', oldText: '', ...fields }] }
    expect(readUpdate({ sessionId: 's', update })).toMatchObject({
      update: { fields: { diffs: [{ path: '/a', ...expected }] } },
    })
  })

  test.each([
    ['a text', 'hello'],
    ['a block', { type: 'text', text: 'hello' }],
    ['a list', [null, { type: 'text', text: 'hello' }]],
    ['a block without a type', { text: 'hello' }],
  ])('the content of a chunk may be %s', (_, content) => {
    const update = { sessionUpdate: 'agent_message_chunk', content }
    expect(readUpdate({ sessionId: 's', update }).update).toEqual({ type: 'text', text: 'hello' })
  })

  test.each([
    ['params', null],
    ['params.sessionId', { update: done }],
    ['params.update', { sessionId: 's' }],
    ['params.update.sessionUpdate', { sessionId: 's', update: {} }],
    ['params.update.content', { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk' } }],
    [
      'params.update.content',
      { sessionId: 's', update: { sessionUpdate: 'agent_thought_chunk', content: {} } },
    ],
    ['params.update.entries', { sessionId: 's', update: { sessionUpdate: 'plan', entries: null } }],
    ['params.update.toolCallId', { sessionId: 's', update: { sessionUpdate: 'tool_call' } }],
  ])('what lacks %s is refused with the path', (path, params) => {
    expect(() => readUpdate(params)).toThrow(`${path} is `)
  })
})

describe('nothing that an agent sends ends it, the session or the bridge', () => {
  test('updates that are not quite of the schema', async () => {
    const { ask, log } = await startCoder({ capabilities: [...usual, own] })
    const odd = [
      { content: [{ type: 'diff', path: '/a', oldText: 'o', newText: null }] },
      { locations: [null] },
      { locations: { path: '/a' } },
      { content: null },
      { content: {} },
      { content: [null] },
      { content: 'text' },
      { content: [{ type: 'content', content: null }] },
      { content: [{ type: 'content', content: 'text' }] },
      { title: null, kind: 5, rawInput: null, rawOutput: null, _meta: null, status: 'completed' },
    ]
    const updates = odd.map((fields, at) => ['update', { ...done, ...fields, toolCallId: `c${at}` }] as const)
    expect(await ask(...updates, ['text', 'Done.'])).toBe('Done.')
    expect(listCalls(log)).toHaveLength(odd.length)
  })

  test('messages that cannot be read are skipped; the first of each kind is reported with the field', async () => {
    const { ask, lines } = await startCoder()
    const unreadable = [
      null,
      5,
      [],
      {},
      { sessionUpdate: null },
      { sessionUpdate: 'plan' },
      { sessionUpdate: 'plan', entries: {} },
      { sessionUpdate: 'agent_message_chunk' },
      { sessionUpdate: 'agent_message_chunk', content: null },
      { sessionUpdate: 'tool_call_update' },
    ]
    expect(await ask(...unreadable.map((update) => ['update', update] as const), ['text', 'Done.'])).toBe(
      'Done.',
    )
    const skipped = 'skipped a message of the agent: it cannot be read: session/update: params.update'
    expect(lines.filter((line) => line.includes('skipped'))).toEqual([
      `${skipped} is null`,
      `${skipped}.sessionUpdate is absent`,
      `${skipped}.entries is absent`,
      `${skipped}.content is absent`,
      `${skipped}.toolCallId is absent`,
    ])
    expect(lines.join('\n')).not.toContain('\n    at ')
  })

  test.each([
    ['no options', { options: null, toolCall: { toolCallId: 'c1' } }],
    ['options that are none', { options: [null, 5, {}], toolCall: { toolCallId: 'c1' } }],
    ['no call', { options: [], toolCall: null }],
    ['a call without an id', { options: [], toolCall: {} }],
  ])('a permission with %s is cancelled, and everyone reads it', async (_, params) => {
    const { ask, notes, seen } = await startCoder({ capabilities: [...usual, own] })
    expect(await ask(['permission', params], ['text', 'Then not.'])).toBe('Then not.')
    expect(notes()).toContainEqual({ permission: { outcome: 'cancelled' } })
    expect(await seen(Kind.reasoningThought)).toMatchObject({ payload: { phase: 'error' } })
  })

  test('bytes that are no messages', async () => {
    const { ask, lines } = await startCoder()
    const message = '{"jsonrpc":"2.0","method":"x"}\n'
    expect(
      await ask(
        ['bytes', base64(`\uFEFF${message}`)],
        ['bytes', base64(Buffer.from(message, 'utf16le'))],
        ['bytes', base64(Buffer.from([0, 0, 0, 10]))],
        ['bytes', base64(Buffer.from([0xff, 0xfe, 0xc3, 10]))],
        ['bytes', base64('[{"jsonrpc":"2.0","id":1,"method":"x"}]\n')],
        ['bytes', base64('{"jsonrpc":"2.0","id":0,"error":null}\n')],
        ['bytes', base64('{"jsonrpc":"2.0","id":{},"method":7}\n')],
        ['bytes', base64('{"jsonrpc":"2.0"}\n')],
        ['text', 'Done.'],
      ),
    ).toBe('Done.')
    expect(lines.filter((line) => line.includes('not JSON-RPC'))).toHaveLength(1)
  })

  test('a line that is too long is skipped, and reported', async () => {
    const { ask, lines } = await startCoder()
    expect(await ask(['line', 16 * 1024 * 1024], ['text', 'Done.'])).toBe('Done.')
    expect(lines.filter((line) => line.includes('too long'))).toHaveLength(1)
  })

  test('a question that is too long to be read is answered', async () => {
    const { ask, notes } = await startCoder()
    const params = { options: [], toolCall: { toolCallId: 'c1' } }
    expect(await ask(['large', params, 9 * 1024 * 1024], ['text', 'Done.'])).toBe('Done.')
    expect(notes()).toContainEqual({ permission: { outcome: 'cancelled' } })
  })

  test('messages with another id are other paragraphs', async () => {
    const { ask } = await startCoder()
    const chunk = (messageId: string, text: string) =>
      [
        'update',
        { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } },
      ] as const
    expect(await ask(chunk('a', 'First '), chunk('a', 'I look'), chunk('b', 'Then'))).toBe(
      'First I look\n\nThen',
    )
  })
})
