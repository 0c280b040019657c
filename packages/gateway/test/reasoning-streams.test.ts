import { describe, expect, test } from 'vitest'
import { dataOf, isReasoning, lastIdOf, rawEvents, reasoningIn, received, story } from './reasoning-story.js'
import { begin, call, chat, conclude, result, stage, stores, thought, twoCalls } from './turns.js'

const end = chat('end', 'that is all')

describe('a stream that is cut off', () => {
  test.for([
    ['ben', 'memory'],
    ['stranger', 'memory'],
    ['auditor', 'SQLite'],
  ] as const)('anywhere, and resumed, loses and repeats nothing: %s, %s', async ([reader, kind]) => {
    const limits = { connectionsPerParticipant: 200 }
    const { url, say } = await stage({ limits, store: await stores[kind]() })
    const live = rawEvents(url, reader, { query: 'after=0' })
    await say(...story)
    const blocks = await live
    expect(blocks.filter(isReasoning).length).toBeGreaterThan(3)
    expect(await rawEvents(url, reader, { query: 'after=0' })).toEqual(blocks)
    for (const cut of blocks.keys()) {
      const seen = blocks.slice(0, cut)
      const rest = await rawEvents(url, reader, { lastId: lastIdOf(seen) })
      expect([...seen, ...rest]).toEqual(blocks)
    }
  })

  test('has for each event the seq of its envelope as its id, and tells those of one seq apart', async () => {
    const staged = await stage()
    await staged.say(...story)
    const blocks = await rawEvents(staged.url, 'auditor', { query: 'after=0' })
    const ids = blocks.map((block) => /^id: (.*)$/m.exec(block)?.[1] ?? '')
    expect(new Set(ids).size).toBe(ids.length)
    let seq = 0
    for (const [at, block] of blocks.entries()) {
      if (!isReasoning(block)) seq = dataOf(block).seq as number
      expect(Number.parseInt(ids[at] ?? '', 10)).toBe(seq)
    }
    const two = ids.findIndex((id) => id.endsWith('.1'))
    const first = ids[two - 1]?.slice(0, -2)
    expect(ids.slice(two - 1, two + 2)).toEqual([`${first}.0`, `${first}.1`, first])
  })

  test.for(['7.', '.1', '7.x', '7.1.1', '7.-1', '7.0000000', '7,1', ' 7.1 2'])(
    'refuses the id %j',
    async (lastId) => {
      const { as } = await stage()
      const response = await as('ana').get('/events', { 'last-event-id': lastId })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'invalid_request', detail: expect.stringContaining('Last-Event-ID') },
      ])
    },
  )

  test('goes on rightly from ids that nothing had, and from a place that is not there', async () => {
    const staged = await stage()
    await staged.say(...twoCalls('a'), ['ana', end])
    const all = await rawEvents(staged.url, 'ana', { query: 'after=0' })
    const from = (id: string) => all.slice(all.findIndex((block) => block.includes(`\nid: ${id}\n`)))
    expect(await rawEvents(staged.url, 'ana', { lastId: '7.9' })).toEqual(from('8'))
    expect(await rawEvents(staged.url, 'ana', { lastId: '6.0' })).toEqual(from('7.0'))
    const lost = await rawEvents(staged.url, 'ana', { lastId: '99.1' })
    expect(lost[0]).toMatch(/^event: lost\n/)
    expect(lost.slice(1)).toEqual(all)
  })
})

