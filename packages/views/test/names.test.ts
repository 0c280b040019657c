import {
  createTurnFold,
  reasoningBlock,
  reasoningDetail,
  reasoningEvent,
  turnDetail,
  turnInfo,
} from '@meup/views'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat, feed, result, start, thought } from './support/log.js'
import { session } from './support/turns.js'

verifies('I06', 'it is called reasoning wherever people look; narrative and rationale are inside', () => {
  const fold = createTurnFold(session)
  const changes = feed(fold, [
    chat('user', 'what is new?', { id: 'q' }),
    start('agent', 'Looking', { id: 'r', correlationId: 'q' }),
    thought('agent', 'I look first', { context: 'r' }),
    call('agent', 'search', {}, { context: 'r', id: 'c', rationale: 'to find it' }),
    result('c', 'nothing'),
    chat('agent', 'Nothing', { correlationId: 'q' }),
  ])
  const turn = changes.at(-1)?.turns[0]
  const [end] = changes.flatMap(({ updates }) => updates)
  if (turn === undefined || end === undefined) throw new Error('there is no turn')

  const reasoning = turnInfo(turn)?.reasoning
  expect(reasoning).toMatchObject({
    narrative: 'I look first',
    tool_decisions: [{ rationale: 'to find it' }],
  })

  const event = reasoningEvent(end)
  expect(event).toMatchObject({
    type: 'reasoning_update',
    narrative: 'I look first',
    tool_decisions: [{ rationale: 'to find it' }],
  })

  const detail = turnDetail(turn)?.reasoning
  if (detail == null) throw new Error('there is no reasoning')
  expect(reasoningBlock(detail)[1]).toBe('  ┄ Reasoning (turn 1)')
  const [title, narrative, , , rationale] = reasoningDetail(detail, false)
  expect([title, narrative, rationale]).toEqual([
    '  ┄ Reasoning — turn 1',
    '  Narrative: "I look first"',
    '    rationale: "to find it"',
  ])
})
