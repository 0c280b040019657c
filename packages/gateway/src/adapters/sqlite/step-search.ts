import type { Phase } from '@meup/protocol'
import { lowestUlidAt, phaseLabels } from '@meup/views'
import type Database from 'better-sqlite3'
import type { StepQuery } from '../../ports/projection.js'
import type { ProjectedLog } from './projected-log.js'

const allPhases = Object.keys(phaseLabels) as readonly Phase[]

/** Higher than any id. */
const noEnd = '~'

/** Ids of the newest steps that are asked for, the newest first. However many there are, few rows are looked at. */
export function findSteps(db: Database.Database, log: ProjectedLog, query: StepQuery): string[] {
  const { turn, phases = allPhases, since, until, before, limit } = query
  const first = since === undefined ? '' : lowestUlidAt(Date.parse(since))
  const ends = [until === undefined ? noEnd : lowestUlidAt(Date.parse(until)), idFrom(db, log, before)]
  const range = [first, ends.sort()[0], limit]
  const threads = threadsOf(log, query)
  const find = (sql: string, ...values: unknown[]) =>
    db
      .prepare<unknown[], string>(sql)
      .pluck()
      .all(...values)
  if (turn !== undefined)
    return (threads ?? []).flatMap((thread) =>
      find(ofTurn, log.epoch, thread, turn, JSON.stringify(phases), ...range),
    )
  const found = [...new Set(phases)].flatMap((phase) =>
    threads === undefined
      ? find(inSpace, log.space, phase, ...range)
      : threads.flatMap((thread) => find(inThread, log.space, thread, phase, ...range)),
  )
  return found.sort().reverse().slice(0, limit)
}

const last = 'AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?'
const inSpace = `SELECT id FROM step_places WHERE space = ? AND phase = ? ${last}`
const inThread = `SELECT id FROM step_places WHERE space = ? AND thread_id = ? AND phase = ? ${last}`
/** Rows of a turn come in the order of their ids. */
const ofTurn = `
  SELECT id FROM reasoning_steps
  WHERE turn_id = (SELECT id FROM turns WHERE session_id = ? AND thread_id = ? AND turn_number = ?)
    AND phase IN (SELECT value FROM json_each(?)) AND id >= ? AND id < ? ORDER BY rowid DESC LIMIT ?`

/** `undefined`: all. */
function threadsOf({ name }: ProjectedLog, { thread, agents }: StepQuery): string[] | undefined {
  const ofAgents = agents && [...new Set(agents)].map((agent) => `${name}/${agent}`)
  if (thread === undefined) return ofAgents
  return ofAgents === undefined || ofAgents.includes(thread) ? [thread] : []
}

/** Of the first step that was made of this envelope or a later one. */
function idFrom(db: Database.Database, { space }: ProjectedLog, seq: number | undefined): string {
  if (seq === undefined) return noEnd
  const find = db.prepare<[number, number], string>(
    'SELECT id FROM step_places WHERE space = ? AND seq >= ? ORDER BY seq, id LIMIT 1',
  )
  return find.pluck().get(space, seq) ?? noEnd
}
