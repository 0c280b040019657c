import { Kind } from '@meup/protocol'
import type { MayRead } from '@meup/views'
import type { Entry } from '../ports/envelope-log.js'
import type { AuditStep, Projection, StepQuery } from '../ports/projection.js'
import type { LogReader } from '../space/log-reads.js'
import type { Reader } from '../space/may-read.js'
import type { Source } from './backfill.js'
import { readHistory } from './history.js'
import { type Message, messageOf } from './parcel.js'
import { charactersOfStep, type Passed, readingOf } from './reading.js'
import { readWhole } from './whole.js'

const page = 100
/** One request looks at so many steps before it says where to go on. */
const mostSteps = 10_000

/** `agents` are whose turns the steps belong to, and whose envelopes were decided on. */
export type AuditQuery = StepQuery & { readonly before: number }

/** A part of the audit, the newest first. */
export interface AuditPage {
  readonly steps: readonly AuditStep[]
  /** Envelopes of the gateway that say what it decided. */
  readonly decisions: readonly Message[]
  /** `before` of the next page; `undefined` = there is no more. It may turn out empty. */
  readonly next: number | undefined
}

/**
 * Steps and decisions, at most `limit` of each, as far as the reader may read what they were made of [MEUP-11.6]. Both
 * end at the same place of the log. What narrows turns or phases leaves those decisions whose steps are among them.
 */
export async function readAudit(
  reader: Reader & LogReader,
  source: Source,
  projection: Pick<Projection, 'steps'>,
  query: AuditQuery,
  passed: Passed,
): Promise<AuditPage> {
  const stepsOf = passing(projection, readingOf(reader, source), passed)
  if (query.thread !== undefined || query.phases !== undefined) {
    const { steps, next } = await readSteps(reader, source, stepsOf, query)
    return { steps, decisions: decisionsAmong(steps, source, query), next }
  }
  const range = await decisionsIn(reader, source, query, stepsOf)
  const decided = await readDecisions(reader, source, query, range)
  const { steps, next = decided.next } = await readSteps(reader, source, stepsOf, query, decided.next)
  return { steps, decisions: decided.messages.filter(({ seq = 0 }) => seq >= (next ?? 0)), next }
}

/** Steps of which those are paid for that are not shown. */
const passing = (
  projection: Pick<Projection, 'steps'>,
  mayRead: MayRead,
  passed: Passed,
): Pick<Projection, 'steps'> => ({
  async steps(query) {
    const steps = await projection.steps(query)
    passed(charactersOfStep * steps.filter(({ step }) => !mayRead(step.source)).length)
    return steps
  },
})

/** Seqs between which decisions are, both excluded. */
interface Between {
  readonly after: number
  readonly before: number
}

/**
 * Where the log was between two times, as far as its reader can tell: of every decision there is a step, which tells its
 * time as the log goes by it. What may not be read is no landmark, since pages end by these places [MEUP-8.6].
 */
async function decisionsIn(
  reader: Reader,
  source: Source,
  { since, until, before }: AuditQuery,
  projection: Pick<Projection, 'steps'>,
): Promise<Between> {
  const mayRead = readingOf(reader, source)
  const lastUntil = async (time: string, otherwise: number): Promise<number> => {
    let place = before
    for (let looked = 0; looked < mostSteps; looked += page) {
      const steps = await projection.steps({
        phases: ['waiting_approval'],
        until: time,
        before: place,
        limit: page,
      })
      const last = steps.find(({ step }) => mayRead(step.source))
      if (last !== undefined) return seqOf(last)
      const oldest = steps.at(-1)
      if (oldest === undefined || steps.length < page) return 0
      place = seqOf(oldest)
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

/** The steps of envelopes from seq `floor` on; `next` where there may be more of them. */
async function readSteps(
  reader: Reader,
  source: Source,
  projection: Pick<Projection, 'steps'>,
  query: AuditQuery,
  floor = 0,
): Promise<{ readonly steps: readonly AuditStep[]; readonly next?: number }> {
  const mayRead = readingOf(reader, source)
  const steps: AuditStep[] = []
  let [before, looked] = [query.before, 0]
  /** Of the last that is shown: where to go on tells of nothing else [MEUP-8.6]. */
  let last = before
  for (;;) {
    const read = (limit: number) => projection.steps({ ...query, before, limit })
    const { items, isAll } = await readWhole(Math.max(query.limit, page), read, seqOf)
    for (const made of madeOfOne(items)) {
      if (seqOf(made[0]) < floor) return { steps }
      const shown = made.filter(({ step }) => mayRead(step.source))
      if (shown.length > 0 && steps.length > 0 && steps.length + shown.length > query.limit) {
        return { steps, next: last }
      }
      steps.push(...shown)
      before = seqOf(made[0])
      if (shown.length > 0) last = before
    }
    if (isAll) return { steps }
    looked += items.length
    if (looked >= mostSteps) return { steps, next: before }
  }
}

const seqOf = ({ step }: AuditStep): number => step.source.seq

type Some<Item> = readonly [Item, ...Item[]]

/** Neighbours that were made of the same envelope, together. */
function* madeOfOne(steps: readonly AuditStep[]): Generator<Some<AuditStep>> {
  let made: [AuditStep, ...AuditStep[]] | undefined
  for (const step of steps) {
    if (made !== undefined && seqOf(made[0]) === seqOf(step)) {
      made.push(step)
      continue
    }
    if (made !== undefined) yield made
    made = [step]
  }
  if (made !== undefined) yield made
}

/** A decision is kept as long as the log is; its step may be there for longer. */
function decisionsAmong(steps: readonly AuditStep[], { log }: Source, query: AuditQuery): Message[] {
  const rows = steps.flatMap(({ step }) => log.find(step.linked_policy_decision ?? '') ?? [])
  return rows.filter((row) => isAsked(row, query)).map(messageOf)
}

const isAsked = ({ to = [] }: Entry, { agents }: AuditQuery): boolean =>
  agents === undefined || to.some((participant) => agents.includes(participant))
