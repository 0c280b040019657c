import type { ReportedTurn, Source, ToolDecision, TurnHeading, TurnRecord } from '@meup/views'
import type Database from 'better-sqlite3'
import { headingOf, reportedTurn } from '../../projection/changes.js'
import type { ProjectedLog } from './projected-log.js'
import { damaged, digestOf } from './row-digest.js'
import { prepared } from './statements.js'
import type { TurnRows } from './turn-rows.js'

type TurnWithoutDecisions = Omit<TurnRecord, 'decisions'>

interface StoredDecision {
  readonly number: number
  /** JSON */
  readonly record: string
  readonly digest: string
}

interface StoredSource {
  readonly id: string
  readonly from: string
  readonly kind: string
  readonly to: string | null
  readonly correlationId: string | null
  readonly context: string | null
}

/** Turns as the file has them; each is read once. Throws a `LogError` of code `projection` where one is damaged or missing. */
export class StoredTurns {
  readonly #rows: TurnRows
  readonly #decisions: Database.Statement<[string], StoredDecision>
  readonly #headings = new Map<string, TurnHeading>()
  readonly #reported = new Map<string, ReportedTurn>()

  constructor(db: Database.Database, rows: TurnRows) {
    this.#rows = rows
    this.#decisions = db.prepare(
      'SELECT number, record, digest FROM tool_decisions WHERE turn_id = ? ORDER BY number',
    )
  }

  whole(id: string): TurnRecord {
    const { record, decisions: count } = this.#rows.get(id)
    const stored = this.#decisions.all(id)
    const isWhole = ({ number, record, digest }: StoredDecision) =>
      digest === decisionDigest(id, number, record)
    if (stored.length !== count || !stored.every(isWhole)) throw damaged(`the decisions of turn ${id}`)
    const decisions = stored.map((decision) => JSON.parse(decision.record) as ToolDecision)
    return { ...(JSON.parse(record) as TurnWithoutDecisions), decisions }
  }

  heading(id: string): TurnHeading {
    return once(this.#headings, id, () => {
      const record = JSON.parse(this.#rows.get(id).record) as TurnWithoutDecisions
      return headingOf({ ...record, decisions: [] })
    })
  }

  reported(id: string): ReportedTurn {
    return once(this.#reported, id, () => reportedTurn(this.whole(id)))
  }
}

export const decisionDigest = (turn: string, number: number, record: string): string =>
  digestOf('decisions', [turn, number, record])

function once<Value>(known: Map<string, Value>, id: string, read: () => Value): Value {
  const value = known.get(id) ?? read()
  known.set(id, value)
  return value
}

/** Where something was said; `undefined`: the envelope is not kept any more, so that nobody can be allowed to read it. */
export function sourceAt(db: Database.Database, { space }: ProjectedLog, seq: number): Source | undefined {
  const stored = prepared<[number, number], StoredSource>(
    db,
    'SELECT id, "from", kind, "to", correlationId, context FROM envelopes WHERE space = ? AND seq = ?',
  ).get(space, seq)
  if (stored === undefined) return undefined
  const { id, from, kind, to, correlationId, context } = stored
  return {
    id,
    seq,
    from,
    kind,
    ...(to !== null && { to: JSON.parse(to) }),
    ...(correlationId !== null && { correlationId: JSON.parse(correlationId) }),
    ...(context !== null && { context }),
  }
}
