import type { InputSchema, ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { fakeSchema } from './support/fake-schema.js'

const participants = { ana: ['*'], files: ['*'] }

/** A tool with this input, that gives back what it was given; and a way to call it. */
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
    expect(await echo.problem({})).toBe('wrong arguments: a; b; x/0/y: c')
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

  test('describes itself where it can, else as any object', async () => {
    await using able = await tool(celsius)
    expect(await able.schema()).toEqual({
      type: 'object',
      description: 'in draft-2020-12',
      required: ['fahrenheit'],
    })
    await using unable = await tool(fakeSchema((value) => ({ value })))
    expect(await unable.schema()).toEqual({ type: 'object' })
    expect(await unable.call({ anything: 1 })).toEqual({ got: { anything: 1 } })
  })
})

describe('an input that is no schema that checks arguments', () => {
  const throwing = fakeSchema(
    (value) => ({ value }),
    () => {
      throw new Error('Date cannot be represented in JSON Schema')
    },
  )
  const circle: { self?: unknown } = {}
  circle.self = circle
  const describing = (schema: unknown) =>
    fakeSchema(
      (value) => ({ value }),
      () => schema as Record<string, unknown>,
    )
  test.each<[name: string, input: unknown, why: RegExp]>([
    ['a plain JSON Schema', { type: 'object', properties: { path: { type: 'string' } } }, /use Type\.Object/],
    ['the properties of one', { path: Type.String() }, /use Type\.Object/],
    ['null', null, /use Type\.Object/],
    ['a text', 'object', /use Type\.Object/],
    ['one that checks nothing', { '~standard': { version: 1 } }, /use Type\.Object/],
    ['one without a JSON Schema', throwing, /its input has no JSON Schema: Date cannot be represented/],
    ['one whose JSON Schema holds itself', describing(circle), /no JSON Schema: Converting circular/],
    ['one whose JSON Schema is no JSON', describing({ minimum: 1n }), /no JSON Schema: .*BigInt/],
    ['one whose JSON Schema is a text', describing('object'), /the JSON Schema of its input is no object/],
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
