import {
  EnvelopeGuard,
  type GuardSettings,
  RecentlySaid,
  type Tail,
  type Utterance,
  WorkMeter,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { compile, found, guardian, pass, readText, settings, tailOf } from './toy-guard.js'

const nothing = { findings: [], withheld: 0 }
const thought = (message: string) => ({ context: 'run', payload: { message } })

describe('of very many texts', () => {
  /** A guard that counts the scanned texts. */
  function counting() {
    const calls = { count: 0 }
    const counted = (by: GuardSettings) => {
      const { guard } = compile(by)
      return {
        guard(text: string, before?: Tail | string) {
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
    expect(seen.filter((text) => text !== '')).toHaveLength(255) // The key `list` counts as a text, too.
    expect(calls.count).toBeLessThan(1000)
  })
})

test('a long name is not looked at with every value that it stands before', () => {
  let characters = 0
  const measured = (by: GuardSettings) => ({
    guard(text: string, before: Tail | string = '') {
      characters += readText(before).length + text.length
      return compile(by).guard(text, before)
    },
  })
  const name = `${'n'.repeat(200_000)} secret`
  const values = Array.from({ length: 1000 }, () => 'a')
  guardian({ compile: measured, tailOf })({ context: 'run', payload: { message: 'secret', [name]: values } })
  expect(characters).toBeLessThan(1_000_000)
})

describe('what there is no work left for', () => {
  /** A guard that charges one unit per scan. */
  const metered = (by: GuardSettings) => ({
    guard(text: string, before?: Tail | string, meter?: WorkMeter) {
      meter?.charge(1, 'looks')
      return compile(by).guard(text, before)
    },
  })
  const guardWith = (work: number, fields: Partial<Utterance>) => {
    const guard = new EnvelopeGuard({ compile: metered, tailOf }, settings)
    const envelope = { id: 'e1', from: 'ana', kind: 'reasoning.thought', payload: {}, ...fields }
    const bytes = Buffer.from(JSON.stringify(envelope.payload))
    const { payload, ...parts } = guard.guard(envelope, bytes, new WorkMeter(work))
    return { ...parts, ...(payload !== undefined && { payload: JSON.parse(payload) as unknown }) }
  }
  const payload = { message: 'short', metadata: { one: 'x'.repeat(200), two: 'x'.repeat(200) } }

  test('is withheld: the texts past the first ones', () => {
    expect(guardWith(1000, { context: 'run', payload })).toEqual(nothing)
    expect(guardWith(160, { context: 'run', payload })).toEqual({
      findings: [],
      withheld: 1,
      unscanned: 1,
      payload: { ...payload, metadata: { ...payload.metadata, two: '', withheld: true, unscanned: 1 } },
    })
  })

  test('is withheld where the looks at each text cost too much: no secret is shown', () => {
    const list = Array.from({ length: 30 }, () => 'a secret')
    const guarded = guardWith(360, { context: 'run', payload: { message: 'short', list } })
    expect(guarded).toMatchObject({ findings: [found('word', 'mask')] })
    const few = guardWith(12, { payload: { list: ['a secret'] } })
    expect(few).toMatchObject({ withheld: 1, unscanned: 1 })
    expect(JSON.stringify(few)).not.toContain('a secret')
  })

  test('leaves the payload of a tool call alone', () => {
    const call = { kind: 'mcp.request', payload: { method: 'tools/call' }, rationale: 'x'.repeat(200) }
    expect(guardWith(10, call)).toMatchObject({ withheld: 1, unscanned: 1 })
    expect(guardWith(10, call)).not.toHaveProperty('payload')
  })
})

describe("an operator's pattern", () => {
  /** A guard with the first policy rule. Emulates RE2 as far as these tests need it. */
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
    const payload = { message: 'x'.repeat(50) }
    const envelope = { id: 'e1', from: 'ana', kind: 'reasoning.thought', context: 'run', payload }
    return guard.guard(envelope, Buffer.from(JSON.stringify(payload))).payload?.length
  }
  const replace = guard.prepare({ ...settings, maxLength: 10 })
  expect(lengthOf()).toBe(undefined)
  replace()
  expect(lengthOf()).toBe(JSON.stringify({ message: 'x'.repeat(10) }).length)
})

describe('what was said', () => {
  const last = ({ said }: Tail, text: string): Tail => ({
    said: (said + text).slice(-3),
    seams: [],
    isProse: false,
  })
  const shown = (run: string, said: RecentlySaid) => {
    const { all, voices } = said.in(run)
    return { all: all.said, voices: new Map([...voices].map(([voice, tail]) => [voice, tail.said])) }
  }
  const voices = (...names: string[]) => new Map(names.map((name) => [name, name[0] ?? '']))

  test('is kept as far as its tail goes, by voice and by run', () => {
    const said = new RecentlySaid(last)
    expect(said.in('run').all.said).toBe('')
    said.add('run', 'abcd', new Map([['ana', 'abcd']]))
    said.add('run', 'x', new Map([['ben', 'x']]))
    expect(shown('run', said)).toEqual({
      all: 'cdx',
      voices: new Map([
        ['ana', 'bcd'],
        ['ben', 'x'],
      ]),
    })
    expect(said.in('other').all.said).toBe('')
  })

  test('of a thousand runs and of sixteen voices in each, those that spoke last', () => {
    const said = new RecentlySaid(last)
    for (let n = 0; n < 1001; n++) {
      said.add(`run${n}`, 'x', voices('ana'))
      said.add('run0', 'x', voices('ana'))
    }
    expect([0, 1, 2].map((n) => said.in(`run${n}`).all.said)).toEqual(['xxx', '', 'x'])
    for (let n = 0; n < 16; n++) said.add('run2', 'y', voices(`b${n}`))
    expect([...said.in('run2').voices.keys()]).toEqual(Array.from({ length: 16 }, (_, n) => `b${n}`))
  })
})
