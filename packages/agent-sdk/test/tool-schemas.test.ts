import type { InputSchema, StandardSchema, ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { schemaErrors } from '../src/agent/errors.js'
import { fakeSchema } from './support/fake-schema.js'

/** A zod schema that cannot generate JSON Schema, like those of zod 4.0 and 4.1. */
function withoutJsonSchema<Schema extends z.ZodType>(schema: Schema): Schema {
  const { jsonSchema: _, ...standard } = schema['~standard'] as StandardSchema['~standard']
  return Object.create(schema, { '~standard': { value: standard } })
}

const participants = { ana: ['*'], files: ['*'] }

/** Offers a tool with this input that returns its arguments. Returns functions that call it. */
async function tool(input?: InputSchema) {
  const space = await createTestSpace({ participants })
  const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
  files.tool('echo', input === undefined ? {} : { input }, (args) => ({ got: args }))
  return {
    call: async (args?: object) => (await ana.call('files/echo', args)).data,
    request: (params: object) => ana.request('files', 'tools/call', params),
    problem: (args: object) =>
      ana.call('files/echo', args).then(
        () => expect.unreachable('the arguments were taken'),
        (error: ToolError) => error.message,
      ),
    schema: async () => {
      const { tools } = (await ana.request('files', 'tools/list')) as { tools: { inputSchema: object }[] }
      return tools[0]?.inputSchema
    },
    [Symbol.asyncDispose]: () => space.close(),
  }
}

const Path = Type.Object(
  { path: Type.String({ minLength: 1 }), lines: Type.Optional(Type.Integer({ minimum: 1 })) },
  { additionalProperties: false },
)

describe('TypeBox', () => {
  test('passes what fits', async () => {
    await using echo = await tool(Path)
    expect(await echo.call({ path: 'a', lines: 2 })).toEqual({ got: { path: 'a', lines: 2 } })
  })

  test.each([
    [{}, '/path'],
    [{ path: 1 }, '/path'],
    [{ path: '' }, '/path'],
    [{ path: 'a', lines: 0 }, '/lines'],
    [{ path: 'a', more: true }, '/more'],
  ])('says what is wrong with %j', async (args, where) => {
    await using echo = await tool(Path)
    expect(await echo.problem(args)).toMatch(new RegExp(`^wrong arguments: ${where}: .`))
  })

  test('says so where the arguments are no object', async () => {
    await using echo = await tool(Path)
    const result = await echo.request({ name: 'echo', arguments: 'path' })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/the arguments: /) }],
    })
  })

  test('takes no arguments for none', async () => {
    await using echo = await tool()
    expect(await echo.request({ name: 'echo' })).toMatchObject({ structuredContent: { got: {} } })
  })

  test('describes itself', async () => {
    await using echo = await tool(Path)
    expect(await echo.schema()).toEqual(JSON.parse(JSON.stringify(Path)))
  })
})

describe('Standard Schema', () => {
  const celsius = fakeSchema<{ degrees: number }>(
    (value) => {
      const { fahrenheit } = value as { fahrenheit?: unknown }
      if (typeof fahrenheit === 'number') return { value: { degrees: ((fahrenheit - 32) * 5) / 9 } }
      return { issues: [{ message: 'is no number', path: ['fahrenheit'] }] }
    },
    ({ target }) => ({ type: 'object', description: `in ${target}`, required: ['fahrenheit'] }),
  )

  test('passes what the schema makes of the arguments', async () => {
    await using echo = await tool(celsius)
    expect(await echo.call({ fahrenheit: 212 })).toEqual({ got: { degrees: 100 } })
  })

  test('says what is wrong, and where', async () => {
    await using echo = await tool(celsius)
    expect(await echo.problem({})).toBe('wrong arguments: fahrenheit: is no number')
  })

  test('says all of it; a path may be of keys, of objects with keys, or missing', async () => {
    const issues = [
      { message: 'a' },
      { message: 'b', path: [] },
      { message: 'c', path: [{ key: 'x' }, 0, 'y'] },
    ]
    await using echo = await tool(fakeSchema(() => ({ issues })))
    expect(await echo.problem({})).toBe('wrong arguments: the arguments: a; the arguments: b; x/0/y: c')
  })

  test('a check that throws is a failed call', async () => {
    await using echo = await tool(
      fakeSchema(() => {
        throw new Error('the schema is broken')
      }),
    )
    expect(await echo.problem({})).toBe('the schema is broken')
  })

  test('is a function that checks, as those of arktype are', async () => {
    await using echo = await tool(
      Object.assign(
        () => {},
        fakeSchema((value) => ({ value })),
      ),
    )
    expect(await echo.call({ anything: 1 })).toEqual({ got: { anything: 1 } })
  })

  test('describes itself', async () => {
    await using able = await tool(celsius)
    expect(await able.schema()).toEqual({
      type: 'object',
      description: 'in draft-2020-12',
      required: ['fahrenheit'],
    })
  })
})

