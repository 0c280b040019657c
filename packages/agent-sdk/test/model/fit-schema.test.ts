import { parseExact, stringifyExact } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitSchema, restoreNames, toPlainSchema } from '../../src/model/fit-schema.js'
import { findRefusal, type Provider } from './strict-schemas.js'

const text = { type: 'string' }
const number = { type: 'number' }
const providers: readonly Provider[] = ['openai', 'anthropic', 'gemini']

const odd: readonly [name: string, schema: Record<string, unknown>][] = [
  [
    'anyOf',
    {
      type: 'object',
      anyOf: [
        { properties: { id: text }, required: ['id'] },
        { properties: { name: text }, required: ['name'] },
      ],
    },
  ],
  [
    'oneOf without a type',
    {
      oneOf: [
        { type: 'object', properties: { a: text } },
        { type: 'object', properties: { a: number } },
      ],
    },
  ],
  [
    'allOf',
    {
      allOf: [
        { properties: { a: text }, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
  ],
  [
    'alternatives in alternatives',
    { anyOf: [{ oneOf: [{ properties: { a: text } }] }, { allOf: [{ properties: { b: text } }] }] },
  ],
  ['not, if and enum at the top', { type: 'object', not: { required: ['a'] }, if: {}, else: {}, enum: [{}] }],
  [
    'required: null',
    {
      type: 'object',
      properties: { a: { type: 'object', properties: null, required: null } },
      required: null,
    },
  ],
  ['required: true', { type: 'object', properties: { a: text }, required: true }],
  [
    'required names that are not there',
    { type: 'object', properties: { a: text }, required: ['a', 'b', 'a', 7] },
  ],
  [
    'odd names',
    {
      type: 'object',
      properties: { 'user.name[0]': text, größe: number, '': text, ['x'.repeat(70)]: text, $filter: text },
      required: ['größe'],
    },
  ],
  [
    'odd names below',
    {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { 'a b': text }, required: ['a b'] } },
      },
    },
  ],
  [
    '$ref',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } } }, b: text },
    },
  ],
  [
    '$ref of an earlier draft',
    {
      $schema: 'x',
      type: 'object',
      properties: { a: { $ref: '#/definitions/a~1b', description: 'A' } },
      definitions: { 'a/b': number },
    },
  ],
  [
    'a schema that contains itself',
    {
      type: 'object',
      properties: { node: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
        },
      },
    },
  ],
  [
    'the whole as a reference',
    { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { b: text } } } },
  ],
  [
    'a reference to nothing',
    {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/none' },
        b: { $ref: 'https://example.org/schema' },
        c: { $ref: '#/%zz' },
      },
    },
  ],
  ['a reference to itself', { type: 'object', properties: { a: { $ref: '#/properties/a' } } }],
  [
    'properties that depend on others',
    {
      type: 'object',
      properties: { kind: text },
      required: ['kind'],
      allOf: [
        {
          if: { properties: { kind: { const: 'a' } } },
          // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
          then: { properties: { a: text }, required: ['a'] },
          else: { properties: { b: number } },
        },
      ],
      dependentSchemas: { a: { properties: { c: { type: 'string', const: 'x' } } } },
    },
  ],
  [
    'a reference to an anchor',
    { type: 'object', properties: { a: { $ref: '#foo' } }, $defs: { foo: { $anchor: 'foo', ...text } } },
  ],
  [
    'a list of anything',
    { type: 'object', properties: { a: { type: 'array' }, b: { type: ['array', 'null'], items: null } } },
  ],
  ['a tuple', { type: 'object', properties: { a: { type: 'array', items: [text, number] } } }],
  ['a property that may be anything', { type: 'object', properties: { a: true, b: {}, c: null } }],
  ['nothing', {}],
  ['another type', { type: 'string' }],
]

describe.for(odd)('a schema with %s', ([, schema]) => {
  test.for(providers)('is taken by %s, at once or as a plain one', (provider) => {
    const fitted = fitSchema(schema).schema
    expect(findRefusal('anthropic', fitted)).toBeUndefined()
    expect(findRefusal('openai', fitted)).toBeUndefined()
    expect(findRefusal(provider, toPlainSchema(fitted))).toBeUndefined()
  })
})

