import type { TurnRecord } from '@meup/folds'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import {
  call,
  cancel,
  chat,
  conclusion,
  type Fields,
  propose,
  refused,
  reject,
  result,
  start,
  thought,
} from './support/log.js'
import { foldDecisions, foldTurns } from './support/turns.js'

const question = chat('user', 'why?', { id: 'q' })
const opening = start('agent', 'Searching', { id: 'r', correlationId: 'q' })
const beginning = [question, opening]
const inRun = { context: 'r' }
const note = thought('agent', 'next', inRun)

/** A call of the agent. Calls with the same `parallelGroup` form a batch. */
const tool = (id: string, parallelGroup?: number): Fields =>
  call('agent', id, {}, { ...inRun, id, ...(parallelGroup !== undefined && { parallelGroup }) })
const results = (...ids: string[]): Fields[] => ids.map((id) => result(id, 'ok'))
const getGroups = (log: readonly Fields[]) =>
  foldDecisions([...beginning, ...log]).map((each) => each.parallel_group)

describe('parallel groups', () => {
  verifies('I35', 'test_parallel_group_assigned', () => {
    const batches = (first: number, second: number) => [
      ...['a', 'b', 'c'].map((id) => tool(id, first)),
      ...results('a', 'b', 'c'),
      tool('d'),
      ...results('d'),
      ...['e', 'f'].map((id) => tool(id, second)),
      ...results('e', 'f'),
    ]
    for (const [first, second] of [
      [0, 1],
      [7, 3],
      [5, 5],
    ] as const) {
      expect(getGroups(batches(first, second))).toEqual([0, 0, 0, null, 1, 1])
    }
  })

  verifies('I35', 'test_single_tool_no_parallel_group', () => {
    expect(getGroups([tool('a')])).toEqual([null])
    expect(getGroups([tool('a', 4)])).toEqual([null])
    expect(getGroups([tool('a'), tool('b')])).toEqual([null, null])
  })

  test('end with their last result: the same number afterwards is another batch', () => {
    const two = [tool('a', 0), tool('b', 0), ...results('b', 'a')]
    expect(getGroups([...two, tool('c', 0), tool('d', 0)])).toEqual([0, 0, 1, 1])
  })

  test('hold together though the first was answered before the second was seen', () => {
    expect(getGroups([tool('a', 0), ...results('a'), tool('b', 0)])).toEqual([0, 0])
  })

  test('end when the agent does something else', () => {
    expect(getGroups([tool('a', 0), ...results('a'), note, tool('b', 0)])).toEqual([null, null])
    expect(getGroups([tool('a', 0), note, tool('b', 0)])).toEqual([0, 0])
    const others = [
      chat('agent', 'Wait.', { correlationId: 'q' }),
      start('agent', 'Deeper', { ...inRun, id: 'n' }),
      conclusion('agent', 'Done', inRun),
      cancel('agent', 'r', 'no'),
      refused('agent', { context: 'r', attemptedKind: 'mcp.request' }),
    ]
    for (const other of others) {
      const [first, ...rest] = getGroups([tool('a', 0), ...results('a'), other, tool('b', 0)])
      expect([first, rest.at(-1)]).toEqual([null, null])
    }
  })

  test('of two contexts may be dispatched at the same time', () => {
    expect(getGroups([tool('a', 0), tool('b', 1), tool('c', 1), tool('d', 0)])).toEqual([1, 0, 0, 1])
  })

  verifies('I36', 'are numbers in a flat list', () => {
    const decisions = foldDecisions([...beginning, tool('a', 0), tool('b', 0), tool('c')])
    expect(decisions.map((each) => [each.tool_name, each.parallel_group])).toEqual([
      ['a', 0],
      ['b', 0],
      ['c', null],
    ])
    expect(JSON.stringify(decisions)).not.toMatch(/\[\[|"(batch|group)e?s?":/)
  })
})

describe('reasoning_update', () => {
  test('has the shape and the order of keys of the document', () => {
    const log = [
      question,
      start('agent', "I'll search memory first.", { id: 'r', correlationId: 'q' }),
      call(
        'agent',
        'memory_search',
        { q: 1 },
        { ...inRun, id: 'c', rationale: 'searched memory for project updates' },
      ),
      result('c', 'ok'),
    ]
    const [event] = foldTurns(log).events
    expect(JSON.stringify(event)).toBe(
      '{"type":"reasoning_update","thread_id":"main/agent","session_id":"epoch-1","turn_number":1,' +
        '"narrative":"I\'ll search memory first.","tool_decisions":[{"tool_name":"memory_search",' +
        '"rationale":"searched memory for project updates","outcome":"success","parallel_group":null}]}',
    )
  })

  test('has no narrative where there is none', () => {
    const [event] = foldTurns([question, { ...opening, payload: {} }, tool('a'), ...results('a')]).events
    expect(Object.keys(event ?? {})).toEqual([
      'type',
      'thread_id',
      'session_id',
      'turn_number',
      'tool_decisions',
    ])
  })

  verifies('I31', 'never carries parameters', () => {
    const argumentsWithin = call('agent', 'a', { parameters: { parameters: 1 } }, { ...inRun, id: 'a' })
    const job = [
      start('agent', 'alone', { id: 'j' }),
      call('agent', 'b', { parameters: 2 }, { context: 'j', id: 'b' }),
    ]
    const { events } = foldTurns([...beginning, argumentsWithin, ...job, ...results('a', 'b')])
    expect(events).toHaveLength(2)
    expect(JSON.stringify(events)).not.toContain('parameters')
  })

  verifies('I32', 'comes once for each completed batch, with all decisions so far', () => {
    const log = [
      ...beginning,
      tool('a', 0),
      tool('b', 0),
      ...results('b', 'a'),
      note,
      tool('c'),
      ...results('c'),
      note,
      chat('agent', 'Because.', { correlationId: 'q' }),
    ]
    const { events } = foldTurns(log)
    expect(events.map((event) => event.tool_decisions.map(({ tool_name }) => tool_name))).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ])
  })

  test('does not tell of calls that are still under way', () => {
    const { events } = foldTurns([...beginning, tool('a'), tool('b'), ...results('b')])
    expect(events.map((event) => event.tool_decisions.map(({ tool_name }) => tool_name))).toEqual([['b']])
  })

  test('follows a denial, a rejection and a cancellation as well', () => {
    const proposal = propose('agent', 'deploy', {}, { ...inRun, id: 'p' })
    const denied = refused('agent', { attemptedTool: 'rm', context: 'r' })
    const { events } = foldTurns([
      ...beginning,
      denied,
      proposal,
      reject('user', 'p'),
      tool('a'),
      cancel('agent', 'r', 'no'),
    ])
    expect(events.map(({ tool_decisions }) => tool_decisions.at(-1))).toMatchObject([
      { tool_name: 'rm', outcome: 'rejected' },
      { tool_name: 'deploy', outcome: 'rejected' },
      { tool_name: 'a', outcome: 'rejected' },
    ])
  })

  test('is not told twice of a call that is answered after it was given up', () => {
    const log = [...beginning, tool('a'), cancel('agent', 'r', 'no'), ...results('a')]
    expect(foldTurns(log).events).toHaveLength(1)
  })

  describe('tells what is known when it comes', () => {
    const toldIn = (log: readonly Fields[]) =>
      foldTurns([...beginning, ...log]).events.map(({ tool_decisions }) => tool_decisions)

    test('of a call that others joined, after it had ended', () => {
      const [first, second] = toldIn([tool('a', 0), ...results('a'), tool('b', 0), ...results('b')])
      expect(first).toMatchObject([{ tool_name: 'a', parallel_group: null }])
      expect(second?.map((each) => 'parallel_group' in each && each.parallel_group)).toEqual([0, 0])
    })

    test('of a call that was answered after it had been given up', () => {
      const cancelled = cancel('agent', 'r', 'no')
      const next = { ...tool('b'), context: 'r' }
      const [first, second] = toldIn([tool('a'), cancelled, ...results('a'), next, ...results('b')])
      expect(first).toMatchObject([{ tool_name: 'a', outcome: 'rejected' }])
      expect(second).toMatchObject([{ tool_name: 'a', outcome: 'success' }, { tool_name: 'b' }])
    })

    test('of a call that was refused before it was made under the same id', () => {
      const denied = refused('agent', { attemptedTool: 'a', attemptedId: 'a', context: 'r' })
      const [first, second] = toldIn([denied, tool('a'), ...results('a')])
      expect(first).toMatchObject([{ tool_name: 'a', outcome: 'rejected' }])
      expect(second).toMatchObject([{ tool_name: 'a', outcome: 'success' }])
      expect(second).toHaveLength(1)
      expect(foldDecisions([...beginning, denied, tool('a'), ...results('a')])).toHaveLength(1)
    })
  })

  test('does not depend on the order of the results', () => {
    const calls = ['a', 'b', 'c', 'd'].map((id) => tool(id, id === 'd' ? 1 : 0))
    fc.assert(
      fc.property(fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 }), (order) => {
        const { turns, events } = foldTurns([...beginning, ...calls, ...results(...order)])
        const inOrder = foldTurns([...beginning, ...calls, ...results('a', 'b', 'c', 'd')])
        expect(turns).toEqual(inOrder.turns)
        expect(events).toHaveLength(2)
        expect(events.at(-1)).toEqual(inOrder.events.at(-1))
      }),
    )
  })
})