const Weather = { type: 'object', properties: { city: { type: 'string' }, days: { enum: [1, 7] } } }

describe('a plain JSON Schema', () => {
  const plain = { ...Weather, required: ['city'], additionalProperties: false }

  test('describes itself, and passes what fits', async () => {
    await using echo = await tool(plain)
    expect(await echo.schema()).toEqual(plain)
    expect(await echo.call({ city: 'Oslo', days: 7 })).toEqual({ got: { city: 'Oslo', days: 7 } })
  })

  test.each([
    [{}, "the arguments: must have required property 'city'"],
    [{ city: 1 }, '/city: must be string'],
    [{ city: 'Oslo', days: 2 }, '/days: must be equal to one of the allowed values ([1,7])'],
    [{ city: 'Oslo', 'a/b': 2 }, '/a/b: must NOT have additional properties'],
  ])('says what is wrong with %j', async (args, problem) => {
    await using echo = await tool(plain)
    expect(await echo.problem(args)).toBe(`wrong arguments: ${problem}`)
  })

  test('may be one of draft-07, with definitions and tuples', async () => {
    await using echo = await tool({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }] } },
      properties: { at: { $ref: '#/definitions/point' } },
    })
    expect(await echo.call({ at: [1, 2] })).toEqual({ got: { at: [1, 2] } })
    expect(await echo.problem({ at: [1, 'b'] })).toBe('wrong arguments: /at/1: must be number')
  })

  test('is an object where it says no type', async () => {
    await using echo = await tool({ properties: { a: { type: 'string' } } })
    expect(await echo.schema()).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  test('of 100 KiB is checked and listed whole', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 2500 }, (_, n) => [`property-${n}`, { type: 'string', maxLength: n }]),
    )
    const large = { type: 'object', properties }
    expect(JSON.stringify(large).length).toBeGreaterThan(100 * 1024)
    await using echo = await tool(large)
    expect(await echo.schema()).toEqual(large)
    expect(await echo.problem({ 'property-1': 'ab' })).toMatch(/^wrong arguments: \/property-1: /)
  })
})

describe('zod', () => {
  const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  test.each<[string, InputSchema]>([
    ['4', z.object({ city: z.string(), days: z.number().optional() })],
    ['3', z3.object({ city: z3.string(), days: z3.number().optional() })],
    [
      '4.0, which has no JSON Schema of its own',
      withoutJsonSchema(z.object({ city: z.string(), days: z.number().optional() })),
    ],
  ])('%s describes itself and checks', async (_, schema) => {
    await using echo = await tool(schema)
    expect(await echo.schema()).toMatchObject({
      ...city,
      properties: { ...city.properties, days: { type: 'number' } },
    })
    expect(await echo.call({ city: 'Oslo' })).toEqual({ got: { city: 'Oslo' } })
    expect(await echo.problem({ city: 1 })).toMatch(/^wrong arguments: city: /)
  })

  test('what it cannot describe is not in the list, and is reported; other tools are', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
    const reported: unknown[] = []
    files.on('requestError', (error) => reported.push(error))
    files.tool('good', {}, () => 'fine')
    files.tool('bad', { input: fakeSchema((value) => ({ value }), null, 'zod') }, () => '')
    expect(await ana.request('files', 'tools/list')).toMatchObject({ tools: [{ name: 'good' }] })
    expect(reported).toMatchObject([
      { message: expect.stringMatching(/^the tool bad cannot be offered: its input has no JSON Schema: /) },
    ])
  })
})

