import { type Capability, Coverage, covers, defaultLimits, WorkError, WorkMeter } from '@meup/protocol'
import { describe, expect, test } from 'vitest'

const request = (params: unknown, extra = {}) =>
  ({ kind: 'mcp.request', payload: { params }, ...extra }) as Capability

describe('proven', () => {
  test.each<[string, Capability[], Capability[]]>([
    ['nothing', [], []],
    ['the same', ['chat'], ['chat']],
    ['the same, written differently', [{ kind: 'mcp/request' }], ['mcp.request']],
    ['the alias', ['reasoning.thought'], ['reasoning/step']],
    ['a literal in a glob', ['mcp.*'], ['mcp.request']],
    ['a literal in a glob, other separator', ['mcp/*'], ['mcp.request']],
    ['a prefix glob in a prefix glob', ['acme.**'], ['acme.a.**', 'acme.*', 'acme.a.b']],
    ['anything in *', ['*'], ['chat', 'mcp.*', '**', '*', '!chat', 're:.*', { kind: ['a', '!b'] }]],
    ['each by another', ['chat', 'mcp.*'], ['mcp.request', 'chat']],
    ['an array by alternatives', [{ kind: ['a', 'mcp.*'] }], ['a', { kind: ['mcp.request', 'a'] }]],
    ['what chat stands for', ['chat'], ['chat.cancel', 'chat.delta', { kind: ['chat', 'chat.acknowledge'] }]],
    ['chat by what it stands for', ['chat**'], ['chat', { kind: ['chat'], to: 'a' }]],
    [
      'a tool by requests',
      [{ kind: 'mcp.request', to: 'files' }],
      [{ tool: 'files/read_*' }, { tool: 'files/**', arguments: { path: 'a' } }],
    ],
    [
      'a tool by a tool',
      [{ tool: '*/read_*', arguments: { path: 'src/*' } }],
      [{ tool: 'files/read_text', arguments: { path: 'src/a', lines: 1 } }],
    ],
    [
      'requests by a tool',
      [{ tool: 'files/read_*' }],
      [
        { kind: 'mcp.request', to: 'files', payload: { method: 'tools/call', params: { name: 'read_x' } } },
        { kind: 'mcp.request', to: 'files', payload: { method: ['tools/list', 'ping'] } },
      ],
    ],
    [
      'a glob in one with a single star',
      [{ kind: 'a', to: 'a*c' }],
      [{ kind: 'a', to: ['ab*?c', 'a*xc', 'ac'] }],
    ],
    [
      'text in a glob of several stars',
      [{ kind: 'a', to: '**a?*/**b' }],
      [{ kind: 'a', to: ['xax/b', 'aa/b/b'] }],
    ],
    ['an array in a glob', ['mcp.*'], [{ kind: ['mcp.request', 'mcp.response'] }]],
    [
      'narrowing by a field',
      ['chat'],
      [
        { kind: 'chat', to: 'a' },
        { kind: 'chat', context: 'a', payload: {} },
      ],
    ],
    [
      'narrowing by keys',
      [request({ name: 'read_*' })],
      [request({ name: 'read_file', id: 1 }, { to: 'files' })],
    ],
    [
      'narrowing by a key of the payload',
      [{ kind: 'a', payload: {} }],
      [{ kind: 'a', payload: { b: '!c' } }],
    ],
    ['** for to and context is no condition', [{ kind: 'a', to: '**', context: '**' }], ['a']],
    ['no condition is **', ['a'], [{ kind: 'a', to: '**', context: '**' }]],
    [
      'any addressee',
      [{ kind: 'a', to: '*' }],
      [
        { kind: 'a', to: 'b' },
        { kind: 'a', to: ['b', 'c*'] },
      ],
    ],
    ['the same regular expression', [{ kind: 'a', to: 're:b+' }], [{ kind: 'a', to: 're:b+' }]],
    ['the same, older form', [{ kind: 'a', to: 're:^b' }], [{ kind: 'a', to: '/^b/' }]],
    ['a regular expression in **', [request({ a: '**' })], [request({ a: 're:b+' })]],
    ['the same negation', [request({ a: '!b' })], [request({ a: '!b' })]],
    [
      'a wider negation',
      [request({ a: '!secret_x' })],
      [request({ a: '!secret*' }), request({ a: ['!secret*', '!b'] })],
    ],
    [
      'text that a negation leaves',
      [request({ a: '!b' })],
      [request({ a: 'c' }), request({ a: ['c', 5, 'd*'] })],
    ],
    ['text that a prefix leaves', [request({ a: ['*', '!secret*'] })], [request({ a: 'read_*' })]],
    [
      'numbers, booleans, null',
      [request({ a: [1, true, null] })],
      [request({ a: 1 }), request({ a: [null, true] })],
    ],
    [
      'what the same ** key holds',
      [{ kind: 'a', payload: { '**': 'x*' } }],
      [{ kind: 'a', payload: { '**': 'xy' } }],
    ],
    [
      'a ** key by a field',
      [{ kind: 'a', payload: { '**': 'x*' } }],
      [{ kind: 'a', payload: { b: { c: 'xy' } } }],
    ],
    ['objects in arrays', [request([{ a: '*' }, { b: 1 }])], [request({ b: 1, c: 2 })]],
    ['the literal', ['observe.targeted'], ['observe.targeted', { kind: 'observe/targeted', context: 'a' }]],
  ])('%s', (_, held, asked) => {
    expect(covers(held, asked)).toBe(true)
  })
})

