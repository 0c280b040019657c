import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { range } from './client.js'
import { bearer } from './http-client.js'
import { begin, call, chat, conclude, createTurns, inPublic, result, stage, thought } from './turns.js'

/** The example in the documentation of turns, with the participants of the test. */
async function documented() {
  const clock = new FakeClock(Date.UTC(2026, 1, 21, 10))
  const staged = await stage({ clock })
  const narrative = "I'll search memory first, then check git log for recent changes."
  const params = (name: string, args: object) => ({
    payload: { method: 'tools/call', params: { name, arguments: args } },
  })
  await staged.say(
    ['ana', chat('ask', 'search for recent project updates')],
    ['ben', begin('run', 'ask', narrative)],
    [
      'ben',
      call('one', 'run', 'memory_search', "searched memory for 'recent project updates'", {
        ...params('memory_search', { query: 'recent project updates', limit: 5 }),
      }),
    ],
    ['tool', result('one')],
    [
      'ben',
      call('two', 'run', 'shell', 'checked git log for recent commits', {
        ...params('shell', { command: 'git log --oneline -10' }),
      }),
    ],
    ['tool', result('two')],
  )
  clock.advance(5000)
  await staged.say([
    'ben',
    conclude('run'),
    chat('is', 'The latest updates include...', { correlationId: 'ask' }),
  ])
  return { ...staged, narrative }
}

