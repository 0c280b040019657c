import { reasoningBlock, reasoningDetail, turnInfo } from '@meup/folds'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat, result, start, thought } from './support/log.js'
import { foldTurns } from './support/turns.js'

verifies('I06', 'it is called reasoning wherever people look; narrative and rationale are inside', () => {
  const { turns, records, events } = foldTurns([
    chat('user', 'what is new?', { id: 'q' }),
    start('agent', 'Looking', { id: 'r', correlationId: 'q' }),
    thought('agent', 'I look first', { context: 'r' }),
    call('agent', 'search', {}, { context: 'r', id: 'c', rationale: 'to find it' }),
    result('c', 'nothing'),
    chat('agent', 'Nothing', { correlationId: 'q' }),
  ])
  const record = records.find(({ agent }) => agent === 'agent')
  expect(record && turnInfo(record)?.reasoning).toMatchObject({
    narrative: 'I look first',
    tool_decisions: [{ rationale: 'to find it' }],
  })

  expect(events).toMatchObject([
    {
      type: 'reasoning_update',
      narrative: 'I look first',
      tool_decisions: [{ rationale: 'to find it' }],
    },
  ])

  const detail = turns[0]?.reasoning
  if (detail == null) throw new Error('there is no reasoning')
  expect(reasoningBlock(detail)[1]).toBe('  ┄ Reasoning (turn 1)')
  const [title, narrative, , , rationale] = reasoningDetail(detail, false)
  expect([title, narrative, rationale]).toEqual([
    '  ┄ Reasoning — turn 1',
    '  Narrative: "I look first"',
    '    rationale: "to find it"',
  ])
})
