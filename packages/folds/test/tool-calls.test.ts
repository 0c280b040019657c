import type { MayRead } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import {
  call,
  cancel,
  conclusion,
  elicit,
  type Fields,
  failure,
  refused,
  result,
  start,
  toolError,
} from './support/log.js'
import { answer, inRun, opening, question, search } from './support/search-story.js'
import { foldDecisions, foldTurn, foldTurns } from './support/turns.js'

/** Written in two parts, so that scanners do not find a token in this file. */
const token = ['ghp', 'R2D2c3poBB8k9Lm4Np7Qr1St6Vw8Xy0Za3Bc'].join('_')

describe('a tool call', () => {
  test.for([
    ['success', result('c1', 'ok'), true, false],
    ['error', failure('c1', 'boom'), false, true],
    ['error', toolError('c1', 'boom'), false, true],
  ] as const)('is a %s', ([outcome, end, has_result, has_error]) => {
    const turn = foldTurn([question, opening, search, end])
    expect(turn.reasoning?.tool_decisions[0]?.outcome).toBe(outcome)
    expect(turn.tool_calls).toEqual([{ name: 'memory_search', has_result, has_error }])
  })

  test('has no result until it is answered', () => {
    const turn = foldTurn([question, opening, search])
    expect(turn.tool_calls).toEqual([{ name: 'memory_search', has_result: false, has_error: false }])
    expect(turn.reasoning?.tool_decisions[0]?.outcome).toBeNull()
  })

  verifies('I27', 'that the gateway denied is rejected', () => {
    const denied = refused('agent', { attemptedTool: 'deploy', attemptedId: 'c9', context: 'r' })
    const turn = foldTurn([question, opening, denied])
    expect(turn.tool_calls).toEqual([{ name: 'deploy', has_result: false, has_error: true }])
    expect(turn.reasoning?.tool_decisions).toMatchObject([
      { tool_name: 'deploy', rationale_given: false, parameters: {}, outcome: 'rejected' },
    ])
  })

  test('that the gateway denied outside any context is told in the turn that it came from, with what it was to do', () => {
    const denied = refused('agent', {
      attemptedTool: 'deploy',
      attemptedId: 'c9',
      attemptedCorrelation: 'q',
      attemptedRationale: 'the tests pass',
      attemptedArguments: { to: 'prod', password: 'hunter2' },
    })
    const { turns, steps, records } = foldTurns([question, opening, denied])
    expect(turns).toHaveLength(1)
    expect(turns[0]?.reasoning?.tool_decisions).toMatchObject([
      {
        tool_name: 'deploy',
        rationale: 'the tests pass',
        parameters: { to: 'prod', password: '[redacted]' },
        outcome: 'rejected',
      },
    ])
    expect(steps.map(({ turn_id }) => turn_id)).toEqual([records[0]?.id])
  })

  test('that was denied and is tried again counts once', () => {
    const limited = refused('agent', {
      decision: 'limited',
      attemptedTool: 'memory_search',
      attemptedId: 'c1',
      context: 'r',
    })
    expect(foldDecisions([question, opening, limited, search, result('c1', 'ok')])).toMatchObject([
      { outcome: 'success', rationale: "searched memory for 'recent project updates'" },
    ])
  })

  test('that was denied because its id is taken leaves the other one alone', () => {
    const taken = refused('agent', {
      reasonCode: 'duplicate_id',
      attemptedTool: 'shell',
      attemptedId: 'c1',
      context: 'r',
    })
    expect(foldDecisions([question, opening, search, taken, result('c1', 'ok')])).toMatchObject([
      { tool_name: 'memory_search', outcome: 'success' },
      { tool_name: 'shell', outcome: 'rejected' },
    ])
  })

  test('that was only reviewed, of which a text was withheld, or that was no tool call, is no decision', () => {
    const review = refused('agent', { decision: 'review', attemptedTool: 'deploy', context: 'r' })
    const blocked = refused('agent', { decision: 'blocked', attemptedTool: 'deploy', context: 'r' })
    const thoughts = refused('agent', { attemptedKind: 'reasoning.thought', context: 'r' })
    expect(foldTurn([question, opening, review, blocked, thoughts]).reasoning).toBeNull()
  })

  verifies('I27', 'is shown without the secrets among its parameters', () => {
    const secret = call('agent', 'login', { user: 'ana', password: 'hunter2', max_tokens: 5 }, inRun)
    expect(foldDecisions([question, opening, secret])).toMatchObject([
      { parameters: { user: 'ana', password: '[redacted]', max_tokens: 5 } },
    ])
  })

  test('is named without what looks like a secret', () => {
    const log = [question, opening, call('agent', token, {}, { ...inRun, id: 'c1' }), result('c1', 'ok')]
    const { turns, steps } = foldTurns(log)
    expect(turns[0]?.tool_calls).toEqual([
      expect.objectContaining({ name: expect.stringMatching(/^\[redacted:/) }),
    ])
    expect(JSON.stringify([turns, steps])).not.toContain(token)
  })

  test('shows how it ended to those alone who may read what tells so', () => {
    const log = [
      question,
      opening,
      call('agent', 'read', {}, { ...inRun, id: 'c1' }),
      toolError('c1', 'gone'),
    ]
    const mayRead: MayRead = ({ kind }) => kind !== 'mcp.response'
    const all = foldTurns(log)
    expect(all.turns).toMatchObject([{ tool_calls: [{ has_error: true }] }])
    expect(all.events).toMatchObject([{ tool_decisions: [{ outcome: 'error' }] }])
    const some = foldTurns(log, 'agent', { mayRead })
    expect(some.turns).toMatchObject([
      {
        tool_calls: [{ has_result: false, has_error: false }],
        reasoning: { tool_decisions: [{ outcome: null }] },
      },
    ])
    expect([some.events, some.steps]).toEqual([[], []])
  })

  test('that one may not read ends unnoticed, though others of the turn were told of', () => {
    const log = [
      question,
      opening,
      call('agent', 'read', {}, { ...inRun, id: 'c1' }),
      result('c1', 'four'),
      refused('agent', { context: 'r', attemptedTool: 'deploy' }),
    ]
    const countIn = (mayRead?: MayRead) =>
      foldTurns(log, 'agent', { ...(mayRead && { mayRead }) }).events.map(
        (event) => event.tool_decisions.length,
      )
    expect(countIn(({ kind }) => kind !== 'system.decision')).toEqual([1])
    expect(countIn(({ kind }) => kind !== 'mcp.request')).toEqual([1])
    expect(countIn()).toEqual([1, 2])
  })

  test('has a name that is guarded before it is cut', () => {
    const log = [question, opening, call('agent', `${'x'.repeat(100)} ${token}`, {}, inRun)]
    const { turns } = foldTurns(log)
    const name = turns[0]?.tool_calls[0]?.name ?? ''
    expect([name.length, name.includes(token.slice(0, 8))]).toEqual([128, false])
  })

  test('has the method as its name where it is no tools/call', () => {
    const read = call('agent', '', undefined, {
      ...inRun,
      id: 'c1',
      payload: { method: 'resources/read', params: { uri: 'file:///a', _meta: { progressToken: 'x' } } },
    })
    expect(foldDecisions([question, opening, read])).toMatchObject([
      { tool_name: 'resources/read', parameters: { uri: 'file:///a' } },
    ])
  })

  test('outside any run belongs to the turn it is correlated with', () => {
    const log = [
      question,
      call('agent', 'time', undefined, { id: 'c1', correlationId: 'q' }),
      result('c1', 'noon'),
      answer,
    ]
    expect(foldDecisions(log)).toMatchObject([{ tool_name: 'time', parameters: {}, outcome: 'success' }])
  })

  test('in a nested context belongs to the turn of the run', () => {
    const log = [
      question,
      opening,
      start('agent', 'Deeper', { ...inRun, id: 'n' }),
      call('agent', 'shell', {}, { context: 'r/n', id: 'c1' }),
    ]
    expect(foldDecisions(log)).toMatchObject([{ tool_name: 'shell' }])
  })

  test('of somebody who helps in the run is not the agent’s', () => {
    const log = [question, opening, call('helper', 'shell', {}, { ...inRun, id: 'c1' }), result('c1', 'ok')]
    const folded = foldTurns(log)
    expect(folded.turns[0]?.reasoning).toBeNull()
    expect(folded.steps).toMatchObject([
      { turn_id: folded.records.find(({ agent }) => agent === 'agent')?.id, content: 'shell -> ok' },
    ])
  })

  test('of an agent that works for another within its run is its own', () => {
    const log = [
      question,
      opening,
      call('agent', 'review', {}, { ...inRun, id: 'c1', to: ['helper'] }),
      start('helper', 'Reviewing', { ...inRun, id: 'h', correlationId: 'c1' }),
      call('helper', 'lint', {}, { context: 'r/h', id: 'c2' }),
      result('c2', 'clean'),
      conclusion('helper', 'Good', { context: 'r/h' }),
      result('c1', 'good', 'helper'),
    ]
    expect(foldTurns(log).turns[0]?.tool_calls.map(({ name }) => name)).toEqual(['review'])
    expect(foldTurns(log, 'helper').turns).toMatchObject([
      { user_input: 'review {}', response: 'good', state: 'completed', tool_calls: [{ name: 'lint' }] },
    ])
  })

  test('that ends after the answer is counted all the same', () => {
    const turn = foldTurn([
      question,
      opening,
      search,
      conclusion('agent', '', inRun),
      answer,
      result('c1', 'late'),
    ])
    expect(turn).toMatchObject({ state: 'completed', tool_calls: [{ has_result: true }] })
  })

  describe('that is cancelled is rejected, and says why, unless it is answered after all:', () => {
    const outside = call('agent', 'time', {}, { id: 'c2', correlationId: 'q' })
    const back = { kind: 'chat.cancel', from: 'user', correlationId: 'q', payload: { reason: 'stop' } }
    const end = conclusion('agent', 'stop', { ...inRun, payload: { metadata: { cancelled: true } } })
    const taken = {
      kind: 'mcp.request',
      from: 'agent',
      payload: { method: 'notifications/cancelled', params: { requestId: 'c1', reason: 'stop' } },
    }
    const second = start('agent', 'Another way', { id: 'r2', correlationId: 'q' })

    test.for<[what: string, calls: Fields[], end: Fields]>([
      ['in a run', [search], cancel('agent', 'r', 'stop')],
      ['in a run that a conclusion cancels', [search], end],
      ['outside of it', [outside], cancel('agent', 'r', 'stop')],
      ['in a run and outside of it', [search, outside], cancel('agent', 'r', 'stop')],
      ['in a turn that is taken back', [search, outside], back],
      ['by itself', [search], taken],
      ['in one of two runs', [second, search], cancel('agent', 'r', 'stop')],
    ])('%s', ([, calls, end]) => {
      const log = [question, opening, ...calls, end]
      const { tool_calls, reasoning } = foldTurn(log)
      const made = calls.filter(({ kind }) => kind === 'mcp.request')
      expect(reasoning?.tool_decisions.map(({ outcome, cancelled }) => [outcome, cancelled])).toEqual(
        made.map(() => ['rejected', 'stop']),
      )
      expect(tool_calls.map(({ has_result, has_error }) => [has_result, has_error])).toEqual(
        made.map(() => [false, true]),
      )
      const late = foldDecisions([...log, ...made.map(({ id = '' }) => result(id, 'ok'))])
      expect(late.map(({ outcome, cancelled }) => [outcome, cancelled])).toEqual(
        made.map(() => ['success', undefined]),
      )
    })

    test('its reason is guarded, and may be missing', () => {
      const reasons = [token, undefined].map((reason) => {
        const [decision] = foldDecisions([question, opening, search, cancel('agent', 'r', reason)])
        return decision?.cancelled
      })
      expect(reasons).toEqual([expect.stringMatching(/^\[redacted:/), ''])
    })

    test('but not one that is not reached by it', () => {
      expect(foldDecisions([question, opening, second, outside, cancel('agent', 'r', 'stop')])).toMatchObject(
        [{ outcome: null }],
      )
    })
  })

  test('that an ended turn has left without an answer is an error, until it is answered', () => {
    const log = [question, opening, search, conclusion('agent', '', inRun)]
    expect(foldDecisions(log)).toMatchObject([{ outcome: null }])
    const ended = foldTurn([...log, answer])
    expect(ended.tool_calls).toEqual([{ name: 'memory_search', has_result: false, has_error: true }])
    expect(ended.reasoning?.tool_decisions).toMatchObject([{ outcome: 'error', size: null }])
    expect(foldDecisions([...log, answer, result('c1', 'late')])).toMatchObject([{ outcome: 'success' }])
    expect(foldTurns([...log, answer]).events).toEqual([])
    const asked = call('boss', 'review', {}, { id: 'q', to: ['agent'] })
    const failed = [asked, opening, search, failure('q', 'gave up', 'agent')]
    expect(foldTurn(failed)).toMatchObject({
      state: 'error',
      reasoning: { tool_decisions: [{ outcome: 'error' }] },
    })
    const abandoned = cancel('system:gateway', 'r', 'abandoned')
    expect(foldTurn([question, opening, search, abandoned])).toMatchObject({
      state: 'abandoned',
      reasoning: { tool_decisions: [{ outcome: 'error' }] },
    })
  })

  test('that a cancelled turn makes is rejected until it is answered', () => {
    const late = call('agent', 'time', {}, { id: 'c2', correlationId: 'q' })
    const log = [question, opening, cancel('agent', 'r', 'stop'), late]
    expect(foldTurn(log)).toMatchObject({
      state: 'cancelled',
      tool_calls: [{ name: 'time', has_result: false, has_error: true }],
      reasoning: { tool_decisions: [{ outcome: 'rejected', cancelled: '' }] },
    })
    expect(foldDecisions([...log, result('c2', 'noon')])).toMatchObject([{ outcome: 'success' }])
  })

  test('is answered once: what a second responder says changes nothing', () => {
    const log = [question, opening, search, result('c1', 'ok'), failure('c1', 'no', 'other')]
    expect(foldDecisions(log)).toMatchObject([{ outcome: 'success' }])
    expect(foldTurns(log).events).toHaveLength(1)
  })

  test('that was refused stays so, whoever uses its id', () => {
    const denied = refused('agent', { context: 'r', attemptedId: 'x', attemptedTool: 'shell' })
    const theirs = call('other', 'shell', {}, { ...inRun, id: 'x' })
    expect(foldDecisions([question, opening, denied, theirs, result('x', 'ok')])).toMatchObject([
      { tool_name: 'shell', outcome: 'rejected' },
    ])
  })

  test('that asks about a call is over with that call', () => {
    const asked = call('boss', 'book', {}, { id: 'b', to: ['agent'] })
    const asks = elicit('agent', 'b', 'boss', { id: 'x' })
    const { turns } = foldTurns([asked, asks, result('b', 'booked', 'agent')])
    expect(turns).toMatchObject([
      { state: 'completed', reasoning: { tool_decisions: [{ outcome: 'rejected', cancelled: 'answered' }] } },
    ])
  })

  test('is no notification', () => {
    const progress = call(
      'agent',
      '',
      {},
      { ...inRun, payload: { method: 'notifications/progress', params: {} } },
    )
    expect(foldTurn([question, opening, progress]).reasoning).toBeNull()
  })
})
