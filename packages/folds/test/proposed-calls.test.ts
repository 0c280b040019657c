import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  chat,
  type Fields,
  failure,
  propose,
  reject,
  result,
  start,
  thought,
  withdraw,
} from './support/log.js'
import { foldDecisions, foldTurns } from './support/turns.js'

const beginning: Fields[] = [
  chat('user', 'deploy it', { id: 'q' }),
  start('agent', 'Preparing', { id: 'r', correlationId: 'q' }),
]
const proposal = propose(
  'agent',
  'deploy',
  { target: 'prod' },
  { context: 'r', id: 'p', rationale: 'asked for' },
)
const approval = call('user', 'deploy', { target: 'prod' }, { id: 'f', correlationId: 'p' })
const outcomes = (...rest: Fields[]) =>
  foldDecisions([...beginning, proposal, ...rest]).map((each) => each.outcome)

describe('a proposal of a turn', () => {
  test('is a decision with the outcome of the request that fulfils it', () => {
    expect(foldDecisions([...beginning, proposal, approval, result('f', 'done')])).toMatchObject([
      { tool_name: 'deploy', rationale: 'asked for', parameters: { target: 'prod' }, outcome: 'success' },
    ])
    expect(outcomes(approval, failure('f', 'no'))).toEqual(['error'])
    expect(outcomes(approval)).toEqual([null])
  })

  test('is rejected when it is rejected, withdrawn or expired', () => {
    expect(outcomes(reject('user', 'p'))).toEqual(['rejected'])
    expect(outcomes(withdraw('agent', 'p'))).toEqual(['rejected'])
    const limited = {
      ...proposal,
      payload: { ...proposal.payload, expiresAt: '2026-02-21T12:00:04.000+02:00' },
    }
    const later = (count: number) => Array.from({ length: count }, () => chat('user', 'and?'))
    expect(foldDecisions([...beginning, limited, ...later(1)])[0]?.outcome).toBeNull()
    expect(foldDecisions([...beginning, limited, ...later(2)])[0]?.outcome).toBe('rejected')
  })

  test.for<[string, Fields]>([
    ['its proposer is kicked', { kind: 'space.kick', from: 'user', payload: { participantId: 'agent' } }],
    [
      'it is erased',
      {
        kind: 'system.space',
        from: 'system:gateway',
        payload: { event: 'erased', seq: 3, id: 'p', kind: 'mcp.proposal', by: 'user' },
      },
    ],
  ])('is rejected when %s, and its job is done', ([, end]) => {
    expect(outcomes(end)).toEqual(['rejected'])
    const { jobs } = foldTurns([propose('agent', 'deploy', {}, { id: 'p' }), end])
    expect(jobs).toMatchObject([{ state: 'completed', decisions: [{ outcome: 'rejected' }] }])
  })

  test('for two uses waits for the answer of the first, also after it has expired', () => {
    const payload = { ...proposal.payload, uses: 2, expiresAt: '2026-02-21T10:00:04.500Z' }
    const log = [...beginning, { ...proposal, payload }, approval]
    for (const text of ['hm', 'well']) log.push(thought('agent', text, { context: 'r' }))
    expect(foldDecisions(log)[0]?.outcome).toBeNull()
    expect(foldDecisions([...log, result('f', 'done')])[0]?.outcome).toBe('success')
  })

  test('expires at the next envelope of anybody', () => {
    const limited = { ...proposal, payload: { ...proposal.payload, expiresAt: '2026-02-21T10:00:03.500Z' } }
    const others: Fields[] = [
      chat('other', 'Good morning'),
      call('other', 'add', {}, { id: 'a' }),
      { kind: 'observe.visibility', from: 'other', payload: {} },
      { kind: 'other.kind', from: 'other', payload: {} },
    ]
    for (const other of others) {
      const { turns, events, ends, records } = foldTurns([...beginning, limited, chat('other', 'Hm'), other])
      expect(turns).toMatchObject([{ reasoning: { tool_decisions: [{ outcome: 'rejected' }] } }])
      expect(events).toMatchObject([{ turn_number: 1, tool_decisions: [{ outcome: 'rejected' }] }])
      expect(ends).toEqual([[5, records[0]?.id]])
    }
    expect(foldTurns([...beginning, limited, chat('other', 'Hm')]).ends).toEqual([])
  })

  test('expires alone, though others of the turn do not', () => {
    const expiring = (id: string, expiresAt: string) =>
      propose('agent', id, {}, { context: 'r', id, payload: { expiresAt } })
    const log = [
      ...beginning,
      expiring('late', '2026-02-21T11:00:00.000Z'),
      expiring('soon', '2026-02-21T10:00:04.000Z'),
      chat('other', 'Good morning'),
    ]
    expect(foldDecisions(log).map((each) => [each.tool_name, each.outcome])).toEqual([
      ['late', null],
      ['soon', 'rejected'],
    ])
  })

  test('does not expire once it is being fulfilled', () => {
    const limited = { ...proposal, payload: { ...proposal.payload, expiresAt: '2026-02-21T10:00:05.000Z' } }
    const log = [...beginning, limited, approval, chat('user', '…'), chat('user', '…')]
    expect(foldDecisions(log)[0]?.outcome).toBeNull()
    expect(foldDecisions([...log, result('f', 'done')])[0]?.outcome).toBe('success')
  })

  test('may be fulfilled by another after one has rejected it, or its run was cancelled', () => {
    expect(outcomes(reject('other', 'p'), approval, result('f', 'done'))).toEqual(['success'])
    expect(outcomes(cancel('agent', 'r', 'no'))).toEqual(['rejected'])
    expect(outcomes(cancel('agent', 'r', 'no'), approval, result('f', 'done'))).toEqual(['success'])
  })

  describe('and fulfilled by a request to its proposer', () => {
    const toProposer = { ...approval, to: ['agent'] }
    const done = start('agent', 'Deploying', { id: 'r2', correlationId: 'f' })
    const tool = call('agent', 'kubectl', {}, { context: 'r2', id: 'c' })

    test('leads to no other turn: what the proposer does then belongs to the turn that proposed', () => {
      const log = [...beginning, proposal, toProposer, done, tool, result('c', 'ok')]
      const { turns, jobs, steps, records } = foldTurns([...log, result('f', 'deployed', 'agent')])
      expect(turns).toMatchObject([
        {
          turn_number: 1,
          user_input: 'deploy it',
          state: 'running',
          response: null,
          tool_calls: [
            { name: 'deploy', has_result: true },
            { name: 'kubectl', has_result: true },
          ],
        },
      ])
      expect(jobs).toEqual([])
      expect(steps.map(({ turn_id, content }) => [turn_id, content])).toEqual(
        ['Awaiting human approval for deploy', 'kubectl -> ok', 'deploy -> deployed'].map((content) => [
          records[0]?.id,
          content,
        ]),
      )
    })

    test('is a trigger for its other addressees', () => {
      const log = [...beginning, proposal, { ...toProposer, to: ['agent', 'other'] }]
      const theirs = foldTurns([...log, start('other', 'I see', { id: 'o', correlationId: 'f' })], 'other')
      expect(theirs.turns).toMatchObject([{ turn_number: 1, user_input: 'deploy { "target": "prod" }' }])
    })

    test('is a trigger where it was proposed in the turn of another', () => {
      const aside = { ...proposal, from: 'helper' }
      const helps = start('helper', 'I do', { id: 'h', correlationId: 'f' })
      const log = [...beginning, aside, { ...toProposer, to: ['helper'] }, helps]
      expect(foldTurns(log, 'helper').turns).toMatchObject([{ turn_number: 1, state: 'running' }])
      expect(foldTurns(log).turns).toMatchObject([{ turn_number: 1, reasoning: null }])
    })

    test('stays in the job that proposed', () => {
      const log = [
        start('agent', 'Preparing', { id: 'r' }),
        proposal,
        toProposer,
        thought('agent', 'Here goes', { correlationId: 'f', context: 'deploying' }),
      ]
      const { turns, jobs, steps } = foldTurns(log)
      expect([turns, jobs.map(({ jobId }) => jobId)]).toEqual([[], ['r']])
      expect(steps.map(({ step_number, content }) => [step_number, content])).toEqual([
        [0, 'Awaiting human approval for deploy'],
        [1, 'Here goes'],
      ])
    })
  })

  test('keeps the story in the turn of its proposer', () => {
    const { steps, jobs, turns } = foldTurns([...beginning, proposal, approval, result('f', 'done')])
    expect(turns).toHaveLength(1)
    expect(jobs).toEqual([])
    expect(steps).toMatchObject([
      { step_number: 0, content: 'Awaiting human approval for deploy', linked_approval_request: 'p' },
      { step_number: 1, content: 'deploy -> done', linked_tool_call: 'f' },
    ])
  })

  test('may be fulfilled in a turn of the one who does it', () => {
    const mine = start('user', 'Checking', { id: 'u' })
    const log = [...beginning, proposal, mine, { ...approval, context: 'u' }, result('f', 'done')]
    expect(foldDecisions(log)).toMatchObject([{ outcome: 'success' }])
    const { jobs, steps } = foldTurns(log)
    expect(jobs).toMatchObject([{ jobId: 'u', decisions: [{ id: 'f', outcome: 'success' }] }])
    expect(steps.at(-1)).toMatchObject({ turn_id: jobs[0]?.id, linked_tool_call: 'f' })
  })
})
