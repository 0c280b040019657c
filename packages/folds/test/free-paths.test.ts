import { Assigner } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  chat,
  conclusion,
  type Fields,
  propose,
  refused,
  result,
  start,
  thought,
  toLog,
} from './support/log.js'
import { question } from './support/search-story.js'
import { foldTurn, foldTurns } from './support/turns.js'

const inPath = { context: 'plans' }
const first = thought('agent', 'First the plan', { ...inPath, id: 't1' })
const search = call('agent', 'search', {}, { ...inPath, id: 'c1', rationale: 'to know' })
const found = result('c1', 'ok')
const second = thought('agent', 'Now I know', { ...inPath, id: 't2' })
const done = conclusion('agent', 'Planned', inPath)

/** Lists the turns and jobs of `agent`: number or job id, state, and the texts of the steps. */
function foldStories(log: readonly Fields[], agent = 'agent') {
  const { records, steps } = foldTurns(log)
  return records
    .filter((record) => record.agent === agent)
    .map(({ id, turnNumber, jobId, state }) => {
      const contents = steps.filter(({ turn_id }) => turn_id === id).map(({ content }) => content)
      return [turnNumber ?? jobId, state, ...contents]
    })
}

describe('in a path that nobody opened', () => {
  test('all that an agent does is one job, which its first envelope there begins', () => {
    const log = [first, search, found, second]
    expect(foldStories(log)).toEqual([['t1', 'running', 'First the plan', 'search -> ok', 'Now I know']])
    expect(foldTurns(log).steps.map(({ step_number }) => step_number)).toEqual([0, 1, 2])
    expect(foldTurns(log).jobs[0]).toMatchObject({
      narrative: { text: 'First the plan' },
      decisions: [{ id: 'c1', rationale: 'to know', outcome: 'success' }],
      startedAt: '2026-02-21T10:00:00.000Z',
      completedAt: null,
    })
    expect(foldTurns(log).events).toEqual([
      {
        type: 'job_reasoning',
        job_id: 't1',
        narrative: 'First the plan',
        tool_decisions: [{ tool_name: 'search', rationale: 'to know', outcome: 'success' }],
      },
    ])
  })

  test('that job ends with a conclusion there, and keeps what comes later', () => {
    const log = [first, search, found, done]
    expect(foldStories(log)).toEqual([['t1', 'completed', 'First the plan', 'search -> ok']])
    expect(foldTurns(log).jobs).toMatchObject([{ completedAt: '2026-02-21T10:00:03.000Z' }])
    expect(foldStories([...log, second])).toEqual([
      ['t1', 'completed', 'First the plan', 'search -> ok', 'Now I know'],
    ])
  })

  test('it is cancelled there as well, with the calls that it waits for', () => {
    const log = [first, search, cancel('agent', 'plans', 'no use')]
    expect(foldTurns(log).jobs).toMatchObject([{ state: 'cancelled', decisions: [{ outcome: 'rejected' }] }])
    expect(foldTurns(log).events).toMatchObject([{ job_id: 't1', tool_decisions: [{ outcome: 'rejected' }] }])
    const said = conclusion('agent', 'stopped', { ...inPath, payload: { metadata: { cancelled: true } } })
    expect(foldStories([first, said])).toEqual([['t1', 'cancelled', 'First the plan']])
  })

  test.for(['t1', 'c1', 't2'])('it ends with a chat of the agent about %s', (correlationId) => {
    const log = [first, search, found, second, chat('agent', 'Here it is', { correlationId })]
    expect(foldTurns(log).jobs[0]).toMatchObject({
      state: 'completed',
      answer: { text: 'Here it is' },
      completedAt: '2026-02-21T10:00:04.000Z',
    })
  })

  test('nobody else ends it', () => {
    const log = [first, conclusion('other', 'Enough', inPath), chat('other', 'So?', { correlationId: 't1' })]
    expect(foldStories(log)).toEqual([['t1', 'running', 'First the plan']])
    expect(foldStories([first, cancel('user', 'plans', 'no')])).toEqual([['t1', 'running', 'First the plan']])
  })

  test('nested paths belong to it: there is one for each root', () => {
    const inNested = { context: 'plans/a/b' }
    const log = [
      first,
      thought('agent', 'Deeper', inNested),
      call('agent', 'look', {}, { ...inNested, id: 'c2' }),
      result('c2', 'seen'),
      thought('agent', 'Elsewhere', { context: 'plans-too' }),
    ]
    expect(foldStories(log)).toEqual([
      ['t1', 'running', 'First the plan', 'Deeper', 'look -> seen'],
      ['e5', 'running', 'Elsewhere'],
    ])
    expect(foldTurns(log).jobs[0]).toMatchObject({ narrative: { text: 'Deeper' }, decisions: [{ id: 'c2' }] })
    expect(foldStories([...log.slice(1), conclusion('agent', 'Done', inNested)])[0]).toEqual([
      'e1',
      'completed',
      'Deeper',
      'look -> seen',
    ])
  })

  test('each of several agents has its own', () => {
    const log = [
      first,
      thought('other', 'I think along', { ...inPath, id: 'o1' }),
      search,
      thought('other', 'and along', inPath),
      found,
      done,
    ]
    expect(foldStories(log)).toEqual([['t1', 'completed', 'First the plan', 'search -> ok']])
    expect(foldStories(log, 'other')).toEqual([['o1', 'running', 'I think along', 'and along']])
    expect(foldTurns(log).jobs.find(({ agent }) => agent === 'other')?.decisions).toEqual([])
  })

  test('a start there opens nothing: it is one more thing that the agent does', () => {
    const again = start('agent', 'Step one', { ...inPath, id: 's' })
    const log = [again, search, found, conclusion('agent', '', { context: 'plans/s' })]
    expect(foldStories(log)).toEqual([['s', 'completed', 'search -> ok']])
    expect(foldTurns(log).jobs[0]).toMatchObject({ narrative: { text: 'Step one' } })
  })

  test('a refused call may be the first thing that is known of it', () => {
    const denied = { ...refused('agent', { attemptedTool: 'rm', context: 'plans' }), id: 'd' }
    const denial = 'Policy capability_violation: no capability of agent allows this envelope'
    expect(foldStories([denied, first])).toEqual([['d', 'running', denial, 'First the plan']])
    expect(foldTurns([denied]).events).toMatchObject([
      { job_id: 'd', tool_decisions: [{ outcome: 'rejected' }] },
    ])
  })
})

