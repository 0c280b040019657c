import { defaultSafety, type SafetySettings } from '@meup/safety'
import { LogError } from '../../log/error.js'
import type { EnvelopeLog } from '../../ports/envelope-log.js'
import { openForReading } from './files.js'
import { inspectLog } from './inspect.js'
import { sqliteStore } from './store.js'

/** Envelopes that are taken at once: so much of what they bring is in memory. */
const stride = 1000

export interface RebuildOptions {
  /** The file of the logs. */
  readonly path: string
  /** The rules of a space for what may be seen of MCP payloads; default: those that every space has. */
  safetyOf?(space: string): SafetySettings
}

/** What was made of the log of a space. */
export interface RebuiltProjection {
  readonly space: string
  readonly envelopes: number
  /** With jobs. */
  readonly turns: number
  readonly steps: number
}

/**
 * Throws the turns and steps of all spaces of a file away and makes them again from their logs. Meanwhile no gateway may have
 * the file. Rejects with a `LogError`: `locked`, `newer_schema`, `corrupt` or `io`.
 */
export async function rebuildProjections({
  path,
  safetyOf = () => defaultSafety,
}: RebuildOptions): Promise<readonly RebuiltProjection[]> {
  const report = inspectLog(path)
  if (report === undefined)
    throw new LogError('io', `There is no log ${path}. Start the gateway once, or name its file.`)
  const store = await sqliteStore({ path })
  try {
    const rebuilt: RebuiltProjection[] = []
    for (const { name } of report.spaces) {
      const log = await store.open(name)
      await rebuild(log, safetyOf(name))
      rebuilt.push({ space: name, envelopes: log.head - log.oldest + 1, ...countIn(path, log.epoch) })
    }
    return rebuilt
  } finally {
    await store.close()
  }
}

async function rebuild(log: EnvelopeLog, safety: SafetySettings): Promise<void> {
  const projection = await log.project({ safety })
  await projection.rebuild()
  while (projection.seq < log.head) await projection.advance(Math.min(projection.seq + stride, log.head))
}

function countIn(path: string, epoch: string): Pick<RebuiltProjection, 'turns' | 'steps'> {
  const db = openForReading(path)
  try {
    const counts = db.prepare<[string], { turns: number; steps: number }>(
      `SELECT count(*) AS turns, coalesce(sum(own), 0) AS steps FROM
        (SELECT (SELECT count(*) FROM reasoning_steps WHERE turn_id = turns.id) AS own FROM turns WHERE session_id = ?)`,
    )
    return counts.get(epoch) ?? { turns: 0, steps: 0 }
  } finally {
    db.close()
  }
}