describe('GET turns', () => {
  test('tells how much each tool gave back to those who ask for it', async () => {
    const staged = await documented()
    await staged.say(
      ['ana', chat('more', 'and more?', {})],
      ['ben', begin('next', 'more', 'I count.'), call('three', 'next', 'count', 'to count')],
      ['tool', result('three', 'three')],
      ['ben', call('four', 'next', 'count', 'to count again')],
    )
    const sizesOf = async (query: string) => {
      const { turns } = await createTurns(staged, 'ana', `&before=3&limit=1${query}`)
      return turns[0]?.reasoning?.tool_decisions.map((decision) => Object(decision).size)
    }
    expect(await sizesOf('&sizes=true')).toEqual([{ count: 5, unit: 'chars' }, null])
    expect(await sizesOf('&sizes=false')).toEqual([undefined, undefined])
    expect(await sizesOf('')).toEqual([undefined, undefined])
  })

  verifies(
    ['I25', 'I26', 'I27', 'I29'],
    'tells a turn with its reasoning, as the document shows it',
    async () => {
      const { as, narrative } = await documented()
      const { epoch } = await as('ana').history()
      expect(await as('ana').json('/turns?thread_id=test/ben')).toStrictEqual({
        thread_id: 'test/ben',
        turns: [
          {
            turn_number: 1,
            user_input: 'search for recent project updates',
            response: 'The latest updates include...',
            state: 'completed',
            started_at: '2026-02-21T10:00:00.000Z',
            completed_at: '2026-02-21T10:00:05.000Z',
            tool_calls: [
              { name: 'memory_search', has_result: true, has_error: false },
              { name: 'shell', has_result: true, has_error: false },
            ],
            reasoning: {
              session_id: epoch,
              thread_id: 'test/ben',
              turn_number: 1,
              narrative,
              tool_decisions: [
                {
                  tool_name: 'memory_search',
                  rationale: "searched memory for 'recent project updates'",
                  parameters: { query: 'recent project updates', limit: 5 },
                  outcome: 'success',
                  parallel_group: null,
                },
                {
                  tool_name: 'shell',
                  rationale: 'checked git log for recent commits',
                  parameters: { command: 'git log --oneline -10' },
                  outcome: 'success',
                  parallel_group: null,
                },
              ],
            },
          },
        ],
        has_more: false,
      })
    },
  )

  verifies('I25', 'is for participants', async () => {
    const { url } = await stage()
    const path = '/turns?thread_id=test/ben'
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const response = await fetch(`${url}/spaces/test${path}`, { headers })
      expect([response.status, await response.json()]).toMatchObject([401, { code: 'unauthorized' }])
    }
    expect((await fetch(`${url}/spaces/none${path}`, { headers: bearer('ana') })).status).toBe(404)
  })

  verifies('I28', 'has no reasoning for a turn without tools, or before it was told why', async () => {
    const staged = await stage()
    await staged.say(
      ['ana', chat('ask', 'thanks')],
      ['ben', chat('is', "You're welcome!", { correlationId: 'ask' })],
      ['ana', chat('again', 'and now?')],
      ['ben', begin('run', 'again', 'let me think'), thought('run', 'nothing to call')],
    )
    const { turns } = await createTurns(staged, 'ana')
    expect(turns).toMatchObject([
      { turn_number: 1, user_input: 'thanks', response: "You're welcome!", tool_calls: [], reasoning: null },
      {
        turn_number: 2,
        response: null,
        state: 'running',
        completed_at: null,
        tool_calls: [],
        reasoning: null,
      },
    ])
  })

  verifies('I28', 'has no narrative, and the standing rationale, where the guard withheld them', async () => {
    const secret = 'the launch code is 4711'
    const rules = [{ name: 'no-codes', pattern: 'launch code', action: 'block' }] as const
    const staged = await stage({ safety: { rules } })
    await staged.say(
      ['ana', chat('ask', 'go')],
      ['ben', begin('run', 'ask', 'begin'), thought('run', secret), call('one', 'run', 'look', secret)],
      ['tool', result('one')],
    )
    const { turns } = await createTurns(staged, 'ana')
    expect(turns[0]?.reasoning).toMatchObject({
      narrative: null,
      tool_decisions: [
        { rationale: 'Tool selected to satisfy the current subtask.', rationale_given: false },
      ],
    })
  })

  verifies('I27', 'has what was denied, and what failed, redacted', async () => {
    const staged = await stage({
      participants: {
        ana: ['*'],
        ben: ['chat', 'reasoning.*', { kind: 'mcp.request', to: 'tool' }],
        tool: ['mcp.*'],
        cleo: ['chat'],
      },
    })
    const secret = ['sk', 'ant', 'api03', 'x'.repeat(40)].join('-')
    await staged.say(
      ['ana', chat('ask', 'go')],
      [
        'ben',
        begin('run', 'ask', 'try'),
        call('one', 'run', 'login', 'to get in', {
          payload: {
            method: 'tools/call',
            params: { name: 'login', arguments: { password: 'hunter2', note: secret } },
          },
        }),
      ],
      ['tool', { ...result('one'), payload: { id: 'one', error: { code: -1, message: 'no' } } }],
    )
    const denied = await staged.post('ben', call('two', 'run', 'look', 'to see', { to: ['ana'] }))
    expect(denied.status).toBe(403)
    const { turns } = await createTurns(staged, 'ben')
    expect(turns[0]?.tool_calls).toEqual([
      { name: 'login', has_result: false, has_error: true },
      { name: 'look', has_result: false, has_error: true },
    ])
    expect(turns[0]?.reasoning?.tool_decisions.map(({ outcome }) => outcome)).toEqual(['error', 'rejected'])
    expect(JSON.stringify(turns)).not.toMatch(/hunter2|sk-ant/)
    // The refusal of ben's second call is visible to ben, and to ana, who may restrict him, but not to cleo.
    expect((await createTurns(staged, 'ana')).turns[0]?.tool_calls).toHaveLength(2)
    expect((await createTurns(staged, 'cleo')).turns[0]?.tool_calls).toHaveLength(1)
  })

  test('shows at once what was acknowledged', async () => {
    const staged = await stage()
    for (const count of range(1, 20)) {
      await staged.say(
        ['ana', chat(`ask${count}`, 'hm?')],
        ['ben', chat(`is${count}`, `it is ${count}`, { correlationId: `ask${count}` })],
      )
      const { turns } = await createTurns(staged, 'cleo', '&limit=1')
      expect(turns).toMatchObject([{ turn_number: count, response: `it is ${count}` }])
    }
  })
})

