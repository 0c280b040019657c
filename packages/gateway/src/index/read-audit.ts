import type { RowSource } from '../core/delivery/backfill.js'
import { createLoggedMessage, type Message } from '../ports/connection.js'
import type { Entry } from '../ports/envelope-log.js'
import { type Passed, stepCharacters } from './folded-turns.js'
import type { AuditQuery, AuditStep, Steps } from './steps.js'
import { searched } from './turn-index.js'

/** Envelopes with steps that are read at once. */
const page = 128
/** Envelopes with steps that one request reads; the answer says where to continue. */
const maxScanned = 10_000
/** Seqs that one request scans; the answer says where to continue. */
const maxScannedSeqs = 10 * searched

/** A page of the audit, newest first. */
interface AuditPage {
  readonly steps: readonly AuditStep[]
  /** Decision envelopes of the gateway. */
  readonly decisions: readonly Message[]
  /** `before` of the next page; `undefined` = no more. The next page may be empty. */
  readonly next: number | undefined
}

/** Reads at most `limit` steps from readable envelopes, and the decisions among those [MEUP-11.6]: each decision has a step. */
export async function readAudit(
  source: RowSource,
  steps: Steps,
  query: AuditQuery,
  passed: Passed,
): Promise<AuditPage> {
  const { shown, next } = await readSteps(steps, query, passed)
  return { steps: shown, decisions: decisionsAmong(shown, source, query), next }
}

/** `next`: set if there may be more steps. */
async function readSteps(
  steps: Steps,
  query: AuditQuery,
  passed: Passed,
): Promise<{ readonly shown: readonly AuditStep[]; readonly next?: number }> {
  const shown: AuditStep[] = []
  let [before, looked, count] = [query.before, 0, 0]
  // One step more than the limit shows whether there are more steps; a second one, whether the first is complete.
  let atOnce = query.limit + 2
  /** Seq of the last shown step: the continuation must not reveal unreadable ones [MEUP-8.6]. */
  let last = before
  for (;;) {
    const { made, next } = await steps.find({ ...query, before, limit: Math.min(atOnce, page) })
    for (const each of made) {
      if (each.steps.length === 0) {
        passed(stepCharacters)
        continue
      }
      const isEnough = count + each.steps.length > query.limit || steps.isTooMuch(each.steps)
      if (count > 0 && isEnough) return { shown, next: last }
      shown.push(...(await steps.show(each.steps, passed)))
      count += each.steps.length
      last = each.seq
    }
    if (next === undefined) return { shown }
    before = next
    if (query.before - next >= maxScannedSeqs && next % searched === 0) return { shown, next }
    looked += made.length + 1
    if (looked >= maxScanned) return { shown, next: before }
    atOnce *= 2
  }
}

/** The envelopes of the decisions that these steps link to. */
function decisionsAmong(steps: readonly AuditStep[], { log }: RowSource, query: AuditQuery): Message[] {
  const ids = new Set(steps.flatMap(({ step }) => step.linked_policy_decision ?? []))
  const rows = [...ids].flatMap((id) => log.find(id) ?? [])
  return rows.filter((row) => isAsked(row, query)).map(createLoggedMessage)
}

const isAsked = ({ to = [] }: Entry, { agents }: AuditQuery): boolean =>
  agents === undefined || to.some((participant) => agents.includes(participant))
