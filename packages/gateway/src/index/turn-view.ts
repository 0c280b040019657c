import {
  type Beginning,
  type FoldedTurn,
  getAttempt,
  getReportedDecisions,
  type JobReasoning,
  type ReasoningUpdate,
  Role,
  reasoningEvent,
  type Source,
  type TurnRecord,
} from '@meup/folds'
import { contextRoot, correlations, type Envelope, Kind } from '@meup/protocol'
import { type Audience, mayRead as mayReadAudience, type Reader } from '../core/may-read.js'
import type { TurnPlace } from './turn-index.js'

export interface TurnEnvelope {
  readonly source: Source
  readonly ts: string
  readonly roles: number
  readonly steps: number
  /** Bytes of the envelope's body; 0 if only the heading was read. */
  readonly bytes: number
  /** Root of the envelope's context. */
  readonly path: string | undefined
}

/** The part of a turn that a reader may read (`seen`), and the rest (`withheld`). */
export interface VisibleTurn {
  readonly seen: readonly TurnEnvelope[]
  readonly withheld: readonly TurnEnvelope[]
  readonly isAll: boolean
}

/** The context of an envelope; for a refusal, the context of the refused envelope. */
export const contextIn = (envelope: Envelope): string | undefined =>
  ((envelope.kind === Kind.systemDecision && getAttempt(envelope)) || envelope).context

/** `context`: the result of `contextIn`. */
export function createTurnEnvelope(
  {
    source,
    ts,
    context,
  }: { readonly source: Source; readonly ts: string; readonly context?: string | undefined },
  { roles, steps }: TurnPlace,
  bytes: number,
): TurnEnvelope {
  return { source, ts, roles, steps, bytes, path: context === undefined ? undefined : contextRoot(context) }
}

/** Selects the readable envelopes of a turn, from the first one that could begin it. */
export function selectVisible(
  envelopes: readonly TurnEnvelope[],
  agent: string,
  mayRead: (source: Source) => boolean,
): VisibleTurn {
  const seen = envelopes.filter(({ source }) => mayRead(source))
  if (seen.length === envelopes.length) return { seen, withheld: [], isAll: true }
  const first = seen.findIndex(mayBegin)
  const share = first === -1 ? [] : seen.slice(first)
  const kept = new Set(share)
  const withheld = envelopes.filter((each) => !kept.has(each))
  const calls = withheld.filter(({ roles }) => (roles & (Role.dispatch | Role.call)) !== 0)
  const ids = new Set(calls.map(({ source }) => source.id))
  // A response to several calls may answer withheld ones: its steps for the withheld calls are withheld.
  const parts = share.flatMap((each): TurnEnvelope[] => {
    if (!(each.roles & Role.home)) return []
    return [{ ...each, roles: 0, steps: correlations(each.source).filter((id) => ids.has(id)).length }]
  })
  return { seen: moveBeginnings(share, withheld, agent), withheld: [...withheld, ...parts], isAll: false }
}

const beginnings = Role.begin | Role.turn | Role.open | Role.call | Role.answer
const closings: ReadonlySet<string> = new Set([Kind.reasoningConclusion, Kind.reasoningCancel])

/**
 * A turn may continue in a free path, a context path that no start has opened. If the reader may not read the envelope that
 * begins this, the next readable envelope of the agent in that path takes its role.
 */
function moveBeginnings(
  seen: readonly TurnEnvelope[],
  withheld: readonly TurnEnvelope[],
  agent: string,
): readonly TurnEnvelope[] {
  const paths = new Set(withheld.flatMap(({ roles, path }) => (roles & Role.free && path) || []))
  if (paths.size === 0) return seen
  return seen.map((said) => {
    const { source, roles, path = '' } = said
    const isOwn = source.from === agent || source.kind === Kind.systemDecision
    const isWork = (roles & (Role.turn | Role.call)) !== 0 && !closings.has(source.kind)
    return isOwn && isWork && paths.delete(path) ? { ...said, roles: roles | Role.free } : said
  })
}

/** Whether a turn may begin with this envelope; a conclusion or a cancel may not. */
const mayBegin = ({ source, roles }: TurnEnvelope): boolean =>
  (roles & beginnings) !== 0 && !closings.has(source.kind)

