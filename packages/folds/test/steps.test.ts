import { Assigner, createUlids, type Guard, getUlidSeq } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import {
  call,
  chat,
  type Fields,
  failure,
  propose,
  refused,
  response,
  result,
  start,
  thought,
  toLog,
  toolError,
} from './support/log.js'
import { foldTurns } from './support/turns.js'

const question = chat('user', 'why?', { id: 'q' })
const opening = start('agent', 'Looking', { id: 'r', correlationId: 'q' })
const inRun = { context: 'r' }
const check = call('agent', 'check_credits', {}, { ...inRun, id: 'c' })
const foldSteps = (...log: Fields[]) => foldTurns([question, opening, ...log]).steps

describe('a step', () => {
  verifies('A04', 'is numbered from 0 in its turn, whatever it was made of', () => {
    const log = [
      thought('agent', '[思考] a [計画] b [思考] c', inRun),
      check,
      call('agent', 'check_inbox', {}, { ...inRun, id: 'd' }),
      result('d', '3 unprocessed messages'),
      result('c', '$2.50 remaining'),
    ]
    const sameTime = [question, opening, ...log].map((each) => ({ ...each, ts: '2026-02-23T10:30:00.000Z' }))
    const { steps, records } = foldTurns(sameTime)
    expect(steps.map(({ step_number, phase, content }) => [step_number, phase, content])).toEqual([
      [0, 'thinking', 'a'],
      [1, 'plan', 'b'],
      [2, 'thinking', 'c'],
      [3, 'execute', 'check_inbox -> 3 unprocessed messages'],
      [4, 'execute', 'check_credits -> $2.50 remaining'],
    ])
    expect(new Set(steps.map(({ turn_id }) => turn_id))).toEqual(new Set([records[0]?.id]))
  })

  test('has an id by which the steps of two logs differ, and that tells their time', () => {
    const log = toLog([thought('agent', '1. a', { context: 'c' })])
    const idsIn = (epoch: string) => {
      const ulid = createUlids(epoch)
      return log.flatMap((envelope) => {
        const { begun, marks, at } = new Assigner(epoch).assign(envelope)
        const place = [Date.parse(at), envelope.seq ?? 0] as const
        return [...begun.map(({ id }) => id), ...marks.map(({ index }) => ulid(...place, index))]
      })
    }
    const [turn = '', one = ''] = idsIn('epoch-1')
    const [, other = ''] = idsIn('epoch-2')
    expect(turn < one).toBe(true)
    expect(one).not.toBe(other)
    expect([one, other].map(getUlidSeq)).toEqual([1, 1])
    const [envelope] = log
    // The first ten characters are 48 bits of milliseconds, five bits each.
    const milliseconds = [...one.slice(0, 10)].reduce(
      (sum, character) => 32 * sum + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(character),
      0,
    )
    expect(milliseconds).toBe(Date.parse(envelope?.ts ?? ''))
  })

  verifies('A03', 'has a ULID that rises with the log, also where the clock was put back', () => {
    const times = ['2026-02-23T10:30:00.000Z', '2026-02-23T10:29:00.000Z', '2026-02-23T10:30:00.000Z']
    const log = times.map((ts) => thought('agent', '[思考] a [計画] b', { ...inRun, ts }))
    const ids = foldSteps(...log).map(({ id }) => id)
    expect(ids).toHaveLength(6)
    expect(ids.every((id) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id))).toBe(true)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.map(getUlidSeq)).toEqual([3, 3, 4, 4, 5, 5])
    expect(foldSteps(...log).map(({ id }) => id)).toEqual(ids)
  })

  test('of a thought has the phase that the agent tells', () => {
    const claimed = thought('agent', 'it failed\n1. so what', { ...inRun, payload: { phase: 'execute' } })
    expect(foldSteps(claimed)).toMatchObject([
      {
        phase: 'execute',
        content: 'it failed\n1. so what',
        created_at: '2026-02-21T10:00:02.000Z',
        source: { seq: 3 },
      },
    ])
    expect(foldSteps(thought('agent', '', { ...inRun, payload: { phase: 'plan' } }))).toEqual([])
  })

  test('is made of every kind of thought, and of nothing that was withheld', () => {
    const hypothesis: Fields = {
      ...thought('agent', '', inRun),
      kind: 'reasoning.hypothesis',
      payload: { hypothesis: 'a bug' },
    }
    const withheld = thought('agent', '', { ...inRun, payload: { metadata: { withheld: true } } })
    expect(foldSteps(hypothesis, withheld)).toMatchObject([{ phase: 'thinking', content: 'a bug' }])
  })

  verifies('A12', 'comes after each tool call', () => {
    expect(foldSteps(check, result('c', 'ok'))).toMatchObject([
      { phase: 'execute', content: 'check_credits -> ok', linked_tool_call: 'c' },
    ])
    expect(foldSteps(check, failure('c', 'no such account'))).toMatchObject([
      { phase: 'error', content: 'check_credits -> no such account', linked_tool_call: 'c' },
    ])
    expect(foldSteps(check, toolError('c', 'broken'))).toMatchObject([
      { phase: 'error', content: 'check_credits -> broken' },
    ])
    const [long] = foldSteps(check, result('c', `${'x'.repeat(499)}😀${'y'.repeat(2000)}`))
    expect(long?.content).toBe(`check_credits -> ${'x'.repeat(499)}`)
    expect(foldSteps(check, result('c', 'z'.repeat(2000)))[0]?.content).toBe(
      `check_credits -> ${'z'.repeat(500)}`,
    )
  })

  test('of a result shows no secrets, and no part of one where it is cut', () => {
    const guard: Guard = (text) => ({
      text: text.replaceAll('s3cret-key', '[redacted:key]'),
      isWithheld: false,
    })
    const withheld: Guard = (text) => ({ text, isWithheld: text !== 'check_credits' })
    const long = `${'x'.repeat(495)}s3cret-key`
    const getContent = (which: Guard) =>
      foldTurns([question, opening, check, result('c', long)], 'agent', { guard: which }).steps.at(-1)
        ?.content
    expect(getContent(guard)).toBe(`check_credits -> ${'x'.repeat(495)}[reda`)
    expect(getContent(withheld)).toBe('check_credits -> [withheld]')
  })

  test('and its turn show no secrets that the rules of the safety package know', () => {
    const token = ['ghp', 'x7Qm2LpR9sTv4WzYb6NdKf3HjCg8EaUi1Oq5'].join('_')
    const leaking = call('agent', 'check_credits', { note: `with ${token}` }, { ...inRun, id: 'c' })
    const end = result('c', `${'x'.repeat(470)} ${token}`)
    const { turns, steps, events } = foldTurns([question, opening, leaking, end])
    expect(turns).toMatchObject([
      {
        reasoning: { tool_decisions: [{ parameters: { note: expect.stringMatching(/^with \[redacted:/) } }] },
      },
    ])
    expect(steps).toMatchObject([{ content: expect.stringMatching(/x \[redacted:/) }])
    expect(JSON.stringify([turns, steps, events])).not.toContain('x7Qm2')
  })

  test('of a response that answers several calls is made for each, in the turn of each', () => {
    const log: Fields[] = [
      question,
      opening,
      start('other', 'I look too', { id: 'o', correlationId: 'q' }),
      check,
      call('other', 'count', {}, { context: 'o', id: 'd' }),
      call('agent', 'add', {}, { ...inRun, id: 'e' }),
      thought('agent', 'Hm', inRun),
      { ...result('c', 'ok'), correlationId: ['c', 'd', 'e'] },
      thought('agent', 'So', inRun),
    ]
    const { steps, records, ends } = foldTurns(log)
    const [agent, other] = ['agent', 'other'].map((name) => records.find((each) => each.agent === name)?.id)
    expect(
      steps.map(({ turn_id, step_number, content, linked_tool_call }) => [
        turn_id,
        step_number,
        content,
        linked_tool_call,
      ]),
    ).toEqual([
      [agent, 0, 'Hm', null],
      [agent, 1, 'check_credits -> ok', 'c'],
      [other, 0, 'count -> ok', 'd'],
      [agent, 2, 'add -> ok', 'e'],
      [agent, 3, 'So', null],
    ])
    const ids = steps.map(({ id }) => id)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(5)
    expect(ids.map(getUlidSeq)).toEqual([7, 8, 8, 8, 9])
    expect(ends).toEqual([
      [8, agent],
      [8, other],
    ])
  })

  test('of a response whose request one may not read does not name the tool', () => {
    const log = [question, opening, check, result('c', 'ok')]
    const { steps } = foldTurns(log, 'agent', { mayRead: ({ id }) => id !== 'c' })
    expect(steps).toMatchObject([{ content: 'a tool -> ok', linked_tool_call: 'c' }])
  })

  test('of a result without text shows what there is', () => {
    const structured = response('tools', 'c', {
      result: { content: [], structuredContent: { credits: 2, api_key: 'abc' } },
    })
    expect(foldSteps(check, structured)[0]?.content).toBe(
      'check_credits -> {"credits":2,"api_key":"[redacted]"}',
    )
    expect(foldSteps(check, response('tools', 'c', { result: {} }))[0]?.content).toBe('check_credits -> ')
  })

  verifies('A13', 'records what policy denied, linked to the decision', () => {
    const denied = { ...refused('agent', { context: 'r' }), id: 'd' }
    const review = {
      ...refused('agent', { context: 'r', decision: 'review', reasonCode: 'pii', message: 'a name' }),
      id: 'w',
    }
    expect(foldSteps(denied, review)).toMatchObject([
      {
        phase: 'waiting_approval',
        content: 'Policy capability_violation: no capability of agent allows this envelope',
        linked_policy_decision: 'd',
        linked_tool_call: null,
      },
      { phase: 'waiting_approval', content: 'Policy pii: a name', linked_policy_decision: 'w' },
    ])
  })

  verifies('A14', 'records what awaits approval, linked to the proposal', () => {
    const proposal = propose('agent', 'deploy', {}, { ...inRun, id: 'p' })
    expect(foldSteps(proposal)).toMatchObject([
      {
        phase: 'waiting_approval',
        content: 'Awaiting human approval for deploy',
        linked_approval_request: 'p',
      },
    ])
  })

  test('of somebody who thinks along belongs to the turn of the run', () => {
    const { steps, records } = foldTurns([question, opening, thought('helper', 'Have you seen this?', inRun)])
    expect(records).toHaveLength(1)
    expect(steps).toMatchObject([{ turn_id: records[0]?.id, source: { from: 'helper' } }])
  })

  verifies('A15', 'has links that resolve in the log', () => {
    const log: Fields[] = [
      question,
      opening,
      thought('agent', 'Hm', inRun),
      check,
      result('c', 'ok'),
      propose('agent', 'deploy', {}, { ...inRun, id: 'p' }),
      call('user', 'deploy', {}, { id: 'f', correlationId: 'p' }),
      result('f', 'done'),
      { ...refused('agent', { context: 'r' }), id: 'd' },
    ]
    const getKind = (id: string | null | undefined) => log.find((each) => each.id === id)?.kind
    const { steps, records } = foldTurns(log)
    const links = steps.map((step) => [
      getKind(step.linked_tool_call),
      getKind(step.linked_approval_request),
      getKind(step.linked_policy_decision),
    ])
    expect(links).toEqual([
      [undefined, undefined, undefined],
      ['mcp.request', undefined, undefined],
      [undefined, 'mcp.proposal', undefined],
      ['mcp.request', undefined, undefined],
      [undefined, undefined, 'system.decision'],
    ])
    expect(steps.every(({ turn_id }) => records.some(({ id }) => id === turn_id))).toBe(true)
  })
})
