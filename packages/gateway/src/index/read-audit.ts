import { Kind } from '@meup/protocol'
import type { Source } from '../core/delivery/backfill.js'
import { readHistory } from '../core/delivery/history.js'
import type { LogReader } from '../core/delivery/log-reads.js'
import type { Reader } from '../core/may-read.js'
import { createLoggedMessage, type Message } from '../ports/connection.js'
import type { Entry } from '../ports/envelope-log.js'
import { type Passed, stepCharacters } from './folded-turns.js'
import type { AuditQuery, AuditStep, Steps } from './steps.js'
import { searched } from './turn-index.js'

/** Envelopes with steps that are read at once. */
const page = 128
/** Envelopes with steps that one request reads before it returns where to go on. */
const maxScanned = 10_000
/** Seqs that one request scans before it returns where to go on. */
const maxScannedSeqs = 10 * searched

/** A part of the audit, the newest first. */
interface AuditPage {
  readonly steps: readonly AuditStep[]
  /** Decision envelopes of the gateway. */
  readonly decisions: readonly Message[]
  /** `before` of the next page; `undefined` = there is no more. It may turn out empty. */
  readonly next: number | undefined
}

/**
 * Reads steps and decisions, at most `limit` of each, from readable envelopes [MEUP-11.6]. Both end at the same seq.
 * With a filter on turns or phases, decisions are those whose steps match.
 */
export async function readAudit(
  reader: Reader & LogReader,
  source: Source,
  steps: Steps,
  query: AuditQuery,
  passed: Passed,
): Promise<AuditPage> {
  if (query.thread !== undefined || query.phases !== undefined) {
    const { shown, next } = await readSteps(steps, query, passed)
    return { steps: shown, decisions: decisionsAmong(shown, source, query), next }
  }
  const range = await decisionsIn(query, steps)
  const decided = await readDecisions(reader, source, query, range)
  const { shown, next = decided.next } = await readSteps(steps, query, passed, decided.next)
  return { steps: shown, decisions: decided.messages.filter(({ seq = 0 }) => seq >= (next ?? 0)), next }
}

/** A range of seqs, both excluded. */
interface Between {
  readonly after: number
  readonly before: number
}

/**
 * The seqs of a time range, found by steps: every decision has one. Only readable envelopes count: pages end at these seqs and
 * must not reveal others [MEUP-8.6].
 */
async function decisionsIn({ since, until, before }: AuditQuery, steps: Steps): Promise<Between> {
  const lastUntil = async (time: number, otherwise: number): Promise<number> => {
    let place: number | undefined = before
    for (let looked = 0; looked < maxScanned && place !== undefined; ) {
      const query: AuditQuery = { phases: ['waiting_approval'], until: time, before: place, limit: page }
      const { found, next } = await steps.places(query)
      const last = found.find(({ isReadable }) => isReadable)
      if (last !== undefined) return last.seq
      if (next === undefined) return 0
      looked += found.length + 1
      place = next
    }
    return otherwise
  }
  return {
    after: since === undefined ? 0 : await lastUntil(since, 0),
    before: until === undefined ? before : Math.min(before, (await lastUntil(until, before - 1)) + 1),
  }
}

const readDecisions = (reader: Reader & LogReader, source: Source, query: AuditQuery, range: Between) =>
  readHistory(reader, source, {
    ...range,
    limit: query.limit,
    order: 'desc',
    filter: { kinds: [Kind.systemDecision] },
    reasoning: 'full',
    includes: (entry) => isAsked(entry, query),
  })

/** What was made of envelopes from seq `floor` on; `next` where there may be more. */
async function readSteps(
  steps: Steps,
  query: AuditQuery,
  passed: Passed,
  floor = 0,
): Promise<{ readonly shown: readonly AuditStep[]; readonly next?: number }> {
  const shown: AuditStep[] = []
  let [before, looked, count] = [query.before, 0, 0]
  // One more than can be shown tells whether there is more, and one more than that is needed to know that it is whole.
  let atOnce = query.limit + 2
  /** Of the last that is shown: where to go on tells of nothing else [MEUP-8.6]. */
  let last = before
  for (;;) {
    const { made, next } = await steps.find({ ...query, before, limit: Math.min(atOnce, page) })
    for (const each of made) {
      if (each.seq < floor) return { shown }
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

/** A decision is kept as long as the log is. */
function decisionsAmong(steps: readonly AuditStep[], { log }: Source, query: AuditQuery): Message[] {
  const rows = steps.flatMap(({ step }) => log.find(step.linked_policy_decision ?? '') ?? [])
  return rows.filter((row) => isAsked(row, query)).map(createLoggedMessage)
}

const isAsked = ({ to = [] }: Entry, { agents }: AuditQuery): boolean =>
  agents === undefined || to.some((participant) => agents.includes(participant))