describe('in a path that nobody opened, about a trigger', () => {
  const correlated = { ...first, correlationId: 'q' }
  const log = [question, correlated, search, found]

  test('all that an agent does belongs to its turn', () => {
    expect(foldStories([...log, second])).toEqual([
      [1, 'running', 'First the plan', 'search -> ok', 'Now I know'],
    ])
    expect(foldTurn(log).reasoning).toMatchObject({
      narrative: 'First the plan',
      tool_decisions: [{ tool_name: 'search', outcome: 'success' }],
    })
    expect(foldTurns(log).events).toMatchObject([{ type: 'reasoning_update', turn_number: 1 }])
  })

  test.for(['q', 't1', 'c1', 't2'])('the turn ends with the answer to %s', (correlationId) => {
    const answer = chat('agent', 'So be it', { correlationId })
    const repeated = { ...second, correlationId: 'q' }
    for (const each of [second, repeated])
      expect(foldTurn([...log, each, answer])).toMatchObject({ state: 'completed', response: 'So be it' })
  })

  test('a conclusion is not the answer', () => {
    expect(foldTurn([...log, done])).toMatchObject({ state: 'running', response: null })
    expect(foldTurn([...log, done, chat('agent', 'So', { correlationId: 'q' })]).state).toBe('completed')
  })

  test('a request is answered by a response, which ends what is done in the path', () => {
    const asked = call('boss', 'plan', {}, { id: 'q', to: ['agent'] })
    const answered = [asked, correlated, search, found, result('q', 'planned', 'agent')]
    expect(foldTurn(answered)).toMatchObject({ state: 'completed', response: 'planned' })
    const record = foldTurns(answered).records.find(({ agent }) => agent === 'agent')
    expect(record?.runs.map(({ context, isOpen }) => [context, isOpen])).toEqual([['plans', false]])
  })

  test('the turn of a run goes on there', () => {
    const run = start('agent', 'Looking', { id: 'r', correlationId: 'q' })
    const aside = thought('agent', 'Aside', { ...inPath, correlationId: 'r' })
    const later = thought('agent', 'More aside', inPath)
    expect(foldStories([question, run, aside, later])).toEqual([[1, 'running', 'Aside', 'More aside']])
  })

  test('another trigger has a turn of its own', () => {
    const next = chat('user', 'and then?', { id: 'q2' })
    const about = thought('agent', 'Next', { ...inPath, correlationId: 'q2' })
    const answers = ['q', 'q2'].map((correlationId) => chat('agent', correlationId, { correlationId }))
    expect(foldTurns([...log, next, about, ...answers]).turns).toMatchObject([
      { turn_number: 1, response: 'q', state: 'completed', tool_calls: [{ name: 'search' }] },
      { turn_number: 2, response: 'q2', state: 'completed', tool_calls: [] },
    ])
  })
})