describe('not proven', () => {
  test.each<[string, Capability[], Capability[]]>([
    ['anything by nothing', [], ['chat']],
    ['another kind', ['chat.cancel'], ['chat']],
    ['what is chat alone by the kind', [{ kind: 'chat', payload: {} }], ['chat']],
    [
      'chat.cancel by chat with a payload',
      [{ kind: 'chat', payload: {} }],
      [{ kind: 'chat.cancel', payload: {} }],
    ],
    ['chat.cancel by chat among others', [{ kind: ['chat', 'a'] }], ['chat.cancel']],
    [
      'a tool by its calls alone',
      [{ kind: 'mcp.request', to: 'a', payload: { method: 'tools/call' } }],
      [{ tool: 'a/b' }],
    ],
    ['a tool of any participant', [{ tool: 'files/**' }], [{ tool: '*/read' }]],
    ['a tool whatever its arguments', [{ tool: 'a/b', arguments: { c: 1 } }], [{ tool: 'a/b' }]],
    ['a glob in one with several stars', [{ kind: 'a', to: 'a*b*' }], [{ kind: 'a', to: 'axb*' }]],
    ['a text that several stars do not reach', [{ kind: 'a', to: '*a*b' }], [{ kind: 'a', to: 'xa/b' }]],
    ['a glob by a literal', ['mcp.request'], ['mcp.*']],
    ['depth by one level', ['acme.*'], ['acme.**']],
    ['text in depth by one level', ['acme.*'], ['acme.a.b']],
    ['any run by one character', [{ kind: 'a', to: 'b?' }], [{ kind: 'a', to: 'b*' }]],
    ['any depth by one character', [{ kind: 'a', to: 'b?' }], [{ kind: 'a', to: 'b**' }]],
    ['one character by text', [{ kind: 'a', to: 'bc' }], [{ kind: 'a', to: 'b?' }]],
    ['a separator by one character', [{ kind: 'a', to: 'b?' }], [{ kind: 'a', to: 'b/' }]],
    ['one of two', ['chat'], ['chat', 'mcp.request']],
    ['one alternative of two', ['mcp.*'], [{ kind: ['mcp.request', 'chat'] }]],
    ['a union of two', ['a', 'b'], [{ kind: ['a', 'b'] }]],
    [
      'observe.targeted by globs',
      ['*', '**', 'observe.*', { kind: ['observe.targeted'] }],
      ['observe.targeted'],
    ],
    ['* by observe.targeted', ['observe.targeted'], ['*']],
    [
      'observe.targeted without its context',
      [{ kind: 'observe.targeted', context: 'a' }],
      ['observe.targeted'],
    ],
    ['everyone by an addressee', [{ kind: 'a', to: 'b' }], ['a']],
    ['everyone, as **, by an addressee', [{ kind: 'a', to: 'b' }], [{ kind: 'a', to: '**' }]],
    ['everyone by any addressees', [{ kind: 'a', to: '*' }], ['a']],
    ['everyone by an array with **', [{ kind: 'a', to: ['**', '!b'] }], ['a']],
    [
      'the main conversation by any context',
      [{ kind: 'a', context: ['**'] }],
      [{ kind: 'a', context: '**' }],
    ],
    ['a payload left out', [{ kind: 'a', payload: {} }], ['a']],
    ['a key left out', [request({ name: 'x' })], [request({})]],
    ['a wider key', [request({ name: 'x*' })], [request({ name: '*' })]],
    ['a negation lost', [request({ a: ['*', '!b'] })], [request({ a: '*' })]],
    ['a negation narrowed', [request({ a: '!secret*' })], [request({ a: '!secret_x' })]],
    ['text that a negation hits', [request({ a: '!b*' })], [request({ a: 'bc' })]],
    ['a glob that a negation may hit', [request({ a: '!ab*' })], [request({ a: 'a*' })]],
    [
      'two texts of which a negation hits one',
      [request({ a: ['*', '!secret*'] })],
      [request({ a: ['read_x', 'secret_x'] })],
    ],
    ['text that a regular expression may exclude', [request({ a: '!re:b' })], [request({ a: 'c' })]],
    ['a negation by text', [request({ a: '*' })], [request({ a: '!b' })]],
    ['numbers by text', [request({ a: '**' })], [request({ a: 5 })]],
    ['objects by a negation', [request({ a: '!b' })], [request({ a: {} })]],
    ['text by a regular expression', [request({ a: 're:.*' })], [request({ a: 'b' })]],
    ['another regular expression', [request({ a: 're:a+' })], [request({ a: 're:aa*' })]],
    ['a string by a number', [request({ a: 1 })], [request({ a: '1' })]],
    ['the key ** by nothing', [{ kind: 'a', payload: { '**': 'x' } }], [{ kind: 'a', payload: {} }]],
    ['a field by the key **', [{ kind: 'a', payload: { b: 'x' } }], [{ kind: 'a', payload: { '**': 'x' } }]],
    [
      'itself by the key **',
      [{ kind: 'a', payload: { '**': { b: 1 } } }],
      [{ kind: 'a', payload: { b: 1 } }],
    ],
    ['what is not there by a key', [request({ toString: '**' })], [request({})]],
  ])('%s', (_, held, asked) => {
    expect(covers(held, asked)).toBe(false)
  })
})

