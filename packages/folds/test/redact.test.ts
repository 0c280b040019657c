import { type Guard, readResult, redact } from '@meup/folds'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const open: Guard = (text) => ({ text, isWithheld: false })
const withhold: Guard = (text) => ({ text: '', isWithheld: text.includes('TOP SECRET') })
const mask: Guard = (text) => ({ text: text.replaceAll('hunter2', '[redacted:test]'), isWithheld: false })

describe('parameters', () => {
  test.for([
    'token',
    'accessToken',
    'ACCESS_TOKEN',
    'access-token',
    'password',
    'Passwd',
    'userPassword',
    'secret',
    'clientSecret',
    'Authorization',
    'X-Api-Key',
    'apiKey',
    'api_key',
    'APIKEY',
    'Set-Cookie',
    'privateKey',
    'credentials',
    'auth',
    'PIN',
  ])('named %s are masked', (name) => {
    expect(redact({ [name]: 'abc' }, open).value).toEqual({ [name]: '[redacted]' })
    expect(redact([{ deep: { [name]: { any: ['abc'] } } }], open).value).toEqual([
      { deep: { [name]: '[redacted]' } },
    ])
  })

  test('are guarded in their names as well', () => {
    expect(redact({ 'is hunter2': { hunter2: 1 } }, mask).value).toEqual({
      'is [redacted:test]': { '[redacted:test]': 1 },
    })
  })

  test.for([
    { max_tokens: 5 },
    { tokenizer: 'bpe' },
    { secretary: 'Ann' },
    { author: 'Ann' },
    { compass: 'N' },
    { password: null, token: false },
    { key: 'a', path: '/auth/x' },
  ])('that only sound like secrets stay: %j', (parameters) => {
    expect(redact(parameters, open).value).toEqual(parameters)
  })

  test('that are pairs of name and value are masked like any other', () => {
    const headers = [
      { name: 'Authorization', value: 'Bearer abc' },
      { name: 'Accept', value: 'text/html' },
    ]
    expect(redact({ headers }, open).value).toEqual({
      headers: [{ name: 'Authorization', value: '[redacted]' }, headers[1]],
    })
  })

  test('have their texts guarded at any depth', () => {
    expect(redact({ a: ['is hunter2', { b: 'hunter2' }], c: 7 }, mask).value).toEqual({
      a: ['is [redacted:test]', { b: '[redacted:test]' }],
      c: 7,
    })
    expect(redact(['TOP SECRET'], withhold).value).toEqual(['[withheld]'])
  })

  test.for([8187, 8188, 8189, 8190, 8191, 8192])(
    'show that something is left out behind %i spaces',
    (length) => {
      const behind = { deep: { command: 'rm' } }
      const expectMark = (parameters: object): void => {
        const shown = JSON.stringify(redact(parameters, open).value)
        if (shown !== JSON.stringify(parameters)) expect(shown.replace(/ +/, ' ')).toContain('…')
      }
      for (const hidden of ['rm', 7, behind, [behind]]) {
        expectMark({ note: ' '.repeat(length), command: hidden })
        expectMark([' '.repeat(length + 4), hidden])
        expectMark({ a: [' '.repeat(length)], '': hidden })
      }
    },
  )

  test('keep 8,192 characters at most, whatever they are made of', () => {
    const { value, size } = redact({ a: 'x'.repeat(9000), b: 'y' }, open)
    expect(JSON.stringify(value)).toMatch(/^\{"a":"x{8160,}…","…":"…"\}$/)
    expect(size).toBe(8192)
    const many = redact(
      Array.from({ length: 50_000 }, () => ({})),
      open,
    )
    expect(JSON.stringify(many.value).length).toBeLessThan(4 * 8192)
    fc.assert(
      fc.property(fc.object({ maxDepth: 4 }), (object) => {
        const { value, size } = redact({ object, more: 'z'.repeat(8000), object2: object }, open)
        expect(size).toBeLessThanOrEqual(8192)
        expect(JSON.stringify(value).isWellFormed()).toBe(true)
      }),
    )
  })

  test('take no more looks than 8,192 characters are worth, however short or secret their texts are', () => {
    let looks = 0
    const counting = (text: string) => {
      looks++
      return { text, isWithheld: text.length > 100 }
    }
    redact(
      Array.from({ length: 5000 }, (_, n) => `${n}`),
      counting,
    )
    expect(looks).toBeLessThanOrEqual(512)
    looks = 0
    redact(
      Array.from({ length: 100 }, () => 'x'.repeat(5000)),
      counting,
    )
    expect(looks).toBe(2)
  })

  test('are a copy', () => {
    const original = { a: { token: 'abc' } }
    redact(original, open)
    expect(original).toEqual({ a: { token: 'abc' } })
  })
})

