import type { SafetySettings } from '@meup/safety'
import { type BatchEnd, createTurnFold, type TurnFold, type TurnRecord, type TurnSnapshot } from '@meup/views'
import { closedError } from '../log/error.js'
import { walk } from '../log/walk.js'
import type { EnvelopeLog, Row } from '../ports/envelope-log.js'
import type { Projection } from '../ports/projection.js'
import { later, noChanges, reportedTurn, take } from '../projection/changes.js'
import { inTurn } from '../projection/in-turn.js'
import { PayloadGuard } from '../projection/payload-guard.js'
import { envelopeOf } from '../space/replay.js'
import { MemoryTables } from './memory-tables.js'

/** What a memory store keeps of a projection; it outlives a restart, as a disk does. */
export interface Projected {
  readonly tables: MemoryTables
  readonly guard: PayloadGuard
  fold: TurnFold
  /** Where to begin again when the rows before are pruned: snapshots as JSON, the oldest first. */
  bases: { readonly seq: number; readonly snapshot: string }[]
  /** RFC 3339; what is older was pruned. */
  kept: string
}

export function newProjected(space: string, epoch: string, safety: SafetySettings): Projected {
  const guard = new PayloadGuard(safety)
  return { tables: new MemoryTables(), guard, fold: newFold(space, epoch, guard), bases: [], kept: '' }
}

const newFold = (space: string, epoch: string, { guard }: PayloadGuard): TurnFold =>
  createTurnFold({ space, epoch, guard })

/** Turns and steps, folded in this process. */
export function memoryProjection(log: EnvelopeLog, space: string, projected: Projected): Projection {
  const { tables, guard } = projected
  const inOrder = inTurn()
  const call = <Result>(task: () => Result | Promise<Result>): Promise<Result> =>
    inOrder(async () => {
      refuseIfClosed()
      return task()
    })
  /** What ended in calls that failed before they could tell. */
  const untold: BatchEnd<TurnRecord>[] = []
  let closed = false

  const refuseIfClosed = () => {
    if (closed) throw closedError('projection')
  }
  const pruned = () => log.snapshot?.through ?? 0
  const place = ({ seq }: TurnFold) => Math.max(seq, pruned())

  /** Has the fold take the log up to `through`. */
  const follow = async (fold: TurnFold, through: number, each: (row: Row) => void) => {
    for await (const row of walk(log, place(fold), through)) {
      refuseIfClosed()
      each(row)
    }
    if (place(fold) < through) throw new Error(`row ${place(fold) + 1} of the log is missing`)
  }
  const goOn = (through: number, told: (end: BatchEnd<TurnRecord>) => void) =>
    follow(projected.fold, through, (row) => {
      const changes = noChanges()
      take(projected.fold, row, changes, projected.kept)
      tables.write(changes)
      for (const { value } of changes.ends) told(value)
    })
  /** A fold that stands where the log begins. */
  const fromBase = (): TurnFold => {
    const fold = newFold(space, log.epoch, guard)
    const base = pruned() === 0 ? undefined : projected.bases.find(({ seq }) => seq >= pruned())
    if (base !== undefined) fold.restore(JSON.parse(base.snapshot) as TurnSnapshot)
    return fold
  }

  return {
    get seq() {
      return place(projected.fold)
    },
    advance: (through) =>
      call(async () => {
        await goOn(through, (end) => untold.push(end))
        return untold.splice(0).map((end) => ({ ...end, turn: reportedTurn(end.turn) }))
      }),
    ends: (range) => call(() => tables.ends(range)),
    turns: (query) => call(() => tables.turns(query)),
    steps: (query) => call(() => tables.steps(query)),
    trail: (query) => call(() => tables.trail(query)),
    stepsOf: (turn, range) => call(() => tables.stepsOf(turn, range)),
    older: (before) => call(() => tables.older(before)),
    configure: (safety) => call(() => guard.configure(safety)),
    keep: (through) =>
      call(async () => {
        const fold = fromBase()
        await follow(fold, through, (row) => void fold.apply(envelopeOf(row)))
        const others = projected.bases.filter(({ seq }) => seq >= pruned() && seq < fold.seq)
        projected.bases = [...others, { seq: fold.seq, snapshot: JSON.stringify(fold.snapshot()) }]
      }),
    prune: (before) =>
      call(() => {
        projected.kept = later(before, projected.kept)
        return tables.prune(projected.kept)
      }),
    rebuild: () =>
      call(async () => {
        const through = place(projected.fold)
        tables.clear()
        projected.fold = fromBase()
        await goOn(through, () => {})
      }),
    async close() {
      closed = true
    },
  }
}
