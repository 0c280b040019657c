import { describe, expect, test } from 'vitest'
import { adding, answering, getPrompt, stage } from './stage.js'

/** A result with this text and structured content, as the model gets it. */
async function read(text: string, structuredContent: unknown): Promise<string> {
  await using here = await stage([[{ call: 'desk__give', input: {} }], answering('done')])
  const content = text === '' ? [] : [{ type: 'text', text }]
  here.desk.tool('give', {}, () => ({ content, structuredContent }))
  await here.ask()
  const [part] = (getPrompt(here.model, 1).at(-1)?.content ?? []) as { output: { value: string } }[]
  return part?.output.value ?? ''
}

const issues = { issues: [{ id: 7, title: 'It "fails"\nhere' }] }

describe('the data of a result', () => {
  test.each<[name: string, text: string, data: unknown]>([
    ['a summary', 'issues listed', issues],
    ['a part of it', 'Issue 7', issues],
    ['a count', '1 issue', { total: 1, issues: ['crash'] }],
    ['nothing', '', issues],
    ['a word, and the data says no', 'Done.', { success: false, error: null }],
    ['a word, and there is nothing', 'Issues listed.', { issues: [] }],
    ['a word, and it is unknown', 'Weather:', { degrees: null }],
    ['about another number', 'Report of 2025-11-28', { total: 5, pages: 8 }],
  ])('is read, if the text is %s', async (_, text, data) => {
    const value = await read(text, data)
    expect(value).toContain(JSON.stringify(data))
    expect(value).toContain(text)
  })

  test.each<[name: string, text: string, data: unknown]>([
    ['its JSON', JSON.stringify(issues), issues],
    ['its JSON, indented', JSON.stringify(issues, null, 2), issues],
    ['all of it in other words', '- 7: It "fails"\nhere', issues],
    ['a text about values alone', 'It is true.', { is: true, none: null }],
    ['the value', '-3.5', { result: -3.5 }],
    ['a sentence with it', 'There are 5, in "C:\\a b".', { count: 5, in: 'C:\\a b' }],
    ['all there is to say', 'Done.', {}],
  ])('is not read twice, if the text is %s', async (_, text, data) => {
    expect(await read(text, data)).toBe(text)
  })

  test('is cut as texts are, and found quickly in a long text', async () => {
    const data = Array.from({ length: 20_000 }, (_, at) => `row ${at}`)
    expect((await read('20,000 rows', { data })).length).toBeLessThan(70_000)
    expect((await read(JSON.stringify({ data }), { data })).split('row 19999')).toHaveLength(2)
  })
})

test('a result of a tool that gives a value is read once', async () => {
  await using here = await stage([
    adding({ a: 1, b: 2 }),
    [{ call: 'desk__list', input: {} }],
    answering('3'),
  ])
  here.desk.tool('list', {}, () => issues)
  await here.ask()
  expect(JSON.stringify(getPrompt(here.model, 2)).split('fails')).toHaveLength(2)
})
