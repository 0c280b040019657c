import { readFileSync } from 'node:fs'
import type { Envelope } from '@meup/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Assigner, type Mark } from '../src/turns/assign.js'
import { FoldedTurn } from '../src/turns/fold-turn.js'
import { createTurnFold } from '../src/turns/turn-fold.js'
import { stepsOf } from '../src/steps/steps-of.js'
import { defaultGuard } from '../src/mcp/guard.js'
import { guardedToolName } from '../src/mcp/call.js'
import { Ulids } from '../src/steps/ulid.js'
import { correlations } from '@meup/protocol'
import { toLog } from './support/log.js'
import { randomLog } from './support/random-log.js'
import { session } from './support/turns.js'

function old(log: readonly Envelope[]) {
  const fold = createTurnFold(session)
  const records = new Map<string, unknown>()
  const steps: unknown[] = []
  const ends: unknown[] = []
  for (const envelope of log) {
    const change = fold.apply(envelope)
    for (const turn of change.turns) records.set(turn.id, turn)
    for (const { source, ...step } of change.steps) steps.push({ ...step, seq: source.seq })
    for (const end of change.updates) ends.push({ seq: end.seq, id: end.turn.id, narrative: end.narrative })
  }
  return JSON.parse(JSON.stringify({ records: [...records.values()], steps, ends }))
}

function fresh(log: readonly Envelope[]) {
  const assigner = new Assigner(session.epoch)
  const turns = new Map<number, FoldedTurn>()
  const counts = new Map<number, number>()
  const byId = new Map(log.map((e) => [e.id, e]))
  const steps: unknown[] = []
  const ends: unknown[] = []
  const ids = new Map<number, string>()
  for (const envelope of log) {
    const { begun, marks, at } = assigner.take(envelope)
    for (const b of begun) {
      const trigger = b.trigger === null ? undefined : log[b.trigger - 1]
      turns.set(b.turn, new FoldedTurn(b, session, trigger))
      ids.set(b.turn, b.id)
    }
    const roles = new Map<number, number>()
    for (const m of marks) roles.set(m.turn, (roles.get(m.turn) ?? 0) | m.roles)
    for (const [turn, role] of roles) {
      const end = turns.get(turn)!.apply(envelope, role)
      if (end) ends.push({ seq: end.seq, id: end.turn.id, narrative: end.narrative })
    }
    const places: { m: Mark; index: number; number: number }[] = []
    for (const m of marks) for (let i = 0; i < m.steps; i++) {
      places.push({ m, index: m.index + i, number: m.step + i })
      counts.set(m.turn, m.step + i + 1)
    }
    places.sort((a, b) => a.index - b.index)
    const answered = correlations(envelope).flatMap((id) => { const e = byId.get(id); return e && (e.kind === 'mcp.request' || e.kind === 'mcp.proposal') && (e.kind === 'mcp.proposal' || !String(e.payload.method).startsWith('notifications/')) && e.seq! < envelope.seq! ? [[id, guardedToolName(e.payload, defaultGuard)] as const] : [] })
    const drafts = places.length ? stepsOf(envelope, answered, defaultGuard) : []
    const ulids = new Ulids(session.epoch)
    if (at) ulids.begin(Date.parse(at), envelope.seq!)
    expect(drafts.length).toBe(places.length)
    for (const [i, { m, index, number }] of places.entries())
      steps.push({ id: ulids.at(index), turn_id: ids.get(m.turn), step_number: number, linked_tool_call: null, linked_policy_decision: null, linked_approval_request: null, ...drafts[i], created_at: at, seq: envelope.seq })
  }
  const records = [...turns.entries()].map(([t, { record }]) => ({ ...record, steps: counts.get(t) ?? 0 }))
  return JSON.parse(JSON.stringify({ records, steps, ends }))
}

const sorted = (x: any) => ({ ...x, records: [...x.records].sort((a: any, b: any) => (a.id < b.id ? -1 : 1)) })

test('agrees', () => {
  fc.assert(
    fc.property(randomLog(Number(process.env.LEN ?? 60)), (fields) => {
      const log = toLog(fields)
      expect(sorted(fresh(log))).toEqual(sorted(old(log)))
    }),
    { numRuns: Number(process.env.RUNS ?? 500) },
  )
}, 600_000)
