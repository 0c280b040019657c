import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type Capability,
  checkMetered,
  compileCapabilities,
  compilePattern,
  covers,
  defaultLimits,
  PatternError,
  StepBudget,
  WorkError,
  WorkMeter,
} from '@meup/protocol'
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
const letters = (count: number) =>
  Array.from({ length: count }, (_, i) => String.fromCharCode(0x400 + 2 * i)).join('')
const nested = (depth: number): unknown => (depth === 0 ? 'x' : { a: nested(depth - 1) })

type Case = readonly [name: string, capability: unknown, path: string]

const invalid: Readonly<
  Record<Exclude<PatternError['code'], 'not_a_list' | 'many_capabilities'>, readonly Case[]>
> = {
  no_kind: [
    ['a number for a capability', 5, '/0'],
    ['null', null, '/0'],
    ['an array for a capability', ['chat'], '/0'],
    ['no kind', { to: 'a' }, '/0'],
  ],
  unknown_field: [
    ['an unknown field', { kind: 'chat', 'form/~': 'a' }, '/0/form~1~0'],
    ['a tool with a kind', { kind: 'mcp.request', tool: 'files/read' }, '/0/kind'],
    ['a tool with an addressee', { tool: 'files/read', to: 'files' }, '/0/to'],
  ],
  no_tool: [
    ['a tool that is no string', { tool: ['files/read'] }, '/0/tool'],
    ['a tool without its participant', { tool: 'read' }, '/0/tool'],
    ['a tool of nobody', { tool: '/read' }, '/0/tool'],
    ['a tool without a name', { tool: 'files/' }, '/0/tool'],
  ],
  negated_participant: [['a tool of all but one', { tool: '!files/read' }, '/0/tool']],
  not_text: [
    ['a kind that is no string', { kind: 5 }, '/0/kind'],
    ['an object for a kind', { kind: { a: 1 } }, '/0/kind'],
    ['a number for an addressee', { kind: 'chat', to: ['a', 5] }, '/0/to/1'],
    ['null for a context', { kind: 'chat', context: null }, '/0/context'],
    ['undefined for an addressee', { kind: 'chat', to: undefined }, '/0/to'],
    ['an array in an array of strings', { kind: ['chat', ['mcp']] }, '/0/kind/1'],
  ],
  not_a_pattern: [
    ['an array in an array', { kind: 'chat', payload: { a: ['x', ['y']] } }, '/0/payload/a/1'],
    ['infinity', { kind: 'chat', payload: { a: Number.POSITIVE_INFINITY } }, '/0/payload/a'],
    ['undefined', { kind: 'chat', payload: { a: undefined } }, '/0/payload/a'],
    ['an object of a class', { kind: 'chat', payload: { a: new Date() } }, '/0/payload/a'],
  ],
  large_number: [['an integer that is rounded', { kind: 'chat', payload: { a: 2 ** 53 } }, '/0/payload/a']],
  empty_array: [
    ['an empty array', { kind: 'chat', to: [] }, '/0/to'],
    ['bad arguments', { tool: 'files/read', arguments: { path: [] } }, '/0/arguments/path'],
  ],
  many_patterns: [
    ['many patterns', { kind: texts(65) }, '/0/kind/64'],
    ['many patterns in all', { kind: 'chat', to: texts(40), payload: { a: texts(24) } }, '/0/payload/a/23'],
    ['many empty objects', { kind: 'chat', payload: { a: texts(64).map(() => ({})) } }, '/0/payload/a/63'],
  ],
  deep_object: [
    ['deep nesting', { kind: 'chat', payload: nested(33) }, `/0/payload${'/a'.repeat(32)}`],
    ['deep arguments', { tool: 'files/read', arguments: nested(31) }, `/0/arguments${'/a'.repeat(30)}`],
  ],
  nested_any_depth: [
    ['a ** key below another', { kind: 'chat', payload: { '**': { a: { '**': 1 } } } }, '/0/payload/**/a/**'],
  ],
  double_negation: [['a double negation', { kind: '!!chat' }, '/0/kind']],
  open_escape: [['a lone backslash', { kind: 'chat', to: 'a\\' }, '/0/to']],
  long_text: [
    ['a long string', 'x'.repeat(513), '/0'],
    ['a long key', { kind: 'chat', payload: { ['k'.repeat(513)]: 1 } }, `/0/payload/${'k'.repeat(513)}`],
    ['a long tool', { tool: `files/${'x'.repeat(507)}` }, '/0/tool'],
  ],
  lone_surrogate: [['half a surrogate pair', { kind: 'chat', to: '\ud83d' }, '/0/to']],
  invalid_regex: [
    [
      'a broken regular expression',
      { kind: 'chat', payload: { params: { name: ['a', 're:('] } } },
      '/0/payload/params/name/1',
    ],
    ['a regular expression that escapes its group', { kind: 'chat', to: 're:a)|(?:.*' }, '/0/to'],
    ['a backreference', { kind: 'chat', to: 're:(a)\\1' }, '/0/to'],
    ['a bad name of a tool', { tool: 'files/re:(' }, '/0/tool'],
  ],
  large_regex: [
    ['a large repetition', { kind: 'chat', to: 're:(?:abc){1000}' }, '/0/to'],
    ['repetitions in a group', { kind: 'chat', to: 're:(?:(?:a{10}){10}){10}' }, '/0/to'],
    ['a hidden repetition of a group', { kind: 'chat', to: 're:(?:abc)\\Q\\E{1000}' }, '/0/to'],
    ['long case folding', { kind: 'chat', to: `re:(?i)${'a'.repeat(130)}` }, '/0/to'],
    ['copies of a large class', { kind: 'chat', to: 're:N[\\pL\\pN]{900}' }, '/0/to'],
    ['copies of a class in groups', { kind: 'chat', to: 're:((\\pL-){6}){6}' }, '/0/to'],
    ['copies of a long class', { kind: 'chat', to: `re:[${letters(250)}]{400}` }, '/0/to'],
    ['many large classes', { kind: 'chat', to: `re:${'\\p{Lu}|'.repeat(10)}` }, '/0/to'],
    ['case folding of a large range', { kind: 'chat', to: 're:(?i)[ -\\x{10ffff}]' }, '/0/to'],
    ['case folding of many ranges', { kind: 'chat', to: `re:(?i)[${'a-\u07ff'.repeat(9)}]` }, '/0/to'],
    ['many repetitions', { kind: 'chat', to: ['re:a{600}', 're:b{600}'] }, '/0/to/1'],
  ],
}