/** Envelopes of a long turn that are folded: the first ones, and those before the end of the requested page of calls. */
const maximum = { first: 200, before: 800 }
/** A turn with more readable envelopes than this is returned in pages of calls. */
export const longTurn = maximum.first + maximum.before
/** Roles that change the state of a turn; their envelopes are folded even in a long turn. */
const deciding = Role.begin | Role.open | Role.close | Role.answer | Role.takeBack | Role.free
const ending = Role.settle | Role.fulfil

/** The envelopes of a turn that are folded for one page of its calls. */
interface Excerpt {
  readonly said: readonly TurnEnvelope[]
  /** Seqs of the envelopes that follow a gap: envelopes of the turn directly before them are not folded. */
  readonly gaps: ReadonlySet<number>
  readonly calls: CallRange
}

/** A page of the calls of a turn: from this seq on, and whether there are earlier ones. */
export interface CallRange {
  readonly from: number
  readonly hasEarlier: boolean
}

/**
 * Chooses the envelopes to fold for the calls before the seq `before`. Depends on readable envelopes only, so that the length
 * of a turn reveals nothing.
 */
export function createExcerpt(seen: readonly TurnEnvelope[], before: number): Excerpt {
  const found = before === Infinity ? -1 : seen.findIndex(({ source }) => source.seq >= before)
  const end = found === -1 ? seen.length : found
  const start = Math.max(0, end - maximum.before)
  const isShown = (at: number): boolean => at < maximum.first || (at >= start && at < end)
  const calls = seen.slice(start, end).filter(({ roles }) => (roles & (Role.dispatch | Role.call)) !== 0)
  const awaited = new Set(calls.map(({ source }) => source.id))
  const said: TurnEnvelope[] = []
  const gaps = new Set<number>()
  let last = -1
  for (const [at, each] of seen.entries()) {
    const isNeeded = isShown(at) || (each.roles & deciding) !== 0 || (at >= end && endsOne(each, awaited))
    if (!isNeeded) continue
    if (at > last + 1) gaps.add(each.source.seq)
    last = at
    said.push(each)
  }
  if (start <= maximum.first) return { said, gaps, calls: { from: 0, hasEarlier: false } }
  const hasEarlier = seen.slice(0, start).some(({ roles }) => (roles & Role.dispatch) !== 0)
  return { said, gaps, calls: { from: seen[start]?.source.seq ?? 0, hasEarlier } }
}

/**
 * Whether this envelope ends one of the awaited calls. If it fulfils a proposal, the request that fulfils it is awaited
 * instead.
 */
function endsOne({ source, roles }: TurnEnvelope, awaited: Set<string>): boolean {
  if (!(roles & ending)) return false
  // A cancellation has no correlation id, because it names its call in the payload. It counts as an end.
  const answers = correlations(source)
  const isMeant = answers.length === 0 || answers.some((id) => awaited.has(id))
  if (isMeant && roles & Role.fulfil) awaited.add(source.id)
  return isMeant
}

/** A turn as one reader may see it. */
export interface TurnView {
  readonly beginning: Beginning
  readonly record: TurnRecord
  /** Whether the first envelopes of the turn have been pruned. */
  readonly isTruncated: boolean
  /** The readable envelopes of the turn; `withheld`: the others. */
  readonly envelopes: readonly TurnEnvelope[]
  readonly withheld: readonly TurnEnvelope[]
  readonly calls: CallRange
}

/** An event about a batch of calls that has ended. */
export interface TurnViewEvent {
  readonly seq: number
  readonly event: ReasoningUpdate | JobReasoning
  /** The envelopes that made the calls of the event. */
  readonly said: readonly Source[]
}

/** The events of a turn about its ended batches of calls. `events`: by the key of `classifyReader`. */
export interface TurnEvents {
  readonly audiences: readonly NonNullable<Audience>[]
  readonly events: ReadonlyMap<string, readonly TurnViewEvent[]>
  /** Number of envelopes that were folded again for readers who may not read all of them. */
  readonly folded: number
}

export const unread = '0'

/** A key that is equal for readers who may read the same of the envelopes with these audiences. */
export const classifyReader = (reader: Reader, audiences: TurnEvents['audiences']): string =>
  audiences.map((audience) => (mayReadAudience(reader, audience) ? '1' : unread)).join('')

/** The event of a turn in which a batch of calls has just ended, as a list; empty if there is no event. */
export function createTurnEvents({ record, seq }: FoldedTurn): TurnViewEvent[] {
  const event = reasoningEvent(record)
  return event === undefined
    ? []
    : [{ seq, event, said: getReportedDecisions(record).map(({ source }) => source) }]
}
