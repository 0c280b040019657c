import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import {
  call,
  cancel,
  chat,
  conclusion,
  type Fields,
  failure,
  result,
  start,
  toolError,
} from './support/log.js'
import { answer, inRun, opening, question, search } from './support/search-story.js'
import { foldTurn, foldTurns } from './support/turns.js'

describe('the state of a turn', () => {
  test.for([
    ['cancelled', 'agent', 'left without a conclusion: shell: no'],
    ['cancelled', 'system:gateway', 'somebody asked for it'],
    ['abandoned', 'system:gateway', 'abandoned'],
  ] as const)('is %s when %s cancels its run: %s', ([state, from, reason]) => {
    const turn = foldTurn([question, opening, cancel(from, 'r', reason)])
    expect(turn).toMatchObject({ state, completed_at: '2026-02-21T10:00:02.000Z' })
  })

  verifies('I05', 'is error where its function threw, with what went wrong', () => {
    const failed = (noAnswer: string) =>
      chat('agent', 'I could not answer: no disk', { correlationId: 'q', payload: { noAnswer } })
    const stopped = cancel('agent', 'r', 'no disk')
    for (const log of [
      [question, opening, failed('failed'), stopped],
      [question, opening, stopped, failed('failed')],
      [question, failed('busy')],
    ]) {
      expect(foldTurn(log)).toMatchObject({ state: 'error', error: 'I could not answer: no disk' })
    }
    expect(foldTurn([question, opening, failed('stopped')]).state).toBe('cancelled')
    expect(foldTurn([question, opening, answer])).not.toHaveProperty('error')
  })

  test('does not change when somebody else asks for the end of its run', () => {
    expect(foldTurn([question, opening, cancel('user', 'r', 'stop')]).state).toBe('running')
  })

  test('is cancelled by a conclusion that says so', () => {
    const end = conclusion('agent', 'stopped', { ...inRun, payload: { metadata: { cancelled: true } } })
    expect(foldTurn([question, opening, end]).state).toBe('cancelled')
  })

  test('is cancelled when the asker takes the question back, and stays so', () => {
    const back: Fields = {
      kind: 'chat.cancel',
      from: 'user',
      correlationId: 'q',
      payload: { reason: 'never mind' },
    }
    expect(foldTurn([question, opening, { ...back, from: 'other' }]).state).toBe('running')
    expect(foldTurn([question, opening, back, cancel('agent', 'r', 'taken back'), answer])).toMatchObject({
      state: 'cancelled',
      completed_at: '2026-02-21T10:00:02.000Z',
      response: 'The latest updates include...',
    })
  })

  test('is cancelled for all who were asked, when the asker takes the question back', () => {
    const asked = [question, chat('user', 'and why?', { id: 'q2' })]
    const starts = [
      opening,
      start('other', 'I look too', { id: 'o', correlationId: 'q' }),
      start('third', 'About the other', { id: 't', correlationId: 'q2' }),
      search,
      call('other', 'shell', {}, { context: 'o', id: 'c2' }),
    ]
    const back: Fields = { kind: 'chat.cancel', from: 'user', correlationId: 'q', payload: {} }
    const states = (log: readonly Fields[]) =>
      ['agent', 'other', 'third'].map((agent) => foldTurn(log, agent).state)
    const log = [...asked, ...starts, back]
    expect(states(log)).toEqual(['cancelled', 'cancelled', 'running'])
    expect(foldTurns(log).ends.map(([seq]) => seq)).toEqual([8, 8])
    expect(foldTurns(log).events).toMatchObject([
      { thread_id: 'main/agent', tool_decisions: [{ outcome: 'rejected' }] },
      { thread_id: 'main/other', tool_decisions: [{ outcome: 'rejected' }] },
    ])
    const both = [...asked, ...starts, { ...back, correlationId: ['q2', 'q'] }]
    expect(states(both)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  test('stays as it was when the question is taken back after the answer', () => {
    const back: Fields = { kind: 'chat.cancel', from: 'user', correlationId: 'q', payload: {} }
    expect(foldTurn([question, answer, back]).state).toBe('completed')
    expect(foldTurns([question, back]).records).toEqual([])
  })

  test('stays running while another run of it goes on', () => {
    const second = start('agent', 'Another way', { id: 'r2', correlationId: 'q' })
    expect(foldTurn([question, opening, second, cancel('agent', 'r', 'no')]).state).toBe('running')
    expect(foldTurn([question, opening, cancel('agent', 'r', 'no'), second]).state).toBe('running')
  })

  test('is completed by an answer after a cancelled run, and by one before it', () => {
    expect(foldTurn([question, opening, cancel('agent', 'r', 'no'), answer]).state).toBe('completed')
    expect(foldTurn([question, opening, answer, cancel('agent', 'r', 'no')]).state).toBe('completed')
  })

  test('is not changed by the end of a nested context', () => {
    const nested = start('agent', 'Deeper', { ...inRun, id: 'n' })
    expect(foldTurn([question, opening, nested, cancel('agent', 'r/n', 'no')]).state).toBe('running')
  })
})

describe('a request as trigger', () => {
  const ask = call('boss', 'review', { file: 'a.ts' }, { id: 'q', to: ['agent'] })

  test('is answered by a response', () => {
    const log = [
      ask,
      opening,
      search,
      result('c1', 'ok'),
      chat('agent', 'soon', { correlationId: 'q' }),
      result('q', 'fine', 'agent'),
    ]
    expect(foldTurn(log)).toMatchObject({
      user_input: 'review { "file": "a.ts" }',
      response: 'fine',
      state: 'completed',
      tool_calls: [{ name: 'memory_search' }],
    })
  })

  test.for([failure('q', 'no such file', 'agent'), toolError('q', 'no such file', 'agent')])(
    'that fails is a turn in state error: %j',
    (bad) => {
      expect(foldTurn([ask, bad])).toMatchObject({ state: 'error', response: 'no such file' })
    },
  )

  test('is a turn of its addressees alone', () => {
    const log = [ask, start('other', 'I look too', { id: 'o', correlationId: 'q' })]
    expect(foldTurns(log, 'other').turns).toEqual([])
    expect(foldTurns(log).jobs.map(({ jobId }) => jobId)).toEqual(['q', 'o'])
  })

  test.for(['q', 7] as const)('is taken back by a notification that names it %s', (requestId) => {
    const numbered = { ...ask, payload: { ...ask.payload, id: 7 } }
    const notification = call(
      'boss',
      '',
      {},
      {
        to: ['agent'],
        payload: { method: 'notifications/cancelled', params: { requestId, reason: 'too slow' } },
      },
    )
    const folded = foldTurns([numbered, opening, notification])
    expect(folded.turns[0]?.state).toBe('cancelled')
    expect(folded.jobs[0]).toMatchObject({
      agent: 'boss',
      state: 'completed',
      decisions: [{ outcome: 'rejected' }],
    })
    const late = foldTurns([numbered, opening, notification, result('q', 'done', 'agent')])
    expect(late.jobs[0]?.decisions[0]?.outcome).toBe('success')
    const others = foldTurns([numbered, opening, { ...notification, from: 'other' }])
    expect(others.turns[0]?.state).toBe('running')
    expect(others.jobs[0]?.decisions[0]?.outcome).toBeNull()
  })

  describe('that has a JSON-RPC id', () => {
    const numbered = (id: string, from: string, jsonRpcId: number | string) =>
      call(from, id, {}, { id, to: ['agent'], payload: { id: jsonRpcId } })
    const taking = (from: string, requestId: unknown): Fields => ({
      kind: 'mcp.request',
      from,
      payload: { method: 'notifications/cancelled', params: { requestId } },
    })
    const begun = (...ids: string[]) =>
      ids.map((id) => start('agent', id, { id: `r${id}`, correlationId: id }))
    const states = (...log: Fields[]) => foldTurns(log).turns.map(({ state }) => state)

    test('is the latest one of its asker with this id that is taken back', () => {
      const asked = [numbered('a', 'boss', 7), numbered('b', 'boss', 7), numbered('c', 'other', 7)]
      const log = [...asked, ...begun('a', 'b', 'c')]
      expect(states(...log, taking('boss', 7))).toEqual(['running', 'cancelled', 'running'])
      expect(states(...log, taking('other', '7'))).toEqual(['running', 'running', 'cancelled'])
      expect(states(...log, taking('third', 7))).toEqual(['running', 'running', 'running'])
      expect(states(...log, taking('boss', 8))).toEqual(['running', 'running', 'running'])
      expect(states(...log, taking('boss', null))).toEqual(['running', 'running', 'running'])
    })

    test('ends as a call of its asker, but not in the turns of others', () => {
      const log = [numbered('a', 'boss', 7), ...begun('a'), taking('boss', 7)]
      const { jobs, ends, records } = foldTurns(log)
      expect(jobs).toMatchObject([{ agent: 'boss', decisions: [{ id: 'a', outcome: 'rejected' }] }])
      expect(ends).toEqual([[3, records.find(({ agent }) => agent === 'boss')?.id]])
    })

    test('gives way to one that has this as the id of its envelope, or that is answered', () => {
      const asked = [numbered('7', 'boss', 1), numbered('b', 'boss', 7), numbered('c', 'boss', 7)]
      const log = [...asked, ...begun('7', 'b', 'c')]
      expect(states(...log, taking('boss', '7'))).toEqual(['cancelled', 'running', 'running'])
      const about = { ...taking('boss', 'x'), correlationId: 'b' }
      expect(states(...log, about)).toEqual(['running', 'cancelled', 'running'])
    })
  })
})