describe('an input that is no schema that checks arguments', () => {
  const throwing = fakeSchema(
    (value) => ({ value }),
    () => {
      throw new Error('Date cannot be represented in JSON Schema')
    },
  )
  const circular: Record<string, unknown> = { type: 'object' }
  circular.properties = { circular }
  const circle: { self?: unknown } = {}
  circle.self = circle
  const describing = (schema: unknown) =>
    fakeSchema(
      (value) => ({ value }),
      () => schema as Record<string, unknown>,
    )
  test.each<[name: string, input: unknown, why: RegExp | string]>([
    ['the properties of one', { path: Type.String() }, schemaErrors.notASchema().message],
    ['null', null, schemaErrors.notASchema().message],
    ['a text', 'object', schemaErrors.notASchema().message],
    ['an empty object', {}, schemaErrors.notASchema().message],
    ['one of a text', { type: 'string' }, schemaErrors.notAnObject('string').message],
    ['one of a text, of TypeBox', Type.String(), schemaErrors.notAnObject('string').message],
    [
      'one with a wrong type',
      { type: 'object', properties: { a: { type: 'text' } } },
      /\/properties\/a\/type must be one of /,
    ],
    ['one with a wrong list', { type: 'object', required: 'a' }, /\/required must be a list of names/],
    ['one whose properties are a list', { properties: ['a'] }, /\/properties must be an object of schemas/],
    ['one whose alternatives are no list', { anyOf: {} }, /\/anyOf must be a list of schemas/],
    [
      'one with a wrong pattern',
      { properties: { 'a/b': { pattern: '(' } } },
      /\/properties\/a~1b\/pattern must be a regular/,
    ],
    [
      'one with a reference to nothing',
      { properties: { a: { $ref: '#/$defs/a' } } },
      /\/a\/\$ref must name a place/,
    ],
    [
      'one with a wrong bound',
      { properties: { a: { items: { minLength: -1 } } } },
      /\/a\/items\/minLength must be/,
    ],
    [
      'one that holds a text as a schema',
      { properties: { a: 'string' } },
      /\/properties\/a must be an object or a boolean/,
    ],
    ['one that contains itself', circular, /has no JSON Schema: Converting circular/],
    [
      'a Standard Schema without a JSON Schema',
      fakeSchema((value) => ({ value }), null),
      schemaErrors.undescribed('fake').message,
    ],
    [
      'one whose JSON Schema cannot be made',
      throwing,
      /its input has no JSON Schema: Date cannot be represented/,
    ],
    ['one that checks nothing', { '~standard': { version: 1 } }, /has no JSON Schema/],
    ['one whose JSON Schema holds itself', describing(circle), /no JSON Schema: Converting circular/],
    ['one whose JSON Schema is no JSON', describing({ minimum: 1n }), /no JSON Schema: .*BigInt/],
    ['one whose JSON Schema is a text', describing('object'), schemaErrors.notData().message],
  ])('%s is refused at once, and hides no other tool', async (_, input, why) => {
    await using space = await createTestSpace({ participants })
    const [ana, files] = await Promise.all([space.join('ana'), space.join('files')])
    files.tool('good', {}, () => 'fine')
    expect(() => files.tool('bad', { input: input as InputSchema }, () => '')).toThrow(why)
    expect(() => files.tool('bad', { input: input as InputSchema }, () => '')).toThrow(
      /^the tool bad cannot be offered: /,
    )
    expect(await ana.request('files', 'tools/list')).toMatchObject({ tools: [{ name: 'good' }] })
  })
})
