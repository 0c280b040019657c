import { reasoningBlock, reasoningDetail } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat, conclusion, type Fields, failure, result, start, thought } from './support/log.js'
import { foldDecisions, foldTurn, foldTurns } from './support/turns.js'

const question = chat('user', 'why?', { id: 'q' })
const opening = start('agent', 'Analysing', { id: 'r', correlationId: 'q' })
const inRun = { context: 'r' }
const lookup = call('agent', 'lookup', {}, { ...inRun, id: 'c1', rationale: 'to look it up' })
const getNarrative = (log: readonly Fields[]) => foldTurn(log).reasoning?.narrative
const withheld = { ...inRun, payload: { message: '', metadata: { withheld: true } } }

describe('the narrative', () => {
  verifies('I04', 'test_turn_narrative_set_and_get', () => {
    const silent = call('agent', 'lookup', {}, { ...inRun, id: 'c1' })
    const turn = foldTurn([
      question,
      opening,
      thought('agent', 'First memory, then the file.', inRun),
      silent,
    ])
    expect(turn.reasoning?.narrative).toBe('First memory, then the file.')
    expect(turn.reasoning?.tool_decisions).toMatchObject([{ rationale_given: false }])
  })

  test('is the last thought before the first call of the run', () => {
    const log = [
      question,
      opening,
      thought('agent', 'one', inRun),
      thought('agent', 'two', inRun),
      lookup,
      thought('agent', 'three', inRun),
    ]
    expect(getNarrative(log)).toBe('two')
    expect(getNarrative([...log, result('c1', 'ok'), call('agent', 'again', {}, inRun)])).toBe('two')
  })

  test('is a thought of a nested context as well, and of the agent alone', () => {
    const log = [
      question,
      opening,
      start('agent', 'Deeper', { ...inRun, id: 'n' }),
      thought('agent', 'mine', { context: 'r/n' }),
      thought('helper', 'not mine', { context: 'r/n' }),
      lookup,
    ]
    expect(getNarrative(log)).toBe('mine')
  })

  test('is else what the run began with', () => {
    expect(getNarrative([question, opening, lookup])).toBe('Analysing')
    expect(getNarrative([question, opening, thought('agent', ' ', inRun), lookup])).toBe('Analysing')
  })

  verifies('I38', 'is absent without tools, and where nothing was said', () => {
    expect(foldTurn([question, opening, thought('agent', 'Easy', inRun)]).reasoning).toBeNull()
    expect(getNarrative([question, { ...opening, payload: {} }, lookup])).toBeNull()
    expect(getNarrative([question, call('agent', 'lookup', {}, { correlationId: 'q' })])).toBeNull()
  })

  test('is null where it was withheld, and nothing else takes its place', () => {
    const log = [question, opening, thought('agent', 'one', inRun), thought('agent', '', withheld), lookup]
    expect(getNarrative(log)).toBeNull()
  })

  test('is that of the latest run that calls tools and says why', () => {
    const second = start('agent', 'Once more', { id: 'r2', correlationId: 'q' })
    const log = [
      question,
      opening,
      lookup,
      conclusion('agent', '', inRun),
      second,
      call('agent', 'x', {}, { context: 'r2' }),
    ]
    expect(getNarrative(log)).toBe('Once more')
    const third: Fields = { ...second, id: 'r3', payload: {} }
    expect(getNarrative([...log, third, call('agent', 'y', {}, { context: 'r3' })])).toBe('Once more')
  })

  test('takes the texts of richer reasoning', () => {
    const goal: Fields = { ...opening, payload: { goal: 'Evaluate safety', approach: 'careful' } }
    expect(getNarrative([question, goal, lookup])).toBe('Evaluate safety')
  })
})

describe('the rationale', () => {
  verifies('I05', 'test_record_tool_call_with_rationale', () => {
    const both = (id: string, rationale: string) =>
      call('agent', 'lookup', { n: 1 }, { ...inRun, id, rationale, parallelGroup: 3 })
    const log = [
      question,
      opening,
      both('c1', 'for this'),
      both('c2', 'for that'),
      result('c2', 'ok'),
      failure('c1', 'no'),
    ]
    const common = { toolName: 'lookup', parameters: { n: 1 }, parallelGroup: 0 }
    expect(foldTurns(log).records[0]).toMatchObject({
      trigger: { text: 'why?' },
      answer: null,
      state: 'running',
      startedAt: '2026-02-21T10:00:01.000Z',
      completedAt: null,
      narrative: { text: 'Analysing' },
      decisions: [
        { ...common, id: 'c1', rationale: 'for this', outcome: 'error', size: null },
        { ...common, id: 'c2', rationale: 'for that', outcome: 'success', size: { count: 2, unit: 'chars' } },
      ],
    })
    expect(foldDecisions(log)).toEqual([
      {
        tool_name: 'lookup',
        rationale: 'for this',
        parameters: { n: 1 },
        outcome: 'error',
        parallel_group: 0,
        size: null,
      },
      {
        tool_name: 'lookup',
        rationale: 'for that',
        parameters: { n: 1 },
        outcome: 'success',
        parallel_group: 0,
        size: { count: 2, unit: 'chars' },
      },
    ])
  })

  test.for([undefined, '', ' \n'])('is never blank: %j', (rationale) => {
    const blank = call('agent', 'lookup', {}, { ...inRun, ...(rationale !== undefined && { rationale }) })
    expect(foldDecisions([question, opening, blank])).toMatchObject([
      { rationale: 'Tool selected to satisfy the current subtask.', rationale_given: false },
    ])
  })

  test('that was not given is written in nobody’s name for people', () => {
    const { reasoning } = foldTurn([question, opening, call('agent', 'lookup', {}, { ...inRun, id: 'c1' })])
    if (reasoning === null) throw new Error('there is no reasoning')
    for (const lines of [reasoningBlock(reasoning), reasoningDetail(reasoning, false)]) {
      expect(lines.join('\n')).toContain('no reason given')
      expect(lines.join('\n')).not.toContain('Tool selected')
    }
    expect(foldDecisions([question, opening, lookup])[0]).not.toHaveProperty('rationale_given')
  })
})
