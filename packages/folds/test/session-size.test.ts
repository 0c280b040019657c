import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat, result } from './support/log.js'
import { foldTurns } from './support/turns.js'

verifies('I01', 'a whole session stays readable, and takes little', () => {
  const rationale = 'r'.repeat(500)
  const log = Array.from({ length: 200 }, (_, turn) => [
    chat('user', 'why?', { id: `q${turn}` }),
    ...Array.from({ length: 5 }, (_, at) => {
      const id = `c${turn}-${at}`
      return [call('agent', 'look', {}, { id, correlationId: `q${turn}`, rationale }), result(id, 'ok')]
    }).flat(),
    chat('agent', 'so', { correlationId: `q${turn}` }),
  ]).flat()
  const { turns } = foldTurns(log)
  const rationales = turns.flatMap(
    ({ reasoning }) => reasoning?.tool_decisions.map((each) => each.rationale) ?? [],
  )
  expect(rationales).toEqual(Array.from({ length: 1000 }, () => rationale))
  expect(rationales.join('').length).toBe(500_000)
  expect(JSON.stringify(turns).length).toBeLessThan(1_000_000)
})
