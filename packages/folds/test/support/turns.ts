import {
  Assigner,
  type Beginning,
  calledTool,
  createUlids,
  type DetailedDecision,
  defaultGuard,
  FoldedTurn,
  type Guard,
  getSource,
  getSteps,
  type JobReasoning,
  type Mark,
  type MayRead,
  mayReadAll,
  type ReasoningStep,
  type ReasoningUpdate,
  reasoningEvent,
  type TurnInfo,
  type TurnRecord,
  turnDetail,
} from '@meup/folds'
import { correlations, type Envelope } from '@meup/protocol'
import { type Fields, toLog } from './log.js'

export interface FoldedTurns {
  readonly turns: readonly TurnInfo<DetailedDecision>[]
  readonly jobs: readonly TurnRecord[]
  readonly records: readonly TurnRecord[]
  readonly steps: readonly ReasoningStep[]
  /** The events, each made at the end of a batch of parallel calls. */
  readonly events: readonly (ReasoningUpdate | JobReasoning)[]
  /** The seqs of the envelopes that ended a batch of parallel calls, with the ids of the turns. */
  readonly ends: readonly (readonly [seq: number, turn: string])[]
}

export const session = { space: 'main', epoch: 'epoch-1' }

interface FoldOptions {
  readonly guard?: Guard
  /** Decides which envelopes the reader may read; default: all. */
  readonly mayRead?: MayRead
}

/** Folds the turns of one agent, and all jobs, steps and events, for one reader. */
export function foldTurns(
  log: readonly Fields[],
  agent = 'agent',
  { guard = defaultGuard, mayRead = mayReadAll }: FoldOptions = {},
): FoldedTurns {
  const isReadable = (envelope: Envelope): boolean => mayRead(getSource(envelope))
  const envelopes = toLog(log)
  const byId = new Map(envelopes.map((envelope) => [envelope.id, envelope]))
  const assigner = new Assigner(session.epoch)
  const turns = new Map<number, { readonly beginning: Beginning; readonly folded: FoldedTurn }>()
  const steps: ReasoningStep[] = []
  const events: (ReasoningUpdate | JobReasoning)[] = []
  const ends: [number, string][] = []
  for (const envelope of envelopes) {
    const { begun, marks, at } = assigner.assign(envelope)
    for (const beginning of begun) {
      const trigger = envelopes[(beginning.trigger ?? 0) - 1]
      const asked = trigger && isReadable(trigger) ? trigger : undefined
      turns.set(beginning.turn, {
        beginning,
        folded: new FoldedTurn(beginning, { ...session, guard }, asked),
      })
    }
    if (!isReadable(envelope)) continue
    for (const [turn, roles] of getRoles(marks)) {
      const { folded, beginning } = turns.get(turn) as { beginning: Beginning; folded: FoldedTurn }
      if (!folded.apply(envelope, roles)) continue
      events.push(...[structuredClone(reasoningEvent(folded.record)) ?? []].flat())
      ends.push([envelope.seq ?? 0, beginning.id])
    }
    const getId = (turn: number): string => turns.get(turn)?.beginning.id ?? ''
    steps.push(...stepsIn(envelope, marks, at, byId, getId, { guard, mayRead }))
  }
  const records = [...turns.values()].map(({ folded }) => folded.record)
  return {
    turns: records
      .filter((record) => record.agent === agent)
      .flatMap((turn) => turnDetail(turn, guard) ?? []),
    jobs: records.filter(({ jobId }) => jobId !== null),
    records,
    steps,
    events,
    ends,
  }
}

/** Merges the roles of all marks of an envelope, by the number of the turn that they mark. */
export function getRoles(marks: readonly Mark[]): Map<number, number> {
  const roles = new Map<number, number>()
  for (const mark of marks) roles.set(mark.beginning.turn, (roles.get(mark.beginning.turn) ?? 0) | mark.roles)
  return roles
}

function stepsIn(
  envelope: Envelope,
  marks: readonly Mark[],
  created_at: string,
  byId: ReadonlyMap<string, Envelope>,
  getId: (turn: number) => string,
  { guard, mayRead }: Required<FoldOptions>,
): ReasoningStep[] {
  const places = marks
    .flatMap(({ beginning: { turn }, step, steps, index }) =>
      Array.from({ length: steps }, (_, more) => ({ turn, number: step + more, index: index + more })),
    )
    .sort((one, other) => one.index - other.index)
  const answered = correlations(envelope).flatMap((id) => {
    const asked = byId.get(id)
    const tool = asked && calledTool(asked, guard)
    if (tool === undefined || (asked?.seq ?? 0) >= (envelope.seq ?? 0)) return []
    return [[id, asked && mayRead(getSource(asked)) ? tool : undefined] as const]
  })
  const drafts = getSteps(envelope, answered, guard)
  if (drafts.length !== places.length) throw new Error(`${drafts.length} steps, ${places.length} places`)
  if (drafts.length === 0) return []
  const ulid = createUlids(session.epoch)
  const links = { linked_tool_call: null, linked_policy_decision: null, linked_approval_request: null }
  return drafts.map((draft, index) => {
    const { turn = 0, number: step_number = 0, index: place = 0 } = places[index] ?? {}
    const source = getSource(envelope)
    return {
      id: ulid(Date.parse(created_at), envelope.seq ?? 0, place),
      turn_id: getId(turn),
      step_number,
      ...links,
      ...draft,
      created_at,
      source,
    }
  })
}

/** Folds a log in which the agent has a single turn. */
export function foldTurn(log: readonly Fields[], agent = 'agent'): TurnInfo<DetailedDecision> {
  const [turn, ...others] = foldTurns(log, agent).turns
  if (turn === undefined || others.length > 0)
    throw new Error(`${agent} has ${others.length + 1} turns, not 1`)
  return turn
}

/** Lists the tool calls of a log with a single turn. */
export const foldDecisions = (log: readonly Fields[]): readonly DetailedDecision[] =>
  foldTurn(log).reasoning?.tool_decisions ?? []