describe('a result', () => {
  const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: 'text', text: each })) })

  test.for([
    ['text by its characters', text('héllo', '😀'), { count: 7, unit: 'chars' }],
    ['nothing', { content: [] }, null],
    [
      'a file by its bytes',
      {
        contents: [
          { uri: 'file:///a', text: 'é' },
          { uri: 'file:///b', blob: 'AAECAw==' },
        ],
      },
      { count: 6, unit: 'bytes' },
    ],
    [
      'an image with text by its bytes',
      {
        content: [
          { type: 'image', data: 'AAEC' },
          { type: 'text', text: 'é' },
        ],
      },
      { count: 5, unit: 'bytes' },
    ],
    [
      'a resource by its bytes',
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'abc' } }] },
      { count: 3, unit: 'bytes' },
    ],
    [
      'a list by its items',
      { ...text('[1,2]'), structuredContent: { result: [1, 2] } },
      { count: 2, unit: 'items' },
    ],
    ['a list by its name', { tools: [{}, {}, {}], nextCursor: 'x' }, { count: 3, unit: 'tools' }],
    ['a single match', { ...text(), structuredContent: { matches: [{}] } }, { count: 1, unit: 'match' }],
    [
      'single entries',
      { ...text(), structuredContent: { log_entries: [1] } },
      { count: 1, unit: 'log entry' },
    ],
    [
      'no name that is a text',
      { ...text(), structuredContent: { 'AKIA 1': [1, 2] } },
      { count: 2, unit: 'items' },
    ],
    ['what was found', text('Found 3 documents matching "x"', 'more'), { count: 3, unit: 'documents found' }],
    ['an array by its items', [1, 2], { count: 2, unit: 'items' }],
    ['a record not at all', { ...text(), structuredContent: { a: 1, b: 2 } }, null],
    ['a text by its characters', { content: 'x' }, { count: 1, unit: 'chars' }],
    ['a broken one not at all', { content: 5 }, null],
  ] as const)('counts %s', ([, result, size]) => {
    expect(readResult({ result }, open)).toMatchObject({ outcome: 'success', size })
  })

  test('that is an error says why', () => {
    const why = (payload: object) => readResult(payload as Record<string, unknown>, mask)
    expect(why({ error: { code: 1, message: 'hunter2 is wrong' } })).toEqual({
      outcome: 'error',
      text: '[redacted:test] is wrong',
      size: null,
    })
    expect(why({ error: { code: 1 } }).text).toBe('{"code":1}')
    expect(why({ result: { ...text(' '), isError: true } })).toMatchObject({
      outcome: 'error',
      text: 'failed without saying why',
    })
    expect(why({ result: { ...text('no'), isError: true } }).text).toBe('no')
  })

  test('gives its text, else its data', () => {
    const said = (result: unknown) => readResult({ result }, mask).text
    expect(said(text('a', 'hunter2'))).toBe('a\n[redacted:test]')
    expect(said({ content: [], structuredContent: { password: 'x' } })).toBe('{"password":"[redacted]"}')
    expect(said({ resources: [{ uri: 'a' }], _meta: {} })).toBe('{"resources":[{"uri":"a"}]}')
    expect(said({ content: [] })).toBe('')
    expect(said(null)).toBe('')
  })
})