describe('what each is told', () => {
  test('is what it may read', async () => {
    const staged = await stage()
    await staged.say(
      ['ana', chat('ask', 'go')],
      ['ben', begin('run', 'ask', 'aside', { to: ['ana'] }), call('one', 'run', 'look', 'to see')],
      ['tool', result('one')],
      ['ana', end],
    )
    const seen = async (reader: string) =>
      (await received(staged.url, reader)).map(({ narrative }) => narrative)
    for (const reader of ['ana', 'ben', 'auditor']) expect(await seen(reader)).toEqual(['aside'])
    expect(await seen('tool')).toEqual([undefined])
    expect(await seen('stranger')).toEqual([])
  })

  test('is nothing of calls for others alone', async () => {
    const staged = await stage({ mcp: { visibility: 'addressees' } })
    await staged.say(...twoCalls('a'), ['ana', end])
    for (const reader of ['ben', 'tool', 'auditor'])
      expect(await received(staged.url, reader)).toHaveLength(2)
    for (const reader of ['ana', 'stranger']) expect(await received(staged.url, reader)).toEqual([])
  })

  test('has no thought of a hidden run, and all of it afterwards', async () => {
    const staged = await stage()
    const show = (reasoningVisible: boolean) => ({
      kind: 'observe.visibility',
      payload: { context: 'run', reasoningVisible },
    })
    const readers = ['stranger', 'auditor', 'ben']
    const live = readers.map((reader) => rawEvents(staged.url, reader, { query: 'after=2' }))
    await staged.say(
      ['ana', chat('ask', 'go')],
      [
        'ben',
        begin('run', 'ask', 'begin'),
        show(false),
        thought('run', 'HIDDEN'),
        call('one', 'run', 'look', 'why'),
      ],
      ['tool', result('one')],
      ['ana', end],
    )
    const narratives = (blocks: string[]) => reasoningIn(blocks).map(({ narrative }) => narrative)
    expect((await Promise.all(live)).map(narratives)).toEqual([['begin'], ['begin'], ['HIDDEN']])
    for (const reader of ['stranger', 'auditor']) {
      expect((await received(staged.url, reader)).map(({ narrative }) => narrative)).toEqual(['begin'])
    }
    await staged.say(['ben', conclude('run')])
    for (const reader of readers) {
      expect((await received(staged.url, reader)).map(({ narrative }) => narrative)).toEqual(['HIDDEN'])
    }
  })

  test('is of the calls that fit what it asked for, live and replayed alike', async () => {
    const every = ['test/ben 1', 'test/cleo 1', 'test/ben 4', 'job', 'job', 'test/ben 1']
    const ofBen = ['test/ben 1', 'test/ben 4', 'test/ben 1']
    const inRun = ['test/ben 1', 'test/ben 4']
    const queries: [query: string, expected: string[], end?: string][] = [
      ['', every],
      ['reasoning=full', every],
      ['reasoning=boundaries', []],
      ['reasoning=none', []],
      ['kind=chat', []],
      ['kind=chat,mcp.request', every],
      ['kind=mcp.response,chat', []],
      ['from=ben,ana', ofBen],
      ['from=ana', []],
      ['context=job', ['job', 'job'], 'end-of-job'],
      ['context=run', inRun, 'end-of-run'],
      ['context=run&from=cleo', [], 'end-of-cleo'],
      ['context=run&kind=mcp.request', inRun, 'end-of-run'],
      ['correlationId=ask', [], 'end-of-run'],
    ]
    const { url, say } = await stage({ limits: { connectionsPerParticipant: 99 } })
    const asked = queries.map(([query, , until = 'end']) => ({ query: `after=2&${query}`, until }))
    const live = asked.map((each) => rawEvents(url, 'auditor', each))
    await say(
      ...story.slice(0, -1),
      ['cleo', chat('end-of-job', 'x', { context: 'job' }), call('end-of-cleo', 'run', 'look', 'to end')],
      ['ana', { ...call('end-of-run', 'run', 'look', 'to end'), correlationId: 'ask' }, end],
    )
    for (const [at, [query, expected]] of queries.entries()) {
      const blocks = await live[at]
      expect(await rawEvents(url, 'auditor', asked[at] ?? {})).toEqual(blocks)
      expect([query, titles(blocks ?? [])]).toEqual([query, expected])
    }
  })

  const titles = (blocks: readonly string[]): string[] =>
    reasoningIn(blocks).map((event) =>
      event.type === 'job_reasoning' ? event.job_id : `${event.thread_id} ${event.tool_decisions.length}`,
    )
})
