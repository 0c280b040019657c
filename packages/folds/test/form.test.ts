import { type Filled, type FormField, readFilled, readForm } from '@meup/folds'
import { describe, expect, test } from 'vitest'

const formOf = (properties: object, required: readonly string[] = [], more: object = {}) =>
  readForm({ message: 'Well?', requestedSchema: { type: 'object', properties, required }, ...more })

const fieldOf = (schema: object, isRequired = true): FormField => {
  const field = formOf({ it: schema }, isRequired ? ['it'] : [])?.fields[0]
  if (field === undefined) throw new Error('there is no form')
  return field
}

test('a form has the fields of its schema, in their order, with titles and defaults', () => {
  const form = formOf(
    {
      city: { type: 'string', title: 'City', description: 'where to', default: 'Rome' },
      nights: { type: 'integer', minimum: 1 },
      balcony: { type: 'boolean', default: true },
      board: { type: 'string', enum: ['half', 'full'], enumNames: ['Half board', 'Full board'] },
      bed: { type: 'string', oneOf: [{ const: 'd', title: 'Double' }] },
      extras: {
        type: 'array',
        items: { anyOf: [{ const: 'tea' }, { const: 'wine', title: 'Wine' }] },
        default: ['tea'],
      },
      days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu'] } },
    },
    ['city'],
  )
  expect(form).toMatchObject({
    message: 'Well?',
    fields: [
      {
        name: 'city',
        label: 'City',
        description: 'where to',
        type: 'text',
        isRequired: true,
        initial: 'Rome',
      },
      { name: 'nights', label: 'nights', type: 'integer', isRequired: false, initial: '', min: 1 },
      { name: 'balcony', type: 'boolean', initial: true },
      { name: 'board', type: 'choice', options: [{ value: 'half', label: 'Half board' }, { value: 'full' }] },
      { name: 'bed', type: 'choice', options: [{ value: 'd', label: 'Double' }] },
      { name: 'extras', type: 'choices', options: [{ label: 'tea' }, { label: 'Wine' }], initial: ['tea'] },
      { name: 'days', type: 'choices', options: [{ value: 'mo' }, { value: 'tu' }] },
    ],
  })
})

test.for([
  ['a field of no form', () => formOf({ it: { type: 'object' } })],
  ['a list of anything', () => formOf({ it: { type: 'array', items: { type: 'string' } } })],
  ['an address to open', () => formOf({}, [], { mode: 'url', url: 'https://a.example' })],
  ['no message', () => formOf({}, [], { message: 7 })],
  ['no schema', () => readForm({ message: 'Well?' })],
  [
    'more fields than anybody fills in',
    () => formOf(Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, { type: 'string' }]))),
  ],
] as const)('nothing else is a form: %s', ([, read]) => {
  expect(read()).toBeUndefined()
})

describe('what a field is filled in with becomes a value', () => {
  test.for<[string, object, Filled, unknown]>([
    ['a text', { type: 'string' }, 'Rome', 'Rome'],
    ['a number', { type: 'number' }, '1.5', 1.5],
    ['a whole number', { type: 'integer' }, '3', 3],
    ['a mark', { type: 'boolean' }, false, false],
    ['a word for a mark', { type: 'boolean' }, 'Yes', true],
    ['a choice by its value', { type: 'string', enum: ['a', 'b'] }, 'b', 'b'],
    ['a choice by its title', { type: 'string', oneOf: [{ const: 'a', title: 'Ape' }] }, 'Ape', 'a'],
    ['several choices', { type: 'array', items: { enum: ['a', 'b'] } }, ['b', 'a'], ['b', 'a']],
    ['several choices that were typed', { type: 'array', items: { enum: ['a', 'b'] } }, 'a, b', ['a', 'b']],
    ['an address', { type: 'string', format: 'email' }, 'a@b', 'a@b'],
    ['a day', { type: 'string', format: 'date' }, '2026-02-28', '2026-02-28'],
  ])('%s', ([, schema, filled, value]) => {
    expect(readFilled(fieldOf(schema), filled)).toEqual({ value })
  })

  test.for<[string, object, Filled, RegExp]>([
    ['nothing', { type: 'string' }, '', /needed/],
    ['no choice', { type: 'array', items: { enum: ['a'] } }, [], /needed/],
    ['too short', { type: 'string', minLength: 3 }, 'ab', /3 characters or more/],
    ['too long', { type: 'string', maxLength: 1 }, 'ab', /1 characters or fewer/],
    ['no number', { type: 'number' }, 'two', /a number/],
    ['no whole number', { type: 'integer' }, '1.5', /whole/],
    ['too little', { type: 'number', minimum: 2 }, '1', /2 or more/],
    ['too much', { type: 'number', maximum: 2 }, '3', /2 or less/],
    ['not yes or no', { type: 'boolean' }, 'maybe', /yes or no/],
    ['not among the choices', { type: 'string', enum: ['a', 'b'] }, 'c', /one of a, b/],
    [
      'not among choices that hide something',
      { type: 'string', enum: ['a\n\u202E? b', 'd'] },
      'c',
      /one of a \? b, d$/,
    ],
    ['not among long choices', { type: 'string', enum: ['a'.repeat(9000)] }, 'c', /^is one of a{489}…$/],
    [
      'too few choices',
      { type: 'array', minItems: 2, items: { enum: ['a', 'b'] } },
      ['a'],
      /2 of them or more/,
    ],
    ['no address', { type: 'string', format: 'uri' }, 'over there', /no uri/],
    ['no day', { type: 'string', format: 'date' }, '2026-13-01', /no date/],
  ])('but not %s', ([, schema, filled, problem]) => {
    expect(readFilled(fieldOf(schema), filled)).toEqual({ problem: expect.stringMatching(problem) })
  })

  test('what may be left out is left out', () => {
    expect(readFilled(fieldOf({ type: 'string' }, false), '')).toEqual({})
    expect(readFilled(fieldOf({ type: 'array', items: { enum: ['a'] } }, false), [])).toEqual({})
  })
})

test('a form that nobody could look through is none', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => String(at))
  expect(formOf({ it: { type: 'string', enum: many } })).toBeUndefined()
  expect(
    formOf({ it: { type: 'array', items: { anyOf: many.map((value) => ({ const: value })) } } }),
  ).toBeUndefined()
  expect(formOf({ ['x'.repeat(100_000)]: { type: 'string' } })?.fields[0]?.label.length).toBeLessThan(1000)
  expect(fieldOf({ type: 'string', enum: ['x'.repeat(100_000)] }).options[0]?.label.length).toBeLessThan(1000)
})
