import {
  EnvelopeGuard,
  FALLBACK_RATIONALE,
  type GuardSettings,
  isGuarded,
  RecentlySaid,
  type Utterance,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'

const found = (rule: string, action: string) => ({ rule, action })
const pass = (text: string) => ({ text, isWithheld: false, findings: [] })

/** Hides `secret`, also what completes it; withholds what holds `evil`; cuts. */
function compile({ maxLength }: GuardSettings) {
  return {
    guard(text: string, before = '') {
      if (text.includes('evil')) return { text: '', isWithheld: true, findings: [found('evil', 'block')] }
      const at = `${before}${text}`.lastIndexOf('secret')
      const [start, end] = [Math.max(0, at - before.length), at + 'secret'.length - before.length]
      if (at === -1 || end <= 0) return pass(text.slice(0, maxLength))
      return {
        text: `${text.slice(0, start)}[redacted]${text.slice(end)}`,
        isWithheld: false,
        findings: [found('word', 'mask')],
      }
    },
  }
}
const tailOf = (before: string, text: string): string => (before + text).slice(-100)
const settings = { maxLength: 500, rules: [], policy: [] }

function guardian(maker = { compile, tailOf }, by: GuardSettings = settings) {
  const guard = new EnvelopeGuard(maker, by)
  let ids = 0
  return (fields: Partial<Utterance>) => {
    const envelope = { id: `e${++ids}`, from: 'ana', kind: 'reasoning.thought', payload: {}, ...fields }
    const { payload, ...parts } = guard.guard(envelope, JSON.stringify(envelope.payload))
    return { ...parts, ...(payload !== undefined && { payload: JSON.parse(payload) as unknown }) }
  }
}
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

  test.for(['mcp.request', 'mcp.proposal'])('of a tool call is there in any case: %s', (kind) => {
    const guard = guardian()
    const fallback = { ...nothing, rationale: FALLBACK_RATIONALE }
    expect(guard(call({ kind }))).toEqual(fallback)
    for (const rationale of ['', ' \n\t', '\u2003'])
      expect(guard(call({ kind, rationale }))).toEqual(fallback)
    expect(guard(call({ kind, rationale: 'evil' })).rationale).toBe(FALLBACK_RATIONALE)
    expect(guard(call({ kind, rationale: 'it decides' }))).toEqual(nothing)
    expect(guard(call({ kind, rationale: 'a secret decides' })).rationale).toBe('a [redacted] decides')
    expect(FALLBACK_RATIONALE).toBe('Tool selected to satisfy the current subtask.')
  })

  test('of anything else is none where it is blocked', () => {
    const list = { kind: 'mcp.request', payload: { method: 'tools/list' } }
    expect(guardian()(list)).toEqual(nothing)
    expect(guardian()({ ...list, rationale: 'evil' }).rationale).toBe('')
    expect(guardian()({ ...list, rationale: '' })).toEqual(nothing)
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
    guard: (text: string, before = '') => {
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

test('a text is cut by itself, however short the others are', () => {
  const payload = { message: 'short', note: 'n'.repeat(600), more: 'm'.repeat(400) }
  const cut = { ...payload, note: 'n'.repeat(500) }
  expect(guardian()({ context: 'run', payload })).toEqual({ ...nothing, payload: cut })
})

describe('of very many texts', () => {
  /** Counts how often texts are looked at. */
  function counting() {
    const calls = { count: 0 }
    const counted = (by: GuardSettings) => {
      const { guard } = compile(by)
      return {
        guard(text: string, before?: string) {
          calls.count++
          return guard(text, before)
        },
      }
    }
    return { calls, guard: guardian({ compile: counted, tailOf }) }
  }
  const list = Array.from({ length: 5000 }, (_, index) => `text ${index}`)

  test('those in which nothing is found cost a few looks', () => {
    const { calls, guard } = counting()
    const payload = { list, members: Object.fromEntries(list.map((text) => [text, text])) }
    expect(guard({ context: 'run', payload })).toEqual(nothing)
    expect(calls.count).toBeLessThanOrEqual(3)
    calls.count = 0
    expect(guard(thought('one text'))).toEqual(nothing)
    expect(guard(thought('and another'))).toEqual(nothing)
    expect(calls.count).toBeLessThanOrEqual(3)
  })

  test('the first of the others are guarded, and the rest is withheld', () => {
    const { calls, guard } = counting()
    const guarded = guard({ context: 'run', payload: { list: ['a secret', ...list] } })
    expect(guarded).toMatchObject({ findings: [found('word', 'mask')], withheld: 5001 - 255 })
    const { list: seen } = guarded.payload as { list: string[] }
    expect(seen.slice(0, 3)).toEqual(['a [redacted]', 'text 0', 'text 1'])
    expect(seen.filter((text) => text !== '')).toHaveLength(255) // The key is a text, too.
    expect(calls.count).toBeLessThan(1000)
  })
})

describe("an operator's pattern", () => {
  /** Matches as RE2 does, as far as tests need it. */
  const withPolicy = ({ policy }: GuardSettings) => ({
    guard(text: string) {
      const [{ pattern = '' } = {}] = policy
      const [, flags = '', source = ''] = /^(?:\(\?(m)\))?(.*)$/.exec(pattern) ?? []
      const isFound = new RegExp(source.replaceAll('\\A', '^(?<![^])'), flags).test(text)
      return { ...pass(text), findings: isFound ? [found('own', 'review')] : [] }
    },
  })

  test.for(['^all$', '\\Aall'])('that says where a text begins finds it among others: %s', (pattern) => {
    const policy = [{ pattern }]
    const guard = guardian({ compile: withPolicy, tailOf }, { ...settings, policy })
    const payload = (note: string) => ({ message: 'some', metadata: { note, more: 'text' } })
    expect(guard({ context: 'run', payload: payload('all') }).findings).toEqual([found('own', 'review')])
    expect(guard({ context: 'run', payload: payload('not all') }).findings).toEqual([])
  })
})

test('other settings are used from when they are put in force', () => {
  const guard = new EnvelopeGuard({ compile, tailOf }, settings)
  const lengthOf = () => {
    const envelope = { id: 'e1', from: 'ana', kind: 'reasoning.thought', context: 'run', payload: {} }
    return guard.guard(envelope, JSON.stringify({ message: 'x'.repeat(50) })).payload?.length
  }
  const replace = guard.prepare({ ...settings, maxLength: 10 })
  expect(lengthOf()).toBe(undefined)
  replace()
  expect(lengthOf()).toBe(JSON.stringify({ message: 'x'.repeat(10) }).length)
})

describe('what was said', () => {
  const last = (before: string, text: string): string => (before + text).slice(-3)
  const voices = (...names: string[]) => new Map(names.map((name) => [name, name[0] ?? '']))

  test('is kept as far as its tail goes, by voice and by run', () => {
    const said = new RecentlySaid(last)
    expect(said.in('run').all).toBe('')
    said.add('run', 'abcd', new Map([['ana', 'abcd']]))
    said.add('run', 'x', new Map([['ben', 'x']]))
    expect(said.in('run')).toEqual({
      all: 'cdx',
      voices: new Map([
        ['ana', 'bcd'],
        ['ben', 'x'],
      ]),
    })
    expect(said.in('other').all).toBe('')
  })

  test('of a thousand runs and of sixteen voices in each, those that spoke last', () => {
    const said = new RecentlySaid(last)
    for (let n = 0; n < 1001; n++) {
      said.add(`run${n}`, 'x', voices('ana'))
      said.add('run0', 'x', voices('ana'))
    }
    expect([0, 1, 2].map((n) => said.in(`run${n}`).all)).toEqual(['xxx', '', 'x'])
    for (let n = 0; n < 16; n++) said.add('run2', 'y', voices(`b${n}`))
    expect([...said.in('run2').voices.keys()]).toEqual(Array.from({ length: 16 }, (_, n) => `b${n}`))
  })
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
  expect(isGuarded({ id: 'e1', from: 'ana', payload: {}, ...fields })).toBe(expected)
})
