import assert from 'node:assert/strict'
import { defaultSafety } from '@meup/safety'
import {
  type BatchEnd,
  createTurnFold,
  type ReasoningStep,
  reasoningEvent,
  type TurnRecord,
} from '@meup/views'
import type { Draft, EnvelopeLog } from '../ports/envelope-log.js'
import type { Projection } from '../ports/projection.js'
import { headingOf } from '../projection/changes.js'
import { envelopeOf } from '../space/replay.js'
import { bytes, type StoreUnderTest } from './log-fixtures.js'

/** Declares a test of the projection of the space `main`, empty and of its own. */
export type WithProjection = (
  title: string,
  body: (projection: Projection, log: EnvelopeLog, opened: StoreUnderTest) => Promise<void>,
) => unknown

export const safety = { safety: defaultSafety }

/** All that a projection knows, and all events it can tell. */
export interface Contents {
  readonly turns: readonly TurnRecord[]
  readonly steps: readonly ReasoningStep[]
  readonly events: readonly unknown[]
}

const all = 100_000

export async function contentsOf(projection: Projection): Promise<Contents> {
  const [turns, audit, ends] = await Promise.all([
    projection.trail({ limit: all }),
    projection.steps({ limit: all }),
    projection.ends({ after: 0, through: all, limit: all }),
  ])
  const byId = new Map(turns.map((turn) => [turn.id, turn]))
  for (const { step, turn } of audit) {
    const whole = byId.get(step.turn_id)
    assert.deepEqual(turn, whole && headingOf(whole))
  }
  return { turns, steps: audit.map(({ step }) => step).reverse(), events: eventsOf(ends) }
}

/** With the envelopes that they are told after. */
export const eventsOf = (ends: readonly BatchEnd[]): unknown[] =>
  ends.map((end) => [end.seq, end.turn.id, JSON.stringify(reasoningEvent(end) ?? null)])

/** What a projection of these envelopes must know: the fold of the views tells it. `since`: what is older was pruned. */
export function expectedOf(
  drafts: readonly Draft[],
  { epoch }: Pick<EnvelopeLog, 'epoch'>,
  { since = '', space = 'main' } = {},
): Contents {
  const fold = createTurnFold({ space, epoch })
  const turns = new Map<string, TurnRecord>()
  const steps: ReasoningStep[] = []
  const events: unknown[] = []
  for (const draft of drafts) {
    const change = fold.apply(envelopeOf(draft))
    if (draft.ts < since) continue
    for (const turn of change.turns) turns.set(turn.id, turn)
    steps.push(...change.steps)
    events.push(...eventsOf(change.updates))
  }
  const inOrder = [...turns.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  return JSON.parse(JSON.stringify({ turns: inOrder, steps, events })) as Contents
}

/** Appends, and has the projection take it. Gives what it tells. */
export async function project(
  projection: Projection,
  log: EnvelopeLog,
  drafts: readonly Draft[],
): Promise<readonly BatchEnd[]> {
  await log.append(drafts)
  return projection.advance(log.head)
}

/** Has both forget what is older than the envelope after `through`, in the order that pruning has. Gives the number of steps. */
export async function pruneThrough(
  projection: Projection,
  log: EnvelopeLog,
  drafts: readonly Draft[],
  through: number,
): Promise<number> {
  const before = drafts[through]?.ts ?? ''
  await projection.keep(through)
  const older = await projection.older(before)
  const removed = await projection.prune(before)
  assert.equal(removed, older)
  await log.prune(through, bytes('state'))
  return removed
}
