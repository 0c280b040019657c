import { expect, test } from 'vitest'
import { answering, type Script, stage } from './stage.js'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

test.each<[name: string, next: (page: number) => unknown, asked: number]>([
  ['is empty', () => '', 1],
  ['is null', () => null, 1],
  ['is a number', () => 7, 1],
  ['is always the same', () => 'more', 2],
  ['goes in circles', (page) => `page ${page % 3}`, 4],
  ['ends', (page) => (page < 4 ? `page ${page}` : undefined), 5],
])('a list of tools is read once, where the cursor of the next page %s', async (_, next, asked) => {
  await using here = await stage([answering('done')], { tools: ['bob/*'] })
  let page = 0
  here.bob.serve(async ({ payload: { method } }) => {
    if (method !== 'tools/list') return undefined
    return { result: { tools: [tool(`t${page}`), tool('always')], nextCursor: next(page++) } }
  })
  expect(await here.ask()).toBe('done')
  expect(page).toBe(asked)
  const names = here.model.requests[0]?.tools?.map(({ name }) => name)
  expect(names).toHaveLength(asked + 1)
})

test('a tool with odd names of arguments is called with its own', async () => {
  const script: Script = ({ tools = [] }, index) => {
    if (index > 0) return answering('found')
    const [offered] = tools
    const schema = offered?.type === 'function' ? offered.inputSchema : {}
    const [, ...keys] = Object.keys(schema.properties ?? {})
    return [{ call: 'bob__find', input: Object.fromEntries(keys.map((key) => [key, [{ [key]: 1 }]])) }]
  }
  await using here = await stage(script, { tools: ['bob/*'] })
  const properties = { 'user.name[0]': {}, 'ä ö': {} }
  let got: unknown
  here.bob.serve(async ({ payload: { method, params } }) => {
    if (method === 'tools/list')
      return {
        result: { tools: [{ name: 'find', inputSchema: { type: 'object', properties, required: ['ä ö'] } }] },
      }
    if (method === 'tools/call') got = params?.arguments
    return { result: { content: [] } }
  })
  expect(await here.ask()).toBe('found')
  expect(got).toEqual({ 'user.name[0]': [{ 'user.name[0]': 1 }], 'ä ö': [{ 'ä ö': 1 }] })
})
