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
  withdraw,
} from './support/log.js'
import { decisionsOf, tell } from './support/turns.js'

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
  decisionsOf([...beginning, proposal, ...rest]).map((each) => each.outcome)

describe('a proposal of a turn', () => {
  test('is a decision with the outcome of the request that fulfils it', () => {
    expect(decisionsOf([...beginning, proposal, approval, result('f', 'done')])).toMatchObject([
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
    expect(decisionsOf([...beginning, limited, ...later(1)])[0]?.outcome).toBeNull()
    expect(decisionsOf([...beginning, limited, ...later(2)])[0]?.outcome).toBe('rejected')
  })

  test('does not expire once it is being fulfilled', () => {
    const limited = { ...proposal, payload: { ...proposal.payload, expiresAt: '2026-02-21T10:00:05.000Z' } }
    const log = [...beginning, limited, approval, chat('user', '…'), chat('user', '…')]
    expect(decisionsOf(log)[0]?.outcome).toBeNull()
    expect(decisionsOf([...log, result('f', 'done')])[0]?.outcome).toBe('success')
  })

  test('may be fulfilled by another after one has rejected it, or its run was cancelled', () => {
    expect(outcomes(reject('other', 'p'), approval, result('f', 'done'))).toEqual(['success'])
    expect(outcomes(cancel('agent', 'r', 'no'))).toEqual(['error'])
    expect(outcomes(cancel('agent', 'r', 'no'), approval, result('f', 'done'))).toEqual(['success'])
  })

  test('keeps the story in the turn of its proposer', () => {
    const { steps, jobs, turns } = tell([...beginning, proposal, approval, result('f', 'done')])
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
    expect(decisionsOf(log)).toMatchObject([{ outcome: 'success' }])
    const { jobs, steps } = tell(log)
    expect(jobs).toMatchObject([{ jobId: 'u', decisions: [{ id: 'f', outcome: 'success' }] }])
    expect(steps.at(-1)).toMatchObject({ turn_id: jobs[0]?.id, linked_tool_call: 'f' })
  })
})