describe('what comparing costs is counted', () => {
  const { work } = defaultLimits
  const lists = (count: number, length: number, text: (i: number, j: number) => string): Capability[] =>
    Array.from({ length: count }, (_, i) => ({
      kind: 'a',
      to: Array.from({ length }, (_, j) => text(i, j)),
    }))
  const globs = lists(17, 61, (i, j) => `x${i}.${j}*`)

  test('a list of many globs is compared within the limit, the same each time', () => {
    const spent = [globs, globs.toReversed()].map((asked) => {
      const meter = new WorkMeter(work)
      expect(covers(globs, asked, meter)).toBe(true)
      return meter.spent
    })
    expect(spent[0]).toBeGreaterThan(500)
    expect(spent[1]).toBe(spent[0])
  })

  test('a list read before is not charged again', () => {
    const [coverage, once, twice] = [new Coverage(), new WorkMeter(work), new WorkMeter(work)]
    coverage.firstGap([globs], ['b'], once)
    coverage.firstGap([globs], ['b'], twice)
    expect(twice.spent).toBeLessThan(once.spent / 2)
  })

  test.each<[string, Capability[], Capability[]]>([
    [
      'texts in globs of many stars',
      lists(4, 60, (i, j) => `${'*a?*b'.repeat(100)}${i}.${j}`),
      lists(1, 60, (_, j) => `${'ab'.repeat(250)}${j}`),
    ],
    [
      'long globs that begin alike',
      lists(17, 60, (i, j) => `${'a'.repeat(500)}${i}.${j}*`),
      lists(1, 60, (_, j) => `${'a'.repeat(500)}x${j}*`),
    ],
    ['what is too long to read', lists(256, 63, () => 'a'.repeat(512)), ['b']],
  ])('over the limit it ends: %s', (_, held, asked) => {
    const meter = new WorkMeter(work)
    expect(() => covers(held, asked, meter)).toThrow(WorkError)
    expect(meter.spent).toBeLessThan(work * 1.1)
  })
})

test('gives up on lists that take too long to compare', () => {
  const list = Array.from({ length: 256 }, (_, i) => ({
    kind: 'a',
    payload: { a: Array.from({ length: 63 }, (_, j) => `${i}.${j}`) },
  }))
  expect(covers(list, list.slice(0, 3))).toBe(true)
  expect(covers(list, list.toReversed())).toBe(false)
})
