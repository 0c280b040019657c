import {
  type BatchEnd,
  createTurnFold,
  createTurnHistory,
  type DetailedDecision,
  type JobReasoning,
  type ReasoningStep,
  type ReasoningUpdate,
  reasoningEvent,
  type TurnInfo,
  type TurnRecord,
  turnDetail,
} from '@meup/views'
import { type Fields, toLog } from './log.js'

export interface Told {
  readonly turns: readonly TurnInfo<DetailedDecision>[]
  readonly jobs: readonly TurnRecord[]
  readonly records: readonly TurnRecord[]
  readonly steps: readonly ReasoningStep[]
  /** As they were told when the batches ended. */
  readonly events: readonly (ReasoningUpdate | JobReasoning)[]
  /** With their turns as they are in the end. */
  readonly ends: readonly BatchEnd[]
}

export const session = { space: 'main', epoch: 'epoch-1' }

/** What the turn fold makes of a log: the turns of one agent, and everybody's jobs, steps and events. */
export function tell(log: readonly Fields[], agent = 'agent'): Told {
  const fold = createTurnFold(session)
  const history = createTurnHistory()
  const records = new Map<string, TurnRecord>()
  const steps: ReasoningStep[] = []
  const events: (ReasoningUpdate | JobReasoning)[] = []
  const ends: BatchEnd[] = []
  for (const envelope of toLog(log)) {
    const change = fold.apply(envelope)
    const turns = structuredClone(change.turns) // So that a change which is not told of is not seen.
    history.apply({ ...change, turns })
    for (const turn of turns) records.set(turn.id, turn)
    steps.push(...change.steps)
    events.push(...change.updates.flatMap((end) => reasoningEvent(end) ?? []))
    ends.push(...change.updates)
  }
  return {
    turns: history.thread(`main/${agent}`).flatMap((turn) => turnDetail(turn) ?? []),
    jobs: [...records.values()].filter(({ jobId }) => jobId !== null),
    records: [...records.values()],
    steps,
    events,
    ends,
  }
}

/** The only turn of the agent. */
export function turnOf(log: readonly Fields[], agent = 'agent'): TurnInfo<DetailedDecision> {
  const [turn, ...others] = tell(log, agent).turns
  if (turn === undefined || others.length > 0)
    throw new Error(`${agent} has ${others.length + 1} turns, not 1`)
  return turn
}

/** The decisions of the only turn. */
export const decisionsOf = (log: readonly Fields[]): readonly DetailedDecision[] =>
  turnOf(log).reasoning?.tool_decisions ?? []