describe('the same query', () => {
  verifies('I25', 'tells each what it may read', async () => {
    const staged = await stage()
    await staged.say(
      ['ana', chat('ask', 'SECRET question', { to: ['ben'] })],
      [
        'ben',
        begin('run', 'ask', 'begin', inPublic('begin')),
        thought('run', 'SECRET plan', { to: ['ana'] }),
      ],
      ['ben', call('one', 'run', 'look', 'to see')],
      ['tool', result('one')],
      ['ben', conclude('run'), chat('is', 'SECRET answer', { correlationId: 'ask', to: ['ana'] })],
    )
    const seen = async (reader: string) => {
      const [turn] = (await createTurns(staged, reader)).turns
      return [turn?.user_input, turn?.response, turn?.reasoning?.narrative, turn?.tool_calls.length]
    }
    const all = ['SECRET question', 'SECRET answer', 'SECRET plan', 1]
    expect(await seen('ana')).toEqual(all)
    expect(await seen('ben')).toEqual(all)
    expect(await seen('auditor')).toEqual(all)
    // Stranger and tool cannot read the question, the answer and the thought. Their narrative is the text of the start of the
    // run.
    expect(await seen('stranger')).toEqual([null, null, 'begin', 1])
    expect(await seen('tool')).toEqual([null, null, 'begin', 1])
  })

  test('tells those alone who take part of a private question and its run', async () => {
    const staged = await stage()
    await staged.say(
      ['ana', chat('ask', 'SECRET question', { to: ['ben'] })],
      [
        'ben',
        begin('run', 'ask', 'begin'),
        thought('run', 'SECRET plan'),
        call('one', 'run', 'look', 'SECRET'),
      ],
      ['tool', result('one')],
      ['ben', conclude('run'), chat('is', 'SECRET answer', { correlationId: 'ask' })],
    )
    const seen = async (reader: string) => (await createTurns(staged, reader)).turns
    for (const reader of ['ana', 'ben', 'auditor'])
      expect(await seen(reader)).toMatchObject([
        { user_input: 'SECRET question', response: 'SECRET answer', tool_calls: [{ name: 'look' }] },
      ])
    for (const reader of ['stranger', 'cleo']) expect(await seen(reader)).toEqual([])
    expect(JSON.stringify(await seen('tool'))).not.toMatch(/question|plan|answer/)
  })

  test('with calls for their addressees alone, tells others nothing of them', async () => {
    const staged = await stage({ mcp: { visibility: 'addressees' } })
    await staged.say(
      ['ana', chat('ask', 'look', { to: ['ben'] })],
      ['ben', begin('run', 'ask', 'begin', { to: ['ana'] }), call('one', 'run', 'look', 'to see')],
      ['tool', result('one')],
      ['ana', chat('open', 'what is it?')],
      ['ben', begin('run2', 'open', 'begin'), call('two', 'run2', 'look', 'to see')],
    )
    const seen = async (reader: string) =>
      (await createTurns(staged, reader)).turns.map(({ turn_number, reasoning }) => [
        turn_number,
        reasoning?.tool_decisions.length ?? null,
      ])
    expect(await seen('stranger')).toEqual([[2, null]])
    // Ana takes part in the private run of turn 1, so she reads its call, but not the call to the tool in turn 2.
    expect(await seen('ana')).toEqual([
      [1, 1],
      [2, null],
    ])
    for (const reader of ['ben', 'tool', 'auditor']) {
      expect([reader, (await seen(reader)).map(([, calls]) => calls)]).toEqual([reader, [1, 1]])
    }
  })

  test('is without the thoughts of a hidden run, and has them when it is shown or over', async () => {
    const staged = await stage()
    const { say, as } = staged
    const show = (reasoningVisible: boolean) => ({
      kind: 'observe.visibility',
      payload: { context: 'run', reasoningVisible },
    })
    await say(
      ['ana', chat('ask', 'go')],
      ['ben', begin('run', 'ask', 'begin')],
      ['ana', show(false)],
      ['ben', thought('run', 'HIDDEN'), call('one', 'run', 'look', 'to see')],
      ['tool', result('one')],
    )
    const narrative = async (reader: string) =>
      (await createTurns({ as }, reader)).turns[0]?.reasoning?.narrative
    for (const reader of ['ana', 'stranger', 'auditor']) expect(await narrative(reader)).toBe('begin')
    expect(await narrative('ben')).toBe('HIDDEN')
    await say(['ana', show(true)])
    for (const reader of ['ana', 'stranger', 'auditor', 'ben']) expect(await narrative(reader)).toBe('HIDDEN')
    await say(['ana', show(false)])
    expect(await narrative('auditor')).toBe('begin')
    await say(['ben', conclude('run')])
    expect(await narrative('auditor')).toBe('HIDDEN')
  })
})
