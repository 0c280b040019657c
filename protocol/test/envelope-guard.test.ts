import { isGuarded, type Tail, type Utterance } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { found, guardian, pass, readText, tailOf } from './toy-guard.js'

const nothing = { findings: [], withheld: 0 }
const thought = (message: string, fields: Partial<Utterance> = {}) => ({
  context: 'run',
  payload: { message },
  ...fields,
})

describe('of reasoning', () => {
  test('every string is guarded, keys included', () => {
    const payload = { message: 'a secret', deep: [{ secret: 'my secret' }], metadata: { model: 'x', n: 1 } }
    expect(guardian()({ kind: 'reasoning.observation', context: 'run', payload })).toEqual({
      payload: {
        message: 'a [redacted]',
        deep: [{ '[redacted]': 'my [redacted]' }],
        metadata: { model: 'x', n: 1 },
      },
      findings: [found('word', 'mask')],
      withheld: 0,
    })
  })

  test('nothing changes where nothing is found', () => {
    expect(guardian()(thought('all is well'))).toEqual(nothing)
  })

  test('a blocked message is emptied and marked, other texts are emptied', () => {
    const payload = {
      n: 1,
      message: 'evil',
      phase: 'plan',
      note: 'evil',
      metadata: { model: 'x', withheld: 0 },
    }
    expect(guardian()({ context: 'run', payload })).toEqual({
      payload: {
        n: 1,
        message: '',
        phase: 'plan',
        note: '',
        metadata: { model: 'x', withheld: true },
      },
      findings: [found('evil', 'block')],
      withheld: 2,
    })
    expect(guardian()(thought('evil')).payload).toEqual({ message: '', metadata: { withheld: true } })
    const odd = { kind: 'reasoning.odd', payload: { message: 'evil', metadata: 'text' } }
    expect(guardian()({ ...odd, context: 'run' }).payload).toEqual({
      message: '',
      metadata: { withheld: true },
    })
    const cancel = { kind: 'reasoning.cancel', context: 'run', payload: { reason: 'evil' } }
    expect(guardian()(cancel).payload).toEqual({ reason: '' })
  })
})

describe('of other kinds', () => {
  test('the metadata is guarded, and nothing else', () => {
    const payload = { message: 'secret', metadata: { note: 'secret', evil: ['evil'] }, metadata2: 'secret' }
    expect(guardian()({ kind: 'chat', payload })).toEqual({
      payload: { message: 'secret', metadata: { note: '[redacted]', '': [''] }, metadata2: 'secret' },
      findings: [found('word', 'mask'), found('evil', 'block')],
      withheld: 2,
    })
    expect(guardian()({ kind: 'acme.thing', payload: { metadata: 'secret' } }).payload).toEqual({
      metadata: '[redacted]',
    })
  })

  test('MCP payloads are left alone, whatever they are called', () => {
    const payload = { result: { secret: 'secret' }, metadata: { secret: 'secret' } }
    expect(guardian()({ kind: 'mcp.response', payload })).toEqual(nothing)
  })
})

describe('a rationale', () => {
  const call = (fields: Partial<Utterance> = {}) => ({
    kind: 'mcp.request',
    payload: { method: 'tools/call', params: { name: 'secret' } },
    ...fields,
  })

  test.for(['mcp.request', 'mcp.proposal'])('is none where there is nothing of it to be seen: %s', (kind) => {
    const guard = guardian()
    expect(guard(call({ kind }))).toEqual(nothing)
    for (const rationale of ['', ' \n\t', '\u2003'])
      expect(guard(call({ kind, rationale }))).toEqual({ ...nothing, rationale: '' })
    expect(guard(call({ kind, rationale: 'evil' })).rationale).toBe('')
    expect(guard(call({ kind, rationale: 'it decides' }))).toEqual(nothing)
    expect(guard(call({ kind, rationale: 'a secret decides' })).rationale).toBe('a [redacted] decides')
  })

  test('of anything else is none where it is blocked', () => {
    const list = { kind: 'mcp.request', payload: { method: 'tools/list' } }
    expect(guardian()(list)).toEqual(nothing)
    expect(guardian()({ ...list, rationale: 'evil' }).rationale).toBe('')
    expect(guardian()({ ...list, rationale: '' })).toEqual({ ...nothing, rationale: '' })
  })
})

