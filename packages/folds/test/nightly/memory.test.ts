import {
  Assigner,
  type Beginning,
  createContextFold,
  type Fold,
  FoldedTurn,
  type Guard,
  Participants,
  ProposalViews,
  Role,
} from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { call, chat, type Fields, propose, result, start, thought, toLog } from '../support/log.js'
import { getRoles, session } from '../support/turns.js'

const open: Guard = (text) => ({ text, isWithheld: false })
const big = 'x'.repeat(200_000)

/** Measures the snapshot of a fold after `rounds` rounds, and after twice as many. */
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
  test('however many tools a run calls', () => {
    const calls = Array.from({ length: 1200 }, (_, index) => [
      call('agent', 'shell', { index }, { context: 'r', id: `c${index}` }),
      result(`c${index}`, 'ok'),
    ]).flat()
    const assigner = new Assigner(session.epoch)
    const runs: FoldedTurn[] = []
    for (const envelope of toLog([start('agent', 'For ever', { id: 'r' }), ...calls])) {
      const { begun, marks } = assigner.assign(envelope)
      runs.push(...begun.map((beginning) => new FoldedTurn(beginning, session)))
      for (const [turn, roles] of getRoles(marks)) runs[turn - 1]?.apply(envelope, roles)
    }
    expect(runs[0]?.record.decisions.map(({ id }) => id)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `c${index + 200}`),
    )
  })

  test('however many calls its runs have: an answer to one before the latest 20,000 is not known as one', () => {
    const log = [
      start('agent', 'For ever', { id: 'r' }),
      call('agent', 'first', {}, { context: 'r', id: 'first' }),
      call('agent', 'second', {}, { context: 'r', id: 'second' }),
      ...Array.from({ length: 19_999 }, (_, index) =>
        call('helper', 'shell', {}, { context: 'r', id: `c${index}` }),
      ),
    ]
    const [begin, ...calls] = toLog([...log, result('second', 'ok'), result('first', 'ok')])
    const beginning = new Assigner(session.epoch).assign(begin as Envelope).begun[0]
    const turn = new FoldedTurn(beginning as Beginning, session)
    for (const envelope of [begin as Envelope, ...calls]) {
      const isOwn = envelope.from === 'agent'
      const isCall = envelope.kind === 'mcp.request'
      turn.apply(envelope, isCall ? (isOwn ? Role.call | Role.dispatch : Role.call) : Role.settle)
    }
    expect(turn.record.decisions.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['first', null],
      ['second', 'success'],
    ])
  })

  const leaveOpen = (index: number) => [
    start('agent', big, { id: `r${index}` }),
    thought('agent', 'Hm', { context: `r${index}` }),
  ]

  test('however many runs are left open', () => {
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
      new ProposalViews(open),
      5000,
      (index) => [propose('agent', 'deploy', { text: 'x'.repeat(8000) }, { id: `p${index}` })],
      ({ calls }) => calls.length,
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
      new Participants(),
      30_000,
      (index) => [join(index)],
      ({ known }) => known.length,
    )
    expect([once, twice]).toEqual([30_000, 50_000])
  })
})

describe('the memory of what is assigned to turns is bounded', () => {
  const round = (index: number): Fields[] => {
    const [agent, asked, run] = [`agent-${index % 12_000}`, `q${index}`, `r${index}`]
    const expiresAt = '2030-01-01T00:00:00.000Z'
    return [
      chat('user', 'why?', { id: asked }),
      start(agent, 'Looking', { id: run, correlationId: asked }),
      start(agent, 'Deeper', { id: `n${index}`, context: run }),
      propose(agent, 'deploy', {}, { id: `p${index}`, context: run, payload: { expiresAt } }),
      call(agent, 'shell', {}, { id: `c${index}`, context: run, payload: { id: index } }),
    ]
  }
  const assigner = new Assigner(session.epoch)
  const play = (from: number, to: number): void => {
    for (let index = from; index < to; index++)
      for (const envelope of toLog(round(index), assigner.seq + 1)) assigner.assign(envelope)
  }

  test('however long the log is, and what was forgotten stays so after a snapshot', () => {
    play(0, 20_600)
    const counts = () => {
      const { lifecycle, turns, asked, ...snapshot } = assigner.snapshot()
      const kept = Object.entries({ ...snapshot, ...asked }).filter(([, value]) => Array.isArray(value))
      expect(turns.length).toBeLessThan(60_000)
      return Object.fromEntries(kept.map(([name, value]) => [name, (value as unknown[]).length]))
    }
    const bounds = {
      contexts: 40_000,
      causes: 40_000,
      triggers: 20_000,
      triggered: 20_000,
      numbers: 10_000,
      calls: 20_000,
    }
    expect(counts()).toEqual(bounds)
    play(20_600, 20_900)
    expect(counts()).toEqual(bounds)

    const again = new Assigner(session.epoch)
    again.restore(JSON.parse(JSON.stringify(assigner.snapshot())))
    const cancel = (index: number): Fields => ({
      kind: 'mcp.request',
      from: `agent-${index % 12_000}`,
      payload: { method: 'notifications/cancelled', params: { requestId: index } },
    })
    const last = [cancel(9000), cancel(20_500), result('c9000', 'ok'), ...round(20_900)]
    for (const envelope of toLog(last, assigner.seq + 1)) {
      const assigned = assigner.assign(envelope)
      expect(again.assign(envelope)).toEqual(assigned)
      if (envelope.from === 'agent-8500') expect(assigned.marks).toHaveLength(1)
      if (envelope.from === 'agent-9000') expect(assigned.marks).toEqual([])
    }
  })
})
