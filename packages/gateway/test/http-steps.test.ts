import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { range } from './client.js'
import { begin, call, chat, conclude, result, stage, stores, thought, twoCalls } from './turns.js'

interface Step extends Record<string, unknown> {
  readonly id: string
  readonly seq: number
  readonly content: string
}

interface Page {
  readonly steps: readonly Step[]
  readonly decisions: readonly { readonly id: string; readonly seq: number }[]
  readonly has_more: boolean
  readonly next?: number
}

type Stage = Awaited<ReturnType<typeof stage>>

const auditOf = async ({ as }: Pick<Stage, 'as'>, reader: string, query = ''): Promise<Page> =>
  (await as(reader).json(`/audit?${query}`)) as Page

const contents = ({ steps }: Page): string[] => steps.map(({ content }) => content)

/** All pages of the audit, newest first. */
async function pagesOf(staged: Pick<Stage, 'as'>, reader: string, query: string): Promise<Page[]> {
  const pages: Page[] = []
  for (let before = ''; ; ) {
    const page = await auditOf(staged, reader, query + before)
    pages.push(page)
    expect(page.has_more).toBe(page.next !== undefined)
    if (page.next === undefined) return pages
    before = `&before=${page.next}`
  }
}

describe('steps of the audit', () => {
  test('are the rows of the table, with what is said of their turn, the newest first', async () => {
    const staged = await stage({ clock: new FakeClock() })
    await staged.say(...twoCalls('a'))
    const { steps, decisions, has_more } = await auditOf(staged, 'stranger')
    expect([decisions, has_more]).toEqual([[], false])
    expect(contents({ steps } as Page)).toEqual(['act -> acted', 'now', 'look -> seen', 'first look, then a'])
    expect(steps[0]).toStrictEqual({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      turn_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      step_number: 3,
      phase: 'execute',
      content: 'act -> acted',
      linked_tool_call: 'a-2',
      linked_policy_decision: null,
      linked_approval_request: null,
      created_at: '2026-01-01T00:00:00.000Z',
      seq: 10,
      thread_id: 'test/ben',
      turn_number: 1,
      timestamp: '2026-01-01T00:00:00.000Z',
      state: 'completed',
      input_source: 'chat',
      asked_by: 'ana',
      rationale: 'to do a',
      parameters: { query: 'act' },
      redacted_by: expect.stringMatching(/^[0-9a-f]{64}$/),
      allowed_by: 'configured',
      right: 'by space.yaml: mcp.*',
    })
  })

  /** Ben has two turns. Cleo has a turn with steps of all phases and a refusal, and a job: work that no one asked for. */
  async function busy() {
    const clock = new FakeClock()
    const participants = {
      ana: ['*'],
      ben: ['chat', 'reasoning.*', 'mcp.*'],
      cleo: ['chat', 'reasoning.*', 'mcp.proposal', { kind: 'mcp.request', to: 'tool' }],
      tool: ['mcp.*'],
      auditor: ['observe.targeted'],
    }
    const staged = await stage({ clock, participants })
    await staged.say(...twoCalls('a'))
    clock.advance(1000)
    const proposal = {
      id: 'may',
      kind: 'mcp.proposal',
      context: 'crun',
      payload: { method: 'tools/call', params: { name: 'act' } },
    }
    await staged.say(
      ['ana', chat('cask', 'cleo?', { to: ['cleo'] })],
      [
        'cleo',
        begin('crun', 'cask', 'well'),
        thought('crun', 'plan it', { payload: { message: 'plan it', phase: 'plan' } }),
      ],
      ['cleo', proposal, call('c-1', 'crun', 'look', 'to see')],
      ['tool', { ...result('c-1', 'no'), payload: { id: 'c-1', error: { code: 1, message: 'broken' } } }],
    )
    expect((await staged.post('cleo', call('c-2', 'crun', 'act', 'at once', { to: ['ana'] }))).status).toBe(
      403,
    )
    clock.advance(1000)
    await staged.say(
      ['cleo', conclude('crun'), chat('cis', 'no', { correlationId: 'cask' })],
      ['cleo', begin('job', undefined, 'on my own'), thought('job', 'tidying up'), conclude('job')],
      ...twoCalls('b'),
    )
    return staged
  }

  test.for<[query: string, expected: (string | RegExp)[], decisions: number]>([
    ['thread_id=test/ben&turn=1', ['act -> acted', 'now', 'look -> seen', 'first look, then a'], 0],
    ['thread_id=test/ben&turn=3', [], 0],
    ['thread_id=test/cleo&turn=1&phase=plan', ['plan it'], 0],
    ['thread_id=test/cleo&phase=error', ['look -> broken'], 0],
    [
      'thread_id=test/cleo&phase=waiting_approval',
      [/^Policy capability/, /^Awaiting human approval for act/],
      1,
    ],
    ['phase=waiting_approval', [/^Policy capability/, /^Awaiting human approval for act/], 1],
    ['phase=execute&limit=2', ['act -> acted', 'look -> seen'], 0],
    ['from=cleo&phase=thinking', ['tidying up'], 0],
    ['from=cleo', ['tidying up', /^Policy/, 'look -> broken', /^Awaiting/, 'plan it'], 1],
    ['from=ana', [], 0],
    [
      'since=2026-01-01T00:00:01Z&until=2026-01-01T00:00:02Z',
      [/^Policy/, 'look -> broken', /^Awaiting/, 'plan it'],
      1,
    ],
    ['until=2026-01-01T00:00:01Z', ['act -> acted', 'now', 'look -> seen', 'first look, then a'], 0],
    ['since=2026-01-01T01:00:02%2B01:00&from=cleo', ['tidying up'], 0],
    ['thread_id=test/cleo&turn=1&from=ben', [], 0],
  ])('with %s narrows them', async ([query, expected, decisions]) => {
    const page = await auditOf(await busy(), 'auditor', query)
    expect(contents(page)).toEqual(
      expected.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each)),
    )
    expect(page.decisions).toHaveLength(decisions)
  })

  test('link to the call, the decision and the proposal that they are about', async () => {
    const staged = await busy()
    const { steps, decisions } = await auditOf(staged, 'auditor', 'thread_id=test/cleo')
    const links = steps.map((step) => [
      step.phase,
      step.linked_tool_call ?? step.linked_policy_decision ?? step.linked_approval_request,
    ])
    expect(links).toEqual([
      ['thinking', null],
      ['waiting_approval', decisions[0]?.id],
      ['error', 'c-1'],
      ['waiting_approval', 'may'],
      ['plan', null],
    ])
    expect(steps.map(({ turn_number }) => turn_number)).toEqual([null, 1, 1, 1, 1])
    expect(steps[0]?.input_source).toBe('job')
  })

  test('of what a reader may not read are not told to it', async () => {
    const staged = await stage()
    const hide = { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } }
    await staged.say(
      ['ana', chat('ask', 'go')],
      [
        'ben',
        begin('run', 'ask', 'begin'),
        thought('run', 'aside', { to: ['ana'] }),
        thought('run', 'aloud'),
      ],
      ['ben', hide, thought('run', 'hidden')],
    )
    const seen = async (reader: string) => contents(await auditOf(staged, reader, 'phase=thinking'))
    expect(await seen('stranger')).toEqual([])
    expect(await seen('ana')).toEqual([])
    expect(await seen('auditor')).toEqual([])
    expect(await seen('ben')).toEqual(['hidden', 'aloud', 'aside'])
    await staged.say(['ben', conclude('run')])
    expect(await seen('stranger')).toEqual(['hidden', 'aloud'])
    for (const reader of ['ana', 'auditor', 'ben'])
      expect(await seen(reader)).toEqual(['hidden', 'aloud', 'aside'])
  })

  test('with calls for their addressees alone are told to these', async () => {
    const staged = await stage({ mcp: { visibility: 'addressees' } })
    await staged.say(...twoCalls('a'))
    const seen = async (reader: string) => contents(await auditOf(staged, reader, 'phase=execute'))
    for (const reader of ['ben', 'tool', 'auditor']) {
      expect([reader, await seen(reader)]).toEqual([reader, ['act -> acted', 'look -> seen']])
    }
    for (const reader of ['ana', 'stranger']) expect(await seen(reader)).toEqual([])
  })

  test.for([
    ['phase=doing', 'thinking or plan or waiting_approval or execute or error'],
    ['phase=plan&phase=error', 'phase'],
    ['turn=1', 'thread_id'],
    ['thread_id=test/ben&turn=0', 'a whole number from 1'],
    ['thread_id=test/ben&turn=-1', 'turn must be'],
    ['thread_id=test/ben&turn=abc', 'turn must be'],
    ['thread_id=test/ben&turn=99999999999999999999', 'turn must be'],
    ['thread_id=other/ben', 'thread_id'],
  ] as const)('are not told for %s', async ([query, says]) => {
    const { as } = await stage()
    const response = await as('ana').get(`/audit?${query}`)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'invalid_request', detail: expect.stringContaining(says) },
    ])
  })

  test('of nobody are not found, nor are those of a turn that is not there', async () => {
    const staged = await stage()
    const response = await staged.as('ana').get('/audit?thread_id=test/bne')
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
    const none = { steps: [], decisions: [], has_more: false }
    expect(await auditOf(staged, 'ana', 'thread_id=test/ben&turn=1000000000')).toEqual(none)
  })
})