describe('a bad pattern is refused with its path', () => {
  const cases = Object.entries(invalid).flatMap(([code, rows]) => rows.map((row) => [code, ...row] as const))
  test.each(cases)('%s: %s', (code, _, capability, path) => {
    expect(refusal(() => compile(capability))).toMatchObject({ code, path })
    expect(refusal(() => compile('chat', 'chat', 'chat', capability)).path).toBe(path.replace('/0', '/3'))
  })

  test('what holds itself is refused, not followed', () => {
    const payload: Record<string, unknown> = {}
    payload.a = payload
    expect(refusal(() => compile({ kind: 'chat', payload })).path).toBe(`/0/payload${'/a'.repeat(32)}`)
  })

  test('a list that is none or too long', () => {
    expect(refusal(() => compileCapabilities('chat' as unknown as Capability[])).code).toBe('not_a_list')
    expect(refusal(() => compile(...texts(257)))).toMatchObject({
      ...{ code: 'many_capabilities', path: '', details: { count: 257, limit: 256 } },
    })
    expect(refusal(() => compile(...texts(9).map((t) => `re:${t}{1000}`)))).toMatchObject({
      ...{ code: 'large_regex', path: '/8', details: { whole: 'list', limit: 8192 } },
    })
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
  expect(() => compile({ kind: 'chat', to: ['re:[\\pL\\pN_-]{1,8}', 're:(?i)[a-zé-ü]+'] })).not.toThrow()
  expect(() => compile({ tool: `files/${'x'.repeat(506)}`, arguments: nested(30) })).not.toThrow()
  expect(() => compile(Object.assign(Object.create(null), { kind: 'chat' }))).not.toThrow()
})

describe('what compiling costs is counted', () => {
  const spentOn = (list: Capability[], limit = 1e9): number => {
    const meter = new WorkMeter(limit)
    compileCapabilities(list, meter)
    return meter.spent
  }

  test('the same for a list that is known already', () => {
    const list = [{ kind: 'chat', to: ['re:first[a-z]{8}', '*a?b*'] }, { tool: 'files/read_*' }]
    const first = spentOn(list)
    expect(first).toBeGreaterThan(100)
    expect(spentOn(list)).toBe(first)
  })

  test('in proportion to what is compiled', () => {
    const cheap = spentOn([{ kind: 'chat', to: 'texts' }])
    expect(cheap).toBeLessThan(20)
    expect(spentOn([{ kind: 'chat', to: 'x'.repeat(500) }])).toBeGreaterThan(cheap + 25)
    expect(spentOn([{ kind: 'chat', to: 're:x' }])).toBeGreaterThan(cheap + 50)
    expect(spentOn([{ kind: 'chat', to: 're:[\\pL]{9}' }])).toBeGreaterThan(cheap + 500)
  })

  test.each<[string, Capability[]]>([
    [
      '256 capabilities of 64 long patterns',
      texts(256).map((kind) => ({ kind, to: texts(63).map((t) => t.padEnd(512)) })),
    ],
    ['many regular expressions', texts(250).map((kind) => ({ kind, to: texts(5).map((t) => `re:${t}`) }))],
    ['many globs', texts(200).map((kind) => ({ kind, to: texts(60).map((t) => `*${t}?${kind}*`) }))],
    [
      'many keys',
      texts(256).map((t) => ({
        kind: t,
        payload: Object.fromEntries(texts(32).map((k) => [k, t.padEnd(32)])),
      })),
    ],
  ])('over the limit it ends: %s', (_, list) => {
    const meter = new WorkMeter(defaultLimits.work)
    expect(() => compileCapabilities(list, meter)).toThrow(WorkError)
    expect(meter.spent).toBeLessThan(5 * defaultLimits.work)
  })

  test('for a pattern alone too', () => {
    const meter = new WorkMeter(100)
    expect(compilePattern('a*', { meter })('ab')).toBe(true)
    expect(meter.spent).toBeGreaterThan(1)
    expect(() => compilePattern('re:a{90}', { meter })).toThrow(WorkError)
  })
})

describe('a regular expression over a string too long for its weight', () => {
  const large = '(a|b)*a(a|b){20}'
  const long = 'ab'.repeat(50_000)

  test('refuses, negated or not', () => {
    expect(compilePattern(`re:${large}`)('ba'.repeat(20))).toBe(true)
    expect(compilePattern(`re:${large}`)(long)).toBe(false)
    expect(compilePattern(`!re:${large}`)(long)).toBe(false)
    expect(compilePattern(['**', `!re:${large}`])(long)).toBe(false)
    expect(compilePattern(['ab**', `re:${large}`])(long)).toBe(true)
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

test('to look for something at any depth costs by how much is there, and has an end', () => {
  const lists = (count: number) =>
    texts(count).map((text) => ({
      kind: 'chat',
      payload: { '**': [...texts(60).map((each) => `${text} ${each}`), '!none'] },
    }))
  const numbers = (count: number) => Array.from({ length: count }, () => 1)
  const say = (count: number, last: unknown) => ({
    kind: 'chat',
    payload: { list: [...numbers(count), last] },
  })
  const spentOn = (count: number): number => {
    const meter = new WorkMeter(1e9)
    checkMetered(meter, (budget) => compile(...lists(3)).allows(say(count, 'no'), budget))
    return meter.spent
  }
  expect(spentOn(10_000)).toBeGreaterThan(9 * spentOn(1000))
  expect(compile(...lists(1)).allows(say(10_000, 't0 t59')).allowed).toBe(true)
  expect(compile(...lists(20)).allows(say(100_000, 't19 t59')).allowed).toBe(false)
  const meter = new WorkMeter(defaultLimits.work)
  const check = () =>
    checkMetered(meter, (budget) => compile(...lists(20)).allows(say(100_000, 'no'), budget))
  expect(check).toThrow(WorkError)
})

test('a check with too small a budget matches nothing, and leaves the next check as it would be', () => {
  const matches = compilePattern('*a?b*')
  expect(matches('cacbc', new StepBudget(0))).toBe(false)
  expect(matches('cacbc')).toBe(true)
})

test.each([
  ['acme.note', 're:acme[.](?:note|memo)'],
  ['acme.note', '*c?e.*ote'],
  [`acme.${'a'.repeat(200)}`, '*c?e.*a'],
])('a budget that does not suffice for the kind %s denies this check only', (kind, pattern) => {
  const { allows } = compile({ kind: pattern })
  const subject = { kind, payload: {} }
  expect(allows(subject, new StepBudget(1)).allowed).toBe(false)
  expect(allows({ kind: 'acme.other', payload: {} }).allowed).toBe(false)
  expect(allows(subject).allowed).toBe(true)
  // A check is charged for selecting the capabilities that match its kind, even if the selection is cached.
  expect(allows(subject, new StepBudget(1)).allowed).toBe(false)
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
  const script = fileURLToPath(new URL('./fixtures/first-check.mjs', import.meta.url))
  expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toBe('true\n')
})

test('lists that were compiled take a bounded part of the memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const inUse = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const globs = (list: number, capability: number) =>
    Array.from({ length: 60 }, (_, i) => `${list} ${capability} ${i} *`)
  const before = inUse()
  for (let list = 0; list < 300; list++) {
    compile(...Array.from({ length: 16 }, (_, i) => ({ kind: 'chat', payload: { message: globs(list, i) } })))
  }
  expect(inUse() - before).toBeLessThan(32 * 2 ** 20)
})
