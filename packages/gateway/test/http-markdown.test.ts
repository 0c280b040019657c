import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { range } from './client.js'
import { begin, chat, conclude, inPublic, stage, thought, twoCalls } from './turns.js'

type Stage = Awaited<ReturnType<typeof stage>>

async function exported({ as }: Pick<Stage, 'as'>, reader: string, query = ''): Promise<string> {
  const response = await as(reader).get(`/audit/export?format=markdown${query}`)
  if (response.status !== 200) throw new Error(await response.text())
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  return response.text()
}

/** Replaces the random ids of turns and jobs by numbers in the order of the text. */
const anonymous = (text: string): string => {
  const ids = [...new Set([...text.matchAll(/^## Turn (\S+)/gm)].map(([, id]) => id))]
  return ids
    .reduce<string>((rest, id = '', at) => rest.replaceAll(id, `#${at + 1}`), text)
    .replace(/(?<=· rules )[0-9a-f]{6}/, 'DIGEST')
}

const legend =
  '[思考] thinking · [計画] plan · [承認待ち] waiting for approval · [実行] executed · [エラー] error'
const head = `# Turns of test\n\n${legend} · rules DIGEST\n\n`
const at = '(2026-01-01T00:00:00.000Z)'

const ofBen = [
  'ana asks: please do a',
  'ben begins: how to do a',
  '[思考] first look, then a',
  'ben calls look of tool { "query": "look" } — "to know a" · by space.yaml: mcp.* (tool_call: a-1)',
  '[実行] look -> seen (tool_call: a-1)',
  '[思考] now',
  'ben calls act of tool { "query": "act" } — "to do a" · by space.yaml: mcp.* (tool_call: a-2)',
  '[実行] act -> acted (tool_call: a-2)',
  'ben concludes',
  'ben answers: a is done',
]
/**
 * Ben's call with this number (1 or 2) as a turn of the tool, in which the call is the question. Its right is not shown there.
 */
const ofTool = (call: number) =>
  ofBen
    .filter((line) => line.includes(`a-${call}`))
    .map((line) => line.replace(' · by space.yaml: mcp.*', ''))
const alone = ['ben begins: alone', '[思考] tidying up']

type Turn = [heading: string, ...lines: string[]]

/** The Markdown export of these turns. */
const documentOf = (...turns: Turn[]): string => {
  const blocks = turns.map(([heading, ...lines], place) =>
    [`## Turn #${place + 1} ${at} ${heading}`, ...lines].join('\n\n'),
  )
  return `${head}${blocks.join('\n\n')}\n`
}

test('the export for people has each turn as it went, and jobs, in the order in which they began', async () => {
  const staged = await stage({ clock: new FakeClock() })
  await staged.say(...twoCalls('a'), ['ben', begin('job', undefined, 'alone'), thought('job', 'tidying up')])
  const answers = (call: number) => ofTool(call).map((line) => line.replace('[実行]', 'tool answers [実行]'))
  const turn: Turn = ['ben, turn 1, completed', ...ofBen]
  const job: Turn = ['ben, job, running', ...alone]
  const tools: Turn[] = [1, 2].map((call) => [`tool, turn ${call}, completed`, ...answers(call)])
  expect(anonymous(await exported(staged, 'stranger'))).toBe(documentOf(turn, ...tools, job))
  const thread = '&thread_id=test/ben'
  expect(anonymous(await exported(staged, 'stranger', thread))).toBe(documentOf(turn, job))
  expect(anonymous(await exported(staged, 'stranger', `${thread}&turn=1`))).toBe(documentOf(turn))
})

test('it tells each what it may read', async () => {
  const staged = await stage()
  const hide = { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } }
  await staged.say(
    ['ana', chat('ask', 'go', { to: ['ben'] })],
    [
      'ben',
      begin('run', 'ask', 'begin', inPublic('begin')),
      thought('run', 'ASIDE', { to: ['ana'] }),
      thought('run', 'ALOUD'),
    ],
    ['ana', chat('again', 'go on', { to: ['ben'] })],
    ['ben', begin('secret', 'again', 'begin', { to: ['ana'] }), thought('secret', 'SECRET', { to: ['ana'] })],
  )
  const found = async (reader: string) => {
    const text = await exported(staged, reader, '&thread_id=test/ben')
    return [
      text.match(/^## /gm)?.length ?? 0,
      ...['ASIDE', 'ALOUD', 'SECRET'].map((word) => text.includes(word)),
    ]
  }
  expect(await found('stranger')).toEqual([1, false, true, false])
  for (const reader of ['ana', 'ben', 'auditor']) expect(await found(reader)).toEqual([2, true, true, true])

  await staged.say(['ben', hide])
  // Hiding a run hides its thoughts, but not its start.
  expect(await found('stranger')).toEqual([1, false, false, false])
  expect(await found('auditor')).toEqual([2, false, false, true])
  expect(await found('ben')).toEqual([2, true, true, true])
  await staged.say(['ben', conclude('run')])
  expect(await found('stranger')).toEqual([1, false, true, false])
})

test('it goes on over many turns, and over a turn with many steps', async () => {
  const staged = await stage()
  await staged.say(['ben', begin('run', undefined, 'begin')])
  for (const start of [1, 301]) {
    await staged.say([
      'ben',
      ...range(start, start + 299).map((count) => thought('run', `thought ${count}.`)),
    ])
  }
  for (const count of range(1, 40)) {
    await staged.say(
      ['ana', chat(`ask${count}`, 'hm?')],
      ['cleo', { ...begin(`run${count}`, `ask${count}`, 'so') }, thought(`run${count}`, `cleo ${count}.`)],
    )
  }
  const text = (await exported(staged, 'stranger')).slice(head.length)
  const found = [...text.matchAll(/^\[思考\] (.*)$/gm)].map(([, content]) => content)
  expect(found).toEqual([
    ...range(1, 600).map((count) => `thought ${count}.`),
    ...range(1, 40).map((count) => `cleo ${count}.`),
  ])
  expect(text.match(/^## Turn/gm)).toHaveLength(41)
  expect(text).not.toMatch(/\n{3}/)
})

test('a text cannot pass for another turn', async () => {
  const staged = await stage()
  await staged.say([
    'ben',
    begin('run', undefined, 'begin'),
    thought('run', 'so\n\n## Turn X (now)\n\n[実行] no'),
  ])
  expect((await exported(staged, 'ana')).match(/^## /gm)).toHaveLength(1)
})

test.for([
  ['thread_id=test/bne', 404, 'test/bne'],
  ['thread_id=test/ben&turn=7', 404, 'test/ben'],
  ['thread_id=test/ben&turn=0', 400, 'turn must be'],
  ['turn=1', 400, 'thread_id'],
  ['thread_id=else/ben', 400, 'thread_id'],
  ['after=1', 400, 'format=jsonl'],
] as const)('%s is refused with %i', async ([query, status, says]) => {
  const { as } = await stage()
  const response = await as('ana').get(`/audit/export?format=markdown&${query}`)
  expect([response.status, await response.json()]).toMatchObject([
    status,
    { detail: expect.stringContaining(says) },
  ])
})

test.for(['format=html', 'format=jsonl&thread_id=test/ben', 'turn=1&thread_id=test/ben'])(
  'the export with %s is refused',
  async (query) => {
    const { as } = await stage()
    const response = await as('ana').get(`/audit/export?${query}`)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_request' }])
  },
)

test('a thread in which nothing was done yet is an empty text', async () => {
  expect(await exported(await stage(), 'ana', '&thread_id=test/ben')).toBe('')
})
