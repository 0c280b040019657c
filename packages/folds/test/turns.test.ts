import { Assigner, reasoningBlock, reasoningCommand, turnInfo } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, cancel, chat, conclusion, type Fields, result, start, thought, toLog } from './support/log.js'
import { answer, inRun, opening, question, search } from './support/search-story.js'
import { foldTurn, foldTurns, session } from './support/turns.js'

describe('a turn', () => {
  const whole: Fields[] = [
    question,
    opening,
    thought('agent', "I'll search memory for context before responding.", inRun),
    search,
    result('c1', 'three of them'),
    conclusion('agent', 'Found', inRun),
    answer,
  ]

  verifies(['I26', 'I27'], 'test_turn_info_reasoning_serialization', () => {
    const record = foldTurns(whole).records.find(({ agent }) => agent === 'agent')
    expect(JSON.stringify(record && turnInfo(record), null, 1)).toBe(
      JSON.stringify(
        {
          turn_number: 1,
          user_input: 'search for recent project updates',
          response: 'The latest updates include...',
          state: 'completed',
          started_at: '2026-02-21T10:00:01.000Z',
          completed_at: '2026-02-21T10:00:06.000Z',
          tool_calls: [{ name: 'memory_search', has_result: true, has_error: false }],
          reasoning: {
            session_id: 'epoch-1',
            thread_id: 'main/agent',
            turn_number: 1,
            narrative: "I'll search memory for context before responding.",
            tool_decisions: [
              {
                tool_name: 'memory_search',
                rationale: "searched memory for 'recent project updates'",
                parameters: { query: 'recent project updates', limit: 5 },
                outcome: 'success',
                parallel_group: null,
              },
            ],
          },
        },
        null,
        1,
      ),
    )
  })

  test('is answered by the first answer, whatever its agent adds', () => {
    const [more, other] = ['One more thing.', 'The end.'].map((text, at) => ({
      ...answer,
      id: `more${at}`,
      payload: { message: text },
    }))
    const { records } = foldTurns([...whole, ...(more ? [more] : []), ...(other ? [other] : [])])
    const turns = records.filter(({ agent }) => agent === 'agent')
    expect(turns).toHaveLength(1)
    expect(turns[0]).toMatchObject({ state: 'completed', answer: { text: 'The latest updates include...' } })
  })

  test('without tools has no reasoning', () => {
    expect(foldTurn([question, opening, thought('agent', 'Easy', inRun), answer])).toMatchObject({
      state: 'completed',
      tool_calls: [],
      reasoning: null,
    })
  })

  test('needs no reasoning at all', () => {
    expect(foldTurn([question, answer])).toMatchObject({
      user_input: 'search for recent project updates',
      response: 'The latest updates include...',
      state: 'completed',
      reasoning: null,
    })
  })

  test('begins with the first envelope about its trigger, and runs until it is answered', () => {
    const [first, second] = [question, thought('agent', 'Hm', { correlationId: 'q' })]
    expect(foldTurn([first, second])).toMatchObject({
      state: 'running',
      response: null,
      started_at: '2026-02-21T10:00:01.000Z',
      completed_at: null,
    })
    expect(foldTurns([first]).turns).toEqual([])
    expect(foldTurns([first, { kind: 'chat.acknowledge', from: 'agent', correlationId: 'q' }]).turns).toEqual(
      [],
    )
  })

  test('is numbered in the thread of its agent', () => {
    const log = [
      question,
      answer,
      chat('user', 'and yours?', { id: 'q2', to: ['agent', 'other'] }),
      chat('other', 'Mine.', { correlationId: 'q2' }),
      chat('agent', 'Mine too.', { correlationId: 'q2' }),
    ]
    expect(foldTurns(log).turns.map((turn) => [turn.turn_number, turn.response])).toEqual([
      [1, 'The latest updates include...'],
      [2, 'Mine too.'],
    ])
    expect(foldTurns(log, 'other').turns.map(({ turn_number }) => turn_number)).toEqual([1])
  })

  verifies('I29', 'is numbered from 1 wherever it is shown; groups from 0', () => {
    const both = ['c1', 'c2'].map((id) => call('agent', id, {}, { ...inRun, id, parallelGroup: 7 }))
    const { turns, events } = foldTurns([question, opening, ...both, result('c1', 'ok'), result('c2', 'ok')])
    expect(turns).toMatchObject([{ turn_number: 1, reasoning: { turn_number: 1 } }])
    expect(events).toMatchObject([
      { turn_number: 1, tool_decisions: [{ parallel_group: 0 }, { parallel_group: 0 }] },
    ])
    const block = reasoningBlock(turns[0]?.reasoning ?? null)
    expect(block[1]).toBe('  ┄ Reasoning (turn 1)')
    expect(block).toContain('  ┄ [parallel batch 0]')
    const thread = { turns, isActive: true }
    expect(reasoningCommand('1', thread)[0]).toBe('  ┄ Reasoning — turn 1')
    expect(reasoningCommand('0', thread)).toEqual(['  ✗ No reasoning data for turn 0 in this thread.'])
  })

  test('has all runs about its trigger, and one answer: the first', () => {
    const log = [
      question,
      opening,
      search,
      result('c1', 'ok'),
      conclusion('agent', 'Done', inRun),
      start('agent', 'Once more', { id: 'r2', correlationId: 'q' }),
      call('agent', 'shell', {}, { context: 'r2', id: 'c2' }),
      result('c2', 'ok'),
      answer,
      chat('agent', 'One more thing', { correlationId: 'q' }),
    ]
    const turn = foldTurn(log)
    expect(turn.tool_calls.map(({ name }) => name)).toEqual(['memory_search', 'shell'])
    expect(turn.response).toBe('The latest updates include...')
  })

  test('may be answered by what answers its run', () => {
    const log = [question, opening, chat('agent', 'So be it', { correlationId: 'r' })]
    expect(foldTurn(log)).toMatchObject({ state: 'completed', response: 'So be it' })
  })

  test('is not answered by what is said within a context, or by somebody else', () => {
    const log = [
      question,
      opening,
      chat('agent', 'a note', { ...inRun, correlationId: 'q' }),
      chat('other', 'my answer', { correlationId: 'q' }),
    ]
    expect(foldTurn(log)).toMatchObject({ state: 'running', response: null })
  })

  test('does not begin with a request to stop', () => {
    const asked = chat('agent', 'Shall I go on?', { id: 'a' })
    const stop = { ...cancel('user', 'r', 'no'), correlationId: 'a' }
    expect(foldTurns([question, opening, asked, stop], 'user').turns).toEqual([])
  })

  test('does not begin with its own words', () => {
    expect(
      foldTurns([chat('agent', 'one', { id: 'a' }), chat('agent', 'two', { correlationId: 'a' })]).turns,
    ).toEqual([])
  })

  test('takes a retry of an envelope for the same', () => {
    const assigner = new Assigner(session.epoch)
    const log = toLog(whole)
    expect(log.flatMap((envelope) => assigner.assign(envelope).marks)).toHaveLength(7)
    expect(log.map((envelope) => assigner.assign(envelope))).toEqual(
      log.map(() => ({ begun: [], marks: [], at: '' })),
    )
  })
})
