import {
  createContextFold,
  createPresenceFold,
  createProposalFold,
  createTurnFold,
  type Fold,
  type Guard,
} from '@meup/views'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, chat, type Fields, propose, result, start, thought, toLog } from './support/log.js'
import { session, tell } from './support/turns.js'

const open: Guard = (text) => ({ text, isWithheld: false })
const big = 'x'.repeat(200_000)

/** How much of something there is after `rounds`, and after twice as many. */
function growth<Snapshot>(
  fold: Fold<unknown, Snapshot>,
  rounds: number,
  round: (index: number) => Fields[],
  measure: (snapshot: Snapshot) => number,
): [number, number] {
  const play = (from: number): number => {
    for (let index = from; index < from + rounds; index++) {
      for (const envelope of toLog(round(index), fold.seq + 1)) fold.apply(envelope)
    }
    return measure(fold.snapshot())
  }
  return [play(0), play(rounds)]
}

describe('the memory of a fold is bounded', () => {
  test('whatever is asked and answered', () => {
    const [once, twice] = growth(
      createTurnFold(session),
      400,
      (index) => [chat('user', big, { id: `q${index}` }), chat('agent', big, { correlationId: `q${index}` })],
      ({ ledger: { turns, places } }) => turns.length + places.triggers.length,
    )
    expect(once).toBeLessThan(300)
    expect(twice).toBe(once)
  })

  test('however many tools a run calls', () => {
    const [once, twice] = growth(
      createTurnFold({ ...session, guard: open }),
      1200,
      (index) => [
        ...(index === 0 ? [start('agent', 'For ever', { id: 'r' })] : []),
        call('agent', 'shell', { index }, { context: 'r', id: `c${index}` }),
        result(`c${index}`, 'ok'),
      ],
      ({ ledger }) => ledger.turns.find(([, { jobId }]) => jobId === 'r')?.[1].decisions.length ?? 0,
    )
    expect([once, twice]).toEqual([1000, 1000])
  })

  const leaveOpen = (index: number) => [
    start('agent', big, { id: `r${index}` }),
    thought('agent', 'Hm', { context: `r${index}` }),
  ]

  test('however many runs are left open', () => {
    const [turns, moreTurns] = growth(
      createTurnFold(session),
      400,
      leaveOpen,
      ({ ledger }) => ledger.turns.length,
    )
    expect(turns).toBeLessThan(400)
    expect(moreTurns).toBe(turns)
    const [contexts, moreContexts] = growth(
      createContextFold(),
      400,
      leaveOpen,
      (snapshot) => snapshot.contexts.length,
    )
    expect(contexts).toBeLessThan(400)
    expect(moreContexts).toBe(contexts)
  })

  test('however much is proposed', () => {
    const [once, twice] = growth(
      createProposalFold(open),
      5000,
      (index) => [propose('agent', 'deploy', { text: 'x'.repeat(8000) }, { id: `p${index}` })],
      ({ proposals }) => proposals.length,
    )
    expect(once).toBeLessThan(5000)
    expect(twice).toBe(once)
  })

  test('however many come and stay', () => {
    const join = (index: number): Fields => ({
      kind: 'system.presence',
      from: 'system:gateway',
      payload: { event: 'join', participant: { id: `guest-${index}` } },
    })
    const [once, twice] = growth(
      createPresenceFold(),
      12_000,
      (index) => [join(index)],
      ({ participants }) => participants.length,
    )
    expect([once, twice]).toEqual([10_000, 10_000])
  })
})

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
  const { turns } = tell(log)
  const rationales = turns.flatMap(
    ({ reasoning }) => reasoning?.tool_decisions.map((each) => each.rationale) ?? [],
  )
  expect(rationales).toEqual(Array.from({ length: 1000 }, () => rationale))
  expect(rationales.join('').length).toBe(500_000)
  expect(JSON.stringify(turns).length).toBeLessThan(1_000_000)
})