describe('pages of the audit', () => {
  /** A run with thoughts that make several steps each, and refusals between them. */
  async function mixed(kind: keyof typeof stores = 'memory') {
    const clock = new FakeClock()
    const staged = await stage({ clock, store: await stores[kind]() })
    const refused = async (who: string, kind: string) => {
      expect((await staged.post(who, { kind })).status).toBe(403)
      clock.advance(2000) // Refusals within a second would be counted as one decision.
    }
    await staged.say(['ben', begin('run', undefined, 'begin')])
    for (const count of range(1, 12)) {
      const parts = count % 4 === 0 ? '[計画] p [実行] e [思考] t' : `thought ${count}`
      await staged.say(['ben', thought('run', parts)])
      if (count % 3 === 0) await refused('ben', `x.${count}`)
      if (count % 5 === 0) for (const kind of ['y.a', 'y.b', 'y.c']) await refused('stranger', kind)
    }
    await staged.say(['ana', chat('end', 'all before is in the log')])
    return staged
  }

  test.for([
    [1, 'memory'],
    [2, 'SQLite'],
    [3, 'memory'],
    [5, 'SQLite'],
    [100, 'memory'],
  ] as const)('of %i have everything once, both up to the same place: %s', async ([limit, kind]) => {
    const staged = await mixed(kind)
    const all = await auditOf(staged, 'auditor', 'limit=1000')
    expect([all.steps.length, all.decisions.length]).toEqual([12 + 6 + 10, 10])
    const pages = await pagesOf(staged, 'auditor', `limit=${limit}`)
    expect(pages.flatMap(({ steps }) => steps)).toEqual(all.steps)
    expect(pages.flatMap(({ decisions }) => decisions)).toEqual(all.decisions)
    let above = Number.POSITIVE_INFINITY
    for (const { steps, decisions, next = 1 } of pages) {
      const seqs = [...steps, ...decisions].map(({ seq }) => seq)
      for (const seq of seqs) expect(next <= seq && seq < above).toBe(true)
      above = next
      expect(decisions.length).toBeLessThanOrEqual(limit)
      // A page exceeds the limit only if all of its steps are of one envelope.
      if (steps.length > limit) expect(new Set(steps.map(({ seq }) => seq)).size).toBe(1)
    }
  })

  test('of somebody who may read little have that, and end with it', async () => {
    const staged = await mixed()
    const pages = await pagesOf(staged, 'stranger', 'limit=2')
    const found = pages.flatMap(({ decisions }) => decisions)
    expect(found).toHaveLength(6)
    expect(found).toEqual((await auditOf(staged, 'stranger', 'limit=1000')).decisions)
    expect(pages.every(({ steps, decisions }) => steps.length + decisions.length > 0)).toBe(true)
  })

  test('go on where they were while more is logged', async () => {
    const staged = await mixed()
    const all = await auditOf(staged, 'auditor', 'limit=1000')
    const first = await auditOf(staged, 'auditor', 'limit=3')
    await staged.say(['ben', thought('run', 'meanwhile')])
    const rest = await auditOf(staged, 'auditor', `limit=1000&before=${first.next}`)
    expect([...first.steps, ...rest.steps]).toEqual(all.steps)
    expect([...first.decisions, ...rest.decisions]).toEqual(all.decisions)
  })

  test('do not split what one envelope was made into, however much that is', async () => {
    const staged = await stage()
    const many = range(1, 700).map((count) => `[計画] ${count}\n[思考] x`)
    await staged.say(['ben', begin('run', undefined, 'begin'), thought('run', 'before')])
    await staged.say(['ben', thought('run', many.join('')), thought('run', 'after')])
    const pages = await pagesOf(staged, 'auditor', 'limit=5')
    expect(pages.map(({ steps }) => steps.length)).toEqual([1, expect.any(Number), 1])
    expect(pages[1]?.steps.length).toBeGreaterThan(500)
    const ids = pages.flatMap(({ steps }) => steps.map(({ id }) => id))
    expect(ids).toEqual([...ids].sort().reverse())
  })
})
