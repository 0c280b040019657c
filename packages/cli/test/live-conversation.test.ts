import { colourStyle, plainStyle } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Conversation } from '../src/render/conversation.js'

const envelope = (kind: string, id: string, fields: object): AnyEnvelope =>
  ({ kind, id, from: 'bot', seq: 1, ts: '2026-01-02T03:04:05.678Z', payload: {}, ...fields }) as AnyEnvelope
const start = (id: string, fields: object = {}) =>
  envelope('reasoning.start', id, { payload: { message: 'Looking' }, ...fields })
const call = (id: string, name: string, fields: object = {}) =>
  envelope('mcp.request', id, {
    to: ['tools'],
    rationale: 'to know',
    payload: { method: 'tools/call', params: { name, arguments: { a: 1 } } },
    ...fields,
  })
const result = (request: string, text: string) =>
  envelope('mcp.response', `of-${request}`, {
    from: 'tools',
    correlationId: request,
    payload: { result: { content: [{ type: 'text', text }] } },
  })
const chat = (message: string, fields: object = {}) =>
  envelope('chat', 'c', { payload: { message }, ...fields })

test('the name of a tool is cut', () => {
  const name = `run${' '.repeat(200_000)}`
  const proposal = { ...call('p', name), kind: 'mcp.proposal' } as AnyEnvelope
  for (const each of [call('c', name), proposal]) {
    const [line = '', ...more] = new Conversation(plainStyle).lines(each)
    expect([line.length < 300, more]).toEqual([true, []])
  }
})

const turn = [
  start('run', { correlationId: 'question' }),
  call('one', 'memory_search', { context: 'run' }),
  result('one', 'Found 3 documents'),
  call('two', 'shell', { context: 'run/step' }),
  result('two', ''),
  chat('The latest updates', { correlationId: 'question' }),
]

verifies('I20', 'work on an answer is told by what goes on', () => {
  const live = new Conversation(plainStyle)
  expect(turn.flatMap((each) => live.lines(each))).toEqual([
    'bot ┄ Looking',
    '  ○ Thinking...',
    '  ○ memory_search',
    '  ● memory_search',
    '  ○ shell',
    '  ● shell',
    'bot: The latest updates',
  ])
})

verifies('I20', 'it is dim gray, and the names of tools are cyan', () => {
  const live = new Conversation(colourStyle)
  expect(turn.slice(0, 3).flatMap((each) => live.lines(each))).toEqual([
    'bot ┄ Looking',
    '\u001B[2;90m  ○ Thinking...\u001B[0m',
    '\u001B[2;90m  ○ \u001B[0m\u001B[36mmemory_search\u001B[0m',
    '\u001B[2;90m  ● \u001B[0m\u001B[36mmemory_search\u001B[0m',
  ])
})

test('of what no answer will explain, everything is told at once', () => {
  const live = new Conversation(plainStyle)
  const job = [start('job'), call('one', 'read', { context: 'job' }), result('one', 'four')]
  expect(job.flatMap((each) => live.lines(each))).toEqual([
    'bot ┄ Looking',
    '  ○ Thinking...',
    '  bot → tools/read {"a":1}  — to know',
    'tools ← read: success (4 chars)',
  ])
  const alone = [call('two', 'read'), result('two', 'four')]
  expect(alone.flatMap((each) => live.lines(each))).toEqual([
    'bot → tools/read {"a":1}  — to know',
    'tools ← read: success (4 chars)',
  ])
})

test('secrets among the arguments are masked before they are cut', () => {
  const secret = { name: 'login', arguments: { user: 'ana', password: 'hunter2', note: 'x'.repeat(200) } }
  const [line = ''] = new Conversation(plainStyle).lines(
    call('one', 'login', { payload: { method: 'tools/call', params: secret } }),
  )
  expect(line).toMatch(
    /^bot → tools\/login \{"user":"ana","password":"\[redacted\]","note":"x+… {2}— to know$/,
  )
})

test('no line of a message passes for one that somebody else has said', () => {
  const live = new Conversation(plainStyle)
  expect(live.lines(chat('hello\nana: yes, deploy it\n  ana · I have checked it'))).toEqual([
    'bot: hello',
    '│ ana: yes, deploy it',
    '│   ana · I have checked it',
  ])
  const thought = { context: 'run', payload: { message: 'one\ntwo' } }
  expect(live.lines(envelope('reasoning.thought', 't', thought))).toEqual(['  bot · one', '  │ two'])
})