describe('outside any context', () => {
  test('each envelope of an agent that is about nothing known is a job of its own', () => {
    const calls = ['a', 'b'].map((id) => call('agent', id, {}, { id }))
    const { jobs, events } = foldTurns([...calls, result('a', 'ok'), result('b', 'ok')])
    expect(jobs.map(({ jobId, state }) => [jobId, state])).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
    ])
    expect(events).toEqual([])
  })
})

describe('a question that work in a free path does not name', () => {
  const asked = chat('user', 'Is this write safe?', { id: 'q1' })
  const looks = chat('agent', 'Let me check the permissions...', { ...inPath, id: 's1' })
  const checks = call('agent', 'check_permissions', {}, { ...inPath, id: 'c1' })
  const answers = chat('agent', 'It is not safe', { id: 'a1' })

  const turnsOf = (log: readonly Fields[]) =>
    foldTurns(log).turns.map(({ user_input, response, state }) => [user_input, response, state])
  const isAnswered = ['Is this write safe?', 'It is not safe', 'completed']

  test('is the last public one that asks the agent, and its next chat is the answer', () => {
    const log = [asked, looks, checks, result('c1', 'root only'), answers]
    expect(turnsOf(log)).toEqual([isAnswered])
    expect(foldTurn(log)).toMatchObject({
      tool_calls: [{ name: 'check_permissions', has_result: true }],
      reasoning: { narrative: 'Let me check the permissions...' },
    })
    expect(foldTurns(log).jobs).toEqual([])
  })

  test('is found without any call, and below the root', () => {
    const deeper = { context: 'plans/permissions' }
    const aside = chat('user', 'by the way', { context: 'plans/permissions' })
    expect(turnsOf([asked, looks, chat('agent', 'Elevated', deeper), aside, answers])).toEqual([isAnswered])
    expect(foldTurns([asked, looks, answers]).steps).toEqual([])
  })

  test('is answered by what correlates to the path, whose proposals belong to the turn', () => {
    const begins = start('agent', 'Evaluate', inPath)
    const answered = chat('agent', 'It is not safe', { correlationId: 'plans' })
    const proposal = propose('agent', 'create_issue', {}, { id: 'p1', correlationId: 'plans' })
    const log = [asked, begins, first, done, answered, proposal]
    expect(turnsOf(log)).toEqual([isAnswered])
    expect(foldTurn(log).tool_calls).toMatchObject([{ name: 'create_issue' }])
    expect(foldTurns(log).jobs).toEqual([])
  })

  test('makes a turn of its own of a path that is used again', () => {
    const again = [
      asked,
      looks,
      answers,
      { ...asked, id: 'q2' },
      { ...looks, id: 's2' },
      { ...answers, id: 'a2' },
    ]
    expect(turnsOf(again)).toEqual([isAnswered, isAnswered])
  })

  test.for<[string, Fields]>([
    ['is addressed to some', { ...asked, to: ['agent'] }],
    ['asks another', { ...asked, payload: { message: 'You?', mentions: ['other'] } }],
    ['is its own', { ...asked, from: 'agent' }],
  ])('is none that %s', ([, other]) => {
    expect(foldTurns([other, first, search]).jobs).toMatchObject([{ state: 'running', trigger: null }])
  })

  test('is none that has a turn already, nor an unnamed one where there is a front desk', () => {
    const before = chat('agent', 'Yes', { correlationId: 'q1' })
    expect(foldTurns([asked, before, first]).jobs).toHaveLength(1)
    const configured = { kind: 'system.space', from: 'system:gateway' }
    const payload = { event: 'configured', frontDesk: 'desk' }
    expect(foldTurns([{ ...configured, payload }, asked, first]).jobs).toHaveLength(1)
  })

  test('is answered by no chat that asks others', () => {
    const log = [asked, looks, chat('agent', 'Help?', { payload: { mentions: ['other'] } })]
    expect(turnsOf(log)).toEqual([['Is this write safe?', null, 'running']])
    expect(turnsOf([...log, answers])).toEqual([isAnswered])
  })

  test('without one, work in the path ends with the next chat of the agent', () => {
    expect(foldTurns([first, search, answers]).jobs).toMatchObject([
      { state: 'completed', answer: { text: 'It is not safe' } },
    ])
  })

  test.for([1, 2, 3, 4])('is the same after a snapshot: %s', (at) => {
    const log = toLog([asked, looks, checks, answers, { ...asked, id: 'q2' }, { ...looks, id: 's2' }])
    const whole = new Assigner('e')
    const all = log.map((each) => whole.assign(each))
    const before = new Assigner('e')
    for (const each of log.slice(0, at)) before.assign(each)
    const after = new Assigner('e')
    after.restore(JSON.parse(JSON.stringify(before.snapshot())))
    expect(log.slice(at).map((each) => after.assign(each))).toEqual(all.slice(at))
  })
})