describe('a job', () => {
  const run: Fields[] = [
    start('agent', 'Checked git log, now writing a summary file.', { id: 'j' }),
    call('agent', 'shell', {}, { context: 'j', id: 'c', rationale: 'ran git log to capture recent commits' }),
    result('c', 'ok'),
  ]

  test('is a run that nobody asked for; its event is job_reasoning', () => {
    const { events, turns } = foldTurns(run)
    expect(turns).toEqual([])
    expect(JSON.stringify(events)).toBe(
      '[{"type":"job_reasoning","job_id":"j","narrative":"Checked git log, now writing a summary file.",' +
        '"tool_decisions":[{"tool_name":"shell","rationale":"ran git log to capture recent commits","outcome":"success"}]}]',
    )
  })

  test.for([
    ['completed', { kind: 'reasoning.conclusion', from: 'agent', context: 'j', payload: {} }],
    ['cancelled', cancel('agent', 'j', 'no')],
    ['abandoned', cancel('system:gateway', 'j', 'abandoned')],
  ] as const)('is %s by the end of its run', ([state, end]) => {
    expect(foldTurns([...run, end]).jobs).toMatchObject([
      { jobId: 'j', turnNumber: null, inputSource: 'job', state },
    ])
    expect(foldTurns(run).jobs).toMatchObject([{ state: 'running' }])
  })

  test('may say something when it is done', () => {
    const [job] = foldTurns([...run, chat('agent', 'Written.', { correlationId: 'j' })]).jobs
    expect(job).toMatchObject({ state: 'running', answer: { text: 'Written.' } })
  })

  test('is made of any single envelope that belongs nowhere, without an event', () => {
    const alone: Fields[] = [
      call('user', 'add', {}, { id: 'a' }),
      thought('agent', 'hm', { context: 'free/path' }),
      refused('agent', {}),
      result('a', '4'),
    ]
    const { jobs, events, steps } = foldTurns(alone)
    const shape = ({ id, jobId, agent, state }: TurnRecord) => {
      const contents = steps.filter(({ turn_id }) => turn_id === id).map(({ content }) => content)
      return [jobId, agent, state, ...contents]
    }
    const denial = 'Policy capability_violation: no capability of agent allows this envelope'
    expect(jobs.map(shape)).toEqual([
      ['a', 'user', 'completed', 'add -> 4'],
      ['e2', 'agent', 'running', 'hm'],
      ['e3', 'agent', 'completed', denial],
    ])
    expect(events).toEqual([])
    expect(foldTurns(alone.slice(0, 1)).jobs).toMatchObject([{ state: 'running' }])
  })
})