describe('a secret that is split', () => {
  const masked = { payload: { message: '[redacted] it is' } }

  test('over two thoughts of a run is masked where it is completed, whoever completes it', () => {
    for (const from of ['ana', 'ben']) {
      const guard = guardian()
      expect(guard(thought('the sec'))).toEqual(nothing)
      expect(guard(thought('ret it is', { from }))).toMatchObject(masked)
    }
  })

  test('over a start and the first thought', () => {
    const guard = guardian()
    guard({ id: 'run', kind: 'reasoning.start', payload: { message: 'sec' } })
    expect(guard(thought('ret it is', { context: 'run/below' }))).toMatchObject(masked)
  })

  test('with other texts between: metadata, a rationale, what somebody else thinks', () => {
    const guard = guardian()
    guard({ context: 'run', payload: { message: 'the sec', metadata: { model: 'm1' } } })
    guard({ kind: 'mcp.request', context: 'run', rationale: 'look', payload: { method: 'tools/call' } })
    guard(thought('I agree', { from: 'ben' }))
    expect(guard(thought('ret it is'))).toMatchObject(masked)
  })

  test('over different places of one envelope, or of two', () => {
    expect(
      guardian()({ context: 'run', payload: { message: 'the sec', metadata: { note: 'ret it is' } } }),
    ).toMatchObject({ payload: { message: 'the sec', metadata: { note: '[redacted] it is' } } })
    const guard = guardian()
    guard(thought('sec'))
    const call = { kind: 'mcp.request', context: 'run', payload: { method: 'tools/call' } }
    expect(guard({ ...call, rationale: 'ret it is' }).rationale).toBe('[redacted] it is')
  })

  test('over the elements of a list', () => {
    const payload = { questions: ['the sec', 'ret it is'] }
    expect(guardian()({ kind: 'reasoning.question', context: 'run', payload })).toMatchObject({
      payload: { questions: ['the sec', '[redacted] it is'] },
    })
  })

  test('in the main conversation, where one sender goes on', () => {
    const call = { kind: 'mcp.request', payload: { method: 'tools/call' } }
    for (const [from, rationale] of [
      ['ana', '[redacted]'],
      ['ben', undefined],
    ] as const) {
      const guard = guardian()
      guard({ ...call, rationale: 'sec' })
      expect(guard({ ...call, from, rationale: 'ret' }).rationale).toBe(rationale)
    }
  })

  test('but not over different runs', () => {
    const guard = guardian()
    guard(thought('sec'))
    expect(guard(thought('ret it is', { context: 'other' }))).toEqual(nothing)
  })
})

test('a value is also looked at under its name', () => {
  const label = /(?<=password: )\S+/
  const named = {
    guard: (text: string, tail: Tail | string = '') => {
      const before = readText(tail)
      const seen = (before + text).replace(label, '[redacted]').slice(before.length)
      return { ...pass(seen), findings: seen === text ? [] : [found('label', 'mask')] }
    },
  }
  const payload = { message: 'x', password: 'x', metadata: { deep: [{ password: 'y' }], other: 'z' } }
  expect(guardian({ compile: () => named, tailOf })({ context: 'run', payload })).toMatchObject({
    payload: {
      message: 'x',
      password: '[redacted]',
      metadata: { deep: [{ password: '[redacted]' }], other: 'z' },
    },
  })
})

test('keys that are numbers are texts in the order in which they were sent', () => {
  const guard = guardian()
  const envelope = { id: 'e1', from: 'ana', kind: 'reasoning.thought', context: 'run' }
  const json = '{"b":"sec","1":"ret","message":"","0":"secret"}'
  expect(guard({ ...envelope, payload: JSON.parse(json) }, json)).toMatchObject({
    payload: { 0: '[redacted]', 1: '[redacted]', b: 'sec' },
  })
})

test('a text is cut by itself, however short the others are', () => {
  const payload = { message: 'short', note: 'n'.repeat(600), more: 'm'.repeat(400) }
  const cut = { ...payload, note: 'n'.repeat(500) }
  expect(guardian()({ context: 'run', payload })).toEqual({ ...nothing, payload: cut })
})

test.for([
  [{ kind: 'reasoning.thought' }, true],
  [{ kind: 'reasoning.new' }, true],
  [{ kind: 'chat', payload: { message: 'hi' } }, false],
  [{ kind: 'chat', payload: { message: 'hi', metadata: {} } }, true],
  [{ kind: 'mcp.request', payload: { method: 'tools/call' } }, true],
  [{ kind: 'mcp.request', payload: { method: 'tools/list' } }, false],
  [{ kind: 'mcp.request', rationale: 'x', payload: { method: 'tools/list' } }, true],
  [{ kind: 'mcp.response', payload: { result: {}, metadata: {} } }, false],
] as const)('%j has something to guard: %s', ([fields, expected]) => {
  expect(isGuarded({ payload: {}, ...fields })).toBe(expected)
})
