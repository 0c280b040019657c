import type { ReportedTurn, Source, ToolDecision, TurnHeading, TurnRecord } from '@meup/views'
import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import { headingOf, reportedTurn } from '../../projection/changes.js'
import type { ProjectedLog } from './projected-log.js'

type TurnWithoutDecisions = Omit<TurnRecord, 'decisions'>

interface StoredDecision {
  readonly number: number
  readonly record: string
}

interface StoredSource {
  readonly id: string
  readonly from: string
  readonly kind: string
  readonly to: string | null
  readonly correlationId: string | null
  readonly context: string | null
}

/** Turns as the file has them; each is read once. Throws a `LogError` of code `projection` where one is damaged. */
export class StoredTurns {
  readonly #db: Database.Database
  readonly #headings = new Map<string, TurnHeading>()
  readonly #reported = new Map<string, ReportedTurn>()

  constructor(db: Database.Database) {
    this.#db = db
  }

  whole(id: string): TurnRecord {
    const select = this.#db.prepare<[string], StoredDecision>(
      'SELECT number, record FROM tool_decisions WHERE turn_id = ? ORDER BY number',
    )
    const decisions = select
      .all(id)
      .map(({ number, record }) =>
        parse<ToolDecision>(record, `a decision of turn ${id}`, (found) => found?.number === number),
      )
    return { ...this.#read(id), decisions }
  }

  heading(id: string): TurnHeading {
    return once(this.#headings, id, () => headingOf({ ...this.#read(id), decisions: [] }))
  }

  reported(id: string): ReportedTurn {
    return once(this.#reported, id, () => reportedTurn(this.whole(id)))
  }

  #read(id: string): TurnWithoutDecisions {
    const record = this.#db.prepare<[string], string>('SELECT record FROM turns WHERE id = ?').pluck().get(id)
    return parse<TurnWithoutDecisions>(record, `turn ${id}`, (found) => found?.id === id)
  }
}

function once<Value>(known: Map<string, Value>, id: string, read: () => Value): Value {
  const value = known.get(id) ?? read()
  known.set(id, value)
  return value
}

/** Where something was said; `undefined`: the envelope is not kept any more, so that nobody can be allowed to read it. */
export function sourceAt(db: Database.Database, { space }: ProjectedLog, seq: number): Source | undefined {
  const stored = db
    .prepare<[number, number], StoredSource>(
      'SELECT id, "from", kind, "to", correlationId, context FROM envelopes WHERE space = ? AND seq = ?',
    )
    .get(space, seq)
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

/** Throws for what is missing, for what is no JSON, and for what is not `isWhole`, which may be given any JSON. */
export function parse<Value>(
  json: string | undefined,
  what: string,
  isWhole: (found: Partial<Value> | null) => boolean,
): Value {
  const found = parsed(json)
  if (found === undefined || !isWhole(found as Partial<Value> | null)) {
    throw new LogError('projection', `What is stored of ${what} is damaged.`)
  }
  return found as Value
}

/** `undefined`: it is no JSON. */
function parsed(json = ''): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
