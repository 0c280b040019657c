import assert from 'node:assert/strict'
import type { AuditStep, Projection, StepQuery } from '../ports/projection.js'
import { contentsOf, eventsOf, project, type WithProjection } from './projection-fixtures.js'
import { randomDrafts } from './random-drafts.js'

const limit = 10_000
const idsOf = (steps: readonly AuditStep[]): string[] => steps.map(({ step }) => step.id)

export function describeQueries(withProjection: WithProjection): void {
  const filled = (title: string, body: (projection: Projection) => Promise<void>) =>
    withProjection(title, async (projection, log) => {
      await project(projection, log, randomDrafts(11, 600))
      await body(projection)
    })

  filled('for turns of a thread: the newest first, from a number down, so many', async (projection) => {
    const { turns } = await contentsOf(projection)
    const thread = turns
      .filter(({ threadId, turnNumber }) => threadId === 'main/ben' && turnNumber !== null)
      .reverse()
    assert.ok(thread.length > 5)
    assert.deepEqual(await projection.turns({ thread: 'main/ben', limit }), thread)
    assert.deepEqual(await projection.turns({ thread: 'main/ben', limit: 2 }), thread.slice(0, 2))
    const before = thread[2]?.turnNumber ?? 0
    assert.deepEqual(await projection.turns({ thread: 'main/ben', before, limit: 2 }), thread.slice(3, 5))
    assert.deepEqual(await projection.turns({ thread: 'main/ben', before: 1, limit }), [])
    for (const unknown of ['main/nobody', 'other/ben', 'ben', '']) {
      assert.deepEqual(await projection.turns({ thread: unknown, limit }), [])
    }
  })

  filled('for turns and jobs as they began', async (projection) => {
    const { turns } = await contentsOf(projection)
    const third = turns[2]?.id ?? ''
    assert.deepEqual(await projection.trail({ after: third, limit: 4 }), turns.slice(3, 7))
    const ofBen = turns.filter(({ threadId }) => threadId === 'main/ben')
    assert.ok(ofBen.some(({ turnNumber }) => turnNumber === null))
    assert.deepEqual(await projection.trail({ thread: 'main/ben', limit }), ofBen)
    const second = ofBen.filter(({ turnNumber }) => turnNumber === 2)
    assert.equal(second.length, 1)
    assert.deepEqual(await projection.trail({ thread: 'main/ben', turn: 2, limit }), second)
  })

  filled('for the steps of a turn, from a number on', async (projection) => {
    const { turns, steps } = await contentsOf(projection)
    const busy = turns.reduce((most, turn) => (turn.steps > most.steps ? turn : most))
    const own = steps.filter(({ turn_id }) => turn_id === busy.id)
    assert.ok(own.length > 3)
    assert.deepEqual(await projection.stepsOf(busy.id, { from: 0, limit }), own)
    assert.deepEqual(await projection.stepsOf(busy.id, { from: 2, limit: 1 }), own.slice(2, 3))
    assert.deepEqual(await projection.stepsOf(busy.id, { from: own.length, limit }), [])
    assert.deepEqual(await projection.stepsOf('nothing', { from: 0, limit }), [])
  })

  filled('for steps, narrowed by any of what is known of them', async (projection) => {
    const all = await projection.steps({ limit })
    const [since, until] = ['2026-02-21T00:03:00.000Z', '2026-02-21T00:06:00.000Z']
    const selections: [Omit<StepQuery, 'limit'>, (found: AuditStep) => boolean][] = [
      [{ phases: ['plan', 'error', 'plan'] }, ({ step }) => ['plan', 'error'].includes(step.phase)],
      [{ phases: [] }, () => false],
      [{ agents: ['ana', 'cleo', 'nobody'] }, ({ turn }) => ['ana', 'cleo'].includes(turn.agent)],
      [{ thread: 'main/cleo' }, ({ turn }) => turn.agent === 'cleo'],
      [{ thread: 'main/cleo', agents: ['ana'] }, () => false],
      [{ thread: 'main/cleo', turn: 2 }, ({ turn }) => turn.agent === 'cleo' && turn.turnNumber === 2],
      [{ thread: 'main/cleo', turn: 999 }, () => false],
      [{ since }, ({ step }) => step.created_at >= since],
      [{ until }, ({ step }) => step.created_at < until],
      [{ before: 100 }, ({ step }) => step.source.seq < 100],
      [{ before: 100_000 }, () => true],
      [{ before: 200, until }, ({ step }) => step.source.seq < 200],
      [
        { since, until, before: 300, agents: ['ben'], phases: ['thinking', 'execute'] },
        ({ step, turn }) =>
          step.created_at >= since &&
          step.source.seq < 300 &&
          turn.agent === 'ben' &&
          ['thinking', 'execute'].includes(step.phase),
      ],
    ]
    for (const [query, isAsked] of selections) {
      const expected = idsOf(all.filter(isAsked))
      assert.deepEqual(idsOf(await projection.steps({ ...query, limit })), expected, JSON.stringify(query))
      assert.deepEqual(idsOf(await projection.steps({ ...query, limit: 7 })), expected.slice(0, 7))
    }
    assert.deepEqual(await projection.steps({ limit: 0 }), [])
  })

  filled('for the batches that ended in a part of the log', async (projection) => {
    const ends = await projection.ends({ after: 0, through: limit, limit })
    assert.ok(ends.length > 20)
    const part = ends.filter(({ seq }) => seq > 100 && seq <= 400)
    assert.deepEqual(eventsOf(await projection.ends({ after: 100, through: 400, limit })), eventsOf(part))
    assert.deepEqual(await projection.ends({ after: 100, through: 400, limit: 3 }), part.slice(0, 3))
    assert.deepEqual(await projection.ends({ after: 600, through: 900, limit }), [])
  })
}
