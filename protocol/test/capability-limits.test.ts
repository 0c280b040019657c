import { execFileSync } from 'node:child_process'
import { type Capability, compileCapabilities, compilePattern, covers, PatternError } from '@meup/protocol'
import { describe, expect, test } from 'vitest'

const compile = (...list: unknown[]) => compileCapabilities(list as Capability[])

function refusal(run: () => unknown): PatternError {
  try {
    run()
  } catch (error) {
    if (error instanceof PatternError) return error
    throw error
  }
  throw new Error('was not refused')
}

const texts = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`)
const nested = (depth: number): unknown => (depth === 0 ? 'x' : { a: nested(depth - 1) })

describe('a bad pattern is refused with its path', () => {
  test.each<[string, unknown, string]>([
    ['a number for a capability', 5, '/0'],
    ['null', null, '/0'],
    ['an array for a capability', ['chat'], '/0'],
    ['no kind', { to: 'a' }, '/0'],
    ['an unknown field', { kind: 'chat', 'form/~': 'a' }, '/0/form~1~0'],
    ['a kind that is no string', { kind: 5 }, '/0/kind'],
    ['an object for a kind', { kind: { a: 1 } }, '/0/kind'],
    ['a number for an addressee', { kind: 'chat', to: ['a', 5] }, '/0/to/1'],
    ['null for a context', { kind: 'chat', context: null }, '/0/context'],
    ['undefined for an addressee', { kind: 'chat', to: undefined }, '/0/to'],
    ['an empty array', { kind: 'chat', to: [] }, '/0/to'],
    ['an array in an array', { kind: 'chat', payload: { a: ['x', ['y']] } }, '/0/payload/a/1'],
    ['an array in an array of strings', { kind: ['chat', ['mcp']] }, '/0/kind/1'],
    ['infinity', { kind: 'chat', payload: { a: Number.POSITIVE_INFINITY } }, '/0/payload/a'],
    ['undefined', { kind: 'chat', payload: { a: undefined } }, '/0/payload/a'],
    ['an object of a class', { kind: 'chat', payload: { a: new Date() } }, '/0/payload/a'],
    ['a double negation', { kind: '!!chat' }, '/0/kind'],
    ['a lone backslash', { kind: 'chat', to: 'a\\' }, '/0/to'],
    ['half a surrogate pair', { kind: 'chat', to: '\ud83d' }, '/0/to'],
    [
      'a broken regular expression',
      { kind: 'chat', payload: { params: { name: ['a', 're:('] } } },
      '/0/payload/params/name/1',
    ],
    ['a regular expression that escapes its group', { kind: 'chat', to: 're:a)|(?:.*' }, '/0/to'],
    ['a backreference', { kind: 'chat', to: 're:(a)\\1' }, '/0/to'],
    ['a long string', 'x'.repeat(513), '/0'],
    ['a long key', { kind: 'chat', payload: { ['k'.repeat(513)]: 1 } }, `/0/payload/${'k'.repeat(513)}`],
    ['many patterns', { kind: texts(65) }, '/0/kind/64'],
    ['many patterns in all', { kind: 'chat', to: texts(40), payload: { a: texts(24) } }, '/0/payload/a/23'],
    ['many empty objects', { kind: 'chat', payload: { a: texts(64).map(() => ({})) } }, '/0/payload/a/63'],
    ['deep nesting', { kind: 'chat', payload: nested(33) }, `/0/payload${'/a'.repeat(32)}`],
    ['a ** key below another', { kind: 'chat', payload: { '**': { a: { '**': 1 } } } }, '/0/payload/**/a/**'],
    ['a large repetition', { kind: 'chat', to: 're:(?:abc){1000}' }, '/0/to'],
    ['repetitions in a group', { kind: 'chat', to: 're:(?:(?:a{10}){10}){10}' }, '/0/to'],
    ['a hidden repetition of a group', { kind: 'chat', to: 're:(?:abc)\\Q\\E{1000}' }, '/0/to'],
    ['long case folding', { kind: 'chat', to: `re:(?i)${'a'.repeat(130)}` }, '/0/to'],
    ['many repetitions', { kind: 'chat', to: ['re:a{600}', 're:b{600}'] }, '/0/to/1'],
  ])('%s', (_, capability, path) => {
    const error = refusal(() => compile(capability))
    expect(error.path).toBe(path)
    expect(error.message).toBe(`${path}: ${error.problem}`)
    expect(error.problem).toMatch(/^[a-z].{15,}/)
    expect(refusal(() => compile('chat', 'chat', 'chat', capability)).path).toBe(path.replace('/0', '/3'))
  })

  test('what holds itself is refused, not followed', () => {
    const payload: Record<string, unknown> = {}
    payload.a = payload
    expect(refusal(() => compile({ kind: 'chat', payload })).path).toBe(`/0/payload${'/a'.repeat(32)}`)
  })

  test('a list that is none or too long', () => {
    expect(refusal(() => compileCapabilities('chat' as unknown as Capability[])).path).toBe('')
    expect(refusal(() => compile(...texts(257))).path).toBe('')
    expect(refusal(() => compile(...texts(9).map((t) => `re:${t}{1000}`))).path).toBe('/8')
  })

  test('in covers too, and in patterns alone', () => {
    expect(refusal(() => covers([{ kind: 'a', to: [] }], ['a'])).path).toBe('/0/to')
    expect(refusal(() => covers(['a'], ['b', { kind: 'a', to: [] }])).path).toBe('/1/to')
    expect(refusal(() => compilePattern(['a', '!!b'], { path: '/contexts' })).path).toBe('/contexts/1')
    expect(refusal(() => compilePattern('re:(')).path).toBe('')
    expect(refusal(() => compilePattern(texts(65))).path).toBe('/64')
  })
})

test('what is at the limits is accepted', () => {
  expect(() => compile(...texts(256))).not.toThrow()
  expect(() => compile({ kind: texts(64) })).not.toThrow()
  expect(() => compile({ kind: 'chat', payload: nested(32) })).not.toThrow()
  expect(() => compile({ kind: 'chat', payload: { '**': 1, a: { '**': 2 } } })).not.toThrow()
  expect(() =>
    compile('x'.repeat(512), { kind: 're:[a-z0-9]{8}(-[a-z0-9]{4}){3}-[a-z0-9]{12}' }),
  ).not.toThrow()
  expect(() => compile({ kind: 'chat', to: 're:a{1000}' })).not.toThrow()
  expect(() => compile(Object.assign(Object.create(null), { kind: 'chat' }))).not.toThrow()
})

describe('a regular expression over a string too long for its weight', () => {
  const heavy = '(a|b)*a(a|b){20}'
  const long = 'ab'.repeat(50_000)

  test('refuses, negated or not', () => {
    expect(compilePattern(`re:${heavy}`)('ba'.repeat(20))).toBe(true)
    expect(compilePattern(`re:${heavy}`)(long)).toBe(false)
    expect(compilePattern(`!re:${heavy}`)(long)).toBe(false)
    expect(compilePattern(['**', `!re:${heavy}`])(long)).toBe(false)
    expect(compilePattern(['ab**', `re:${heavy}`])(long)).toBe(true)
  })

  test('decides light ones', () => {
    expect(compilePattern('re:(a+)+')('a'.repeat(100_000))).toBe(true)
    expect(compilePattern('re:(a+)+')(`${'a'.repeat(100_000)}!`)).toBe(false)
    expect(compilePattern('!re:(a+)+')(`${'a'.repeat(100_000)}!`)).toBe(true)
  })
})

test('a check that would take too long ends with a refusal, on either side of a negation', () => {
  const crawling = '*a?*b*?'.repeat(70)
  const holds = (count: number, last: string) =>
    compileCapabilities([
      ...Array.from({ length: count }, (_, i) => ({ kind: 'chat', payload: { message: `${crawling}${i}` } })),
      { kind: 'chat', payload: { message: last } },
    ])
  const say = (length: number) => ({ kind: 'chat', payload: { message: 'ab'.repeat(length / 2) } })
  for (const last of ['*b*', '!*c*d*']) {
    expect(holds(100, last).allows(say(200)).matched).toBe(100)
    expect(holds(0, last).allows(say(50_000)).matched).toBe(0)
    expect(holds(100, last).allows(say(50_000)).allowed).toBe(false)
  }
  const many = holds(100, '*b*')
  expect([say(50_000), say(200), say(50_000), say(200)].map((each) => many.allows(each).allowed)).toEqual([
    false,
    true,
    false,
    true,
  ])
})

test('globs that make a backtracking matcher explode are decided', () => {
  const text = 'a'.repeat(20_000)
  for (const star of ['*', '**']) {
    expect(compilePattern(`${star}a`.repeat(50))(text)).toBe(true)
    expect(compilePattern(`${`${star}a`.repeat(50)}${star}b`)(text)).toBe(false)
    expect(compilePattern(`**${`${star}a`.repeat(50)}${star}b${star}`)(text)).toBe(false)
  }
})

test('the first check of a process has all its steps before it', () => {
  const script = `
    import { compileCapabilities } from '@meup/protocol'
    const held = compileCapabilities([{ kind: 're:mcp\\\\..*' }])
    console.log(held.allows({ kind: 'mcp.request', payload: {} }).allowed)`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(printed).toBe('true\n')
})
