import { Assigner, endingRoles, phaseBits, Role } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  chat,
  conclusion,
  elicit,
  type Fields,
  propose,
  reject,
  response,
  result,
  start,
  thought,
  toLog,
} from './support/log.js'
import { answer, inRun, opening, question, search } from './support/search-story.js'
import { session } from './support/turns.js'

const getRoleNames = (roles: number): string[] =>
  Object.entries(Role).flatMap(([name, role]) => ((roles & role) === 0 ? [] : [name]))

/** Lists the turns of each envelope, with its roles. */
const rolesIn = (log: readonly Fields[]) => {
  const assigner = new Assigner(session.epoch)
  return toLog(log).map((envelope) =>
    assigner.assign(envelope).marks.map(({ beginning, roles }) => [beginning.turn, ...getRoleNames(roles)]),
  )
}

describe('an envelope belongs to turns', () => {
  test('from the first one about a trigger to its answer', () => {
    const log = [question, opening, search, result('c1', 'ok'), conclusion('agent', '', inRun), answer]
    expect(rolesIn(log)).toEqual([
      [],
      [[1, 'begin', 'turn', 'open']],
      [[1, 'call', 'dispatch']],
      [
        [1, 'settle', 'home'],
        [2, 'begin', 'answer'],
      ],
      [[1, 'turn', 'close', 'last']],
      [[1, 'answer']],
    ])
  })

  test('where a tool asks its caller: that of the tool, and none of the caller', () => {
    const log = [
      question,
      opening,
      search,
      elicit('tools', 'c1', 'agent', inRun),
      response('agent', 'e4', { result: { action: 'decline' } }),
      result('c1', 'ok'),
    ]
    expect(rolesIn(log).slice(2)).toEqual([
      [[1, 'call', 'dispatch']],
      [[2, 'begin', 'call', 'dispatch']],
      [[2, 'settle', 'home']],
      [
        [1, 'settle', 'home'],
        [2, 'answer'],
      ],
    ])
  })

  test('when it is said in one of their runs, also by others', () => {
    const log = [
      question,
      opening,
      chat('other', 'Is it in the cache?', inRun),
      cancel('user', 'r', 'too slow'),
      cancel('agent', 'r', 'asked to stop'),
      cancel('user', 'r', 'too late'),
      chat('agent', 'So be it', inRun),
    ]
    expect(rolesIn(log).slice(2)).toEqual([
      [[1, 'speak']],
      [[1, 'speak']],
      [[1, 'turn', 'close', 'last']],
      [[1, 'speak']],
      [[1, 'speak']],
    ])
  })

  test('or to none', () => {
    const none: Fields[] = [
      chat('user', 'Hello'),
      chat('agent', 'Hello', { correlationId: 'nothing' }),
      { kind: 'chat.acknowledge', from: 'agent', correlationId: 'e1' },
      { kind: 'chat.cancel', from: 'user', correlationId: 'e1', payload: {} },
      { kind: 'observe.visibility', from: 'agent', payload: {} },
      call('agent', '', {}, { payload: { method: 'notifications/progress' } }),
      result('nothing', 'ok'),
      reject('user', 'nothing'),
      conclusion('agent', '', { context: 'nothing' }),
      thought('agent', '', { context: 'nothing' }),
    ]
    expect(rolesIn(none)).toEqual(none.map(() => []))
  })

  test('of which it begins some', () => {
    const assigner = new Assigner(session.epoch)
    const request = call('boss', 'review', {}, { id: 'c', to: ['agent'] })
    const run = start('agent', 'I do', { id: 's', correlationId: 'c' })
    const begun = toLog([question, opening, request, run]).flatMap((each) => assigner.assign(each).begun)
    const id = expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(begun).toEqual([
      {
        turn: 1,
        id,
        agent: 'agent',
        number: 1,
        jobId: null,
        inputSource: 'chat',
        trigger: 1,
        seq: 2,
        startedAt: '2026-02-21T10:00:01.000Z',
      },
      {
        turn: 2,
        id,
        agent: 'boss',
        number: null,
        jobId: 'c',
        inputSource: 'job',
        trigger: null,
        seq: 3,
        startedAt: '2026-02-21T10:00:02.000Z',
      },
      {
        turn: 3,
        id,
        agent: 'agent',
        number: 2,
        jobId: null,
        inputSource: 'mcp.request',
        trigger: 3,
        seq: 4,
        startedAt: '2026-02-21T10:00:03.000Z',
      },
    ])
    expect(begun.map((each) => each.id)).toEqual(begun.map((each) => each.id).sort())
  })

  test('where a proposal is fulfilled or rejected, to that of its proposer', () => {
    const proposal = propose('agent', 'deploy', {}, { ...inRun, id: 'p' })
    const fulfilment = call('user', 'deploy', {}, { id: 'f', correlationId: 'p' })
    const log = [question, opening, proposal]
    expect(rolesIn([...log, fulfilment, result('f', 'ok')]).slice(2)).toEqual([
      [[1, 'call', 'dispatch']],
      [[1, 'call', 'fulfil']],
      [
        [1, 'settle', 'home'],
        [2, 'begin', 'answer'],
      ],
    ])
    const mine = { ...fulfilment, context: 'u' }
    expect(rolesIn([...log, start('user', '', { id: 'u' }), mine]).at(-1)).toEqual([
      [1, 'fulfil'],
      [2, 'call', 'dispatch'],
    ])
    expect(rolesIn([...log, reject('user', 'p')]).at(-1)).toEqual([[1, 'settle']])
  })

  test('or to none, where a proposal expires that is fulfilled, or is pruned', () => {
    const payload = { uses: 2, expiresAt: '2026-02-21T10:00:03.500Z' }
    const proposal = propose('agent', 'deploy', {}, { ...inRun, id: 'p', payload })
    const fulfilment = call('user', 'deploy', {}, { id: 'f', correlationId: 'p' })
    const log = [question, opening, proposal]
    expect(rolesIn([...log, fulfilment, chat('user', 'and?')]).at(-1)).toEqual([])
    const pruned = { kind: 'system.space', from: 'system:gateway', payload: { event: 'pruned', through: 3 } }
    const open = propose('agent', 'deploy', {}, { ...inRun, id: 'p' })
    expect(rolesIn([question, opening, open, pruned]).at(-1)).toEqual([])
  })

  test('after a snapshot of an earlier version, which has less of each call', () => {
    const expiresAt = '2026-02-21T10:00:06.500Z'
    const log = toLog([
      question,
      opening,
      search,
      propose('agent', 'deploy', {}, { ...inRun, id: 'p', payload: { expiresAt } }),
      result('c1', 'ok'),
      chat('user', 'and?'),
      chat('user', 'and?'),
      chat('user', 'and?'),
    ])
    const [before, after] = [new Assigner(session.epoch), new Assigner(session.epoch)]
    for (const envelope of log.slice(0, 4)) before.assign(envelope)
    const place = { home: 1, settles: [1], from: 'agent', jsonRpcId: null }
    const calls = [
      { id: 'c1', isProposal: false, ...place },
      { id: 'p', isProposal: true, ...place },
    ]
    const asked = { calls, deadlines: [['p', Date.parse(expiresAt)]] as const }
    after.restore(JSON.parse(JSON.stringify({ ...before.snapshot(), asked })))
    for (const envelope of log.slice(4)) expect(after.assign(envelope)).toEqual(before.assign(envelope))
  })

  test('to a turn, where a call is cancelled that has been answered', () => {
    const payload = { method: 'notifications/cancelled', params: { requestId: 'c1' } }
    const late: Fields = { kind: 'mcp.request', from: 'agent', payload }
    expect(rolesIn([question, opening, search, result('c1', 'ok'), late]).at(-1)).toEqual([
      [1, 'settle'],
      [2, 'takeBack'],
    ])
  })

  test('once for each row of steps that follow each other, with their numbers and phases', () => {
    const aside = call('other', 'shell', {}, { ...inRun, id: 'c2', to: ['tools'] })
    const log = [
      question,
      opening,
      start('other', 'Me too', { id: 'o', correlationId: 'q' }),
      thought('agent', '[思考] a [計画] b', inRun),
      search,
      { ...aside, context: 'o' },
      call('agent', 'shell', {}, { ...inRun, id: 'c3' }),
      { ...result('c1', 'ok'), correlationId: ['c3', 'c2', 'c1'] },
    ]
    const assigner = new Assigner(session.epoch)
    const assigned = toLog(log).map((envelope) => assigner.assign(envelope))
    const { thinking, plan, execute } = phaseBits
    expect(assigned[3]?.marks).toMatchObject([
      { beginning: { turn: 1 }, step: 0, steps: 2, phases: thinking | plan, index: 0 },
    ])
    expect(assigned[7]?.marks.filter(({ steps }) => steps > 0)).toMatchObject([
      { beginning: { turn: 1 }, step: 2, steps: 1, phases: execute, index: 0 },
      { beginning: { turn: 2 }, step: 0, steps: 1, phases: execute, index: 1 },
      { beginning: { turn: 1 }, step: 3, steps: 1, phases: execute, index: 2 },
    ])
    expect(assigned[7]?.marks.map(({ roles }) => (roles & endingRoles) !== 0)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})