test('keeps what it asks for', () => {
  const of = (name: string) => fitSchema(odd.find(([each]) => each === name)?.[1] ?? {}).schema
  expect(of('anyOf')).toEqual({
    type: 'object',
    properties: { id: text, name: text },
    description: 'Give either id, or name.',
  })
  expect(of('oneOf without a type').properties).toEqual({ a: { anyOf: [text, number] } })
  expect(of('allOf')).toEqual({ type: 'object', properties: { a: text, b: text }, required: ['a', 'b'] })
  expect(of('properties that depend on others')).toEqual({
    type: 'object',
    properties: { kind: text, a: text, b: number, c: { type: 'string', const: 'x' } },
    required: ['kind'],
  })
  expect(of('a reference to an anchor').properties).toEqual({ a: {} })
  expect(of('$ref').properties).toEqual({ a: { type: 'object', properties: { b: text } } })
  expect(of('$ref of an earlier draft')).toEqual({
    type: 'object',
    properties: { a: { ...number, description: 'A' } },
  })
  expect(of('the whole as a reference')).toEqual({ type: 'object', properties: { b: text } })
  expect(of('a tuple').properties).toEqual({ a: { type: 'array', items: { anyOf: [text, number] } } })
  const usual = {
    type: 'object',
    description: 'Reads',
    properties: {
      path: { ...text, minLength: 1, default: null },
      lines: { anyOf: [number, { type: 'null' }] },
    },
    required: ['path'],
    additionalProperties: false,
  }
  expect(fitSchema(usual)).toEqual({ schema: usual, names: new Map() })
})

test('arguments get the own names of the tool back, wherever they stand', () => {
  const schema = {
    type: 'object',
    properties: { 'a b': { type: 'array', items: { properties: { 'a b': text, ä: text, a_b: text } } } },
  }
  const fitted = fitSchema(schema)
  expect([...fitted.names.values()].sort()).toEqual(['a b', 'ä'])
  const name = (own: string): string => [...fitted.names].find(([, each]) => each === own)?.[0] ?? own
  expect(name('a b')).not.toBe('a_b')
  const args = { [name('a b')]: [{ [name('a b')]: '1', [name('ä')]: '2', a_b: '3' }] }
  expect(restoreNames(args, fitted.names)).toEqual({ 'a b': [{ 'a b': '1', ä: '2', a_b: '3' }] })
})

test('numbers, texts and order stay as they are written where arguments get their own names back', () => {
  const names = new Map([['a_b', 'a b']])
  const json = '{ "n": 2512292042121000001, "a_b": [1.0, {"a_b": "{\\"a_b\\": [,}"}, [ ] ], "e": {} }'
  const own = '{"n":2512292042121000001,"a b":[1.0,{"a b":"{\\"a_b\\": [,}"},[]],"e":{}}'
  const args = parseExact(json) as object
  expect(stringifyExact(restoreNames(args, names))).toBe(own)
  expect(restoreNames(args, new Map())).toBe(args)
})

test('a schema that grows with each reference ends', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `d${at}`,
      {
        type: 'object',
        properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } },
      },
    ]),
  )
  const { schema } = fitSchema({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs })
  expect(JSON.stringify(schema).length).toBeLessThan(500_000)
})

test('whatever a schema is, providers take it', () => {
  const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
    schema: fc.record(
      {
        type: fc.constantFrom('object', 'array', 'string', null, ['string', 'null'], 7),
        properties: fc.oneof(
          fc.constant(null),
          fc.dictionary(fc.string({ maxLength: 5 }), tie('schema'), { maxKeys: 3 }),
        ),
        items: fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(true, null),
          tie('schema'),
          fc.array(tie('schema'), { maxLength: 2 }),
        ),
        anyOf: fc.oneof({ depthSize: 'small' }, fc.constant(null), fc.array(tie('schema'), { maxLength: 2 })),
        required: fc.constantFrom(null, true, ['a'], []),
        $ref: fc.constantFrom('#', '#/properties/a', '#/anyOf/0', '#/none'),
        enum: fc.constantFrom(['a', ''], [1], null),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Record<string, unknown>>,
  }))
  fc.assert(
    fc.property(schema, (each) => {
      const fitted = fitSchema(each).schema
      expect(findRefusal('openai', fitted)).toBeUndefined()
      expect(findRefusal('anthropic', fitted)).toBeUndefined()
      for (const provider of providers) expect(findRefusal(provider, toPlainSchema(fitted))).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})
