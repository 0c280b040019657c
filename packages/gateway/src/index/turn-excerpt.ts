import { Role } from '@meup/folds'
import { correlations } from '@meup/protocol'
import type { CallRange, TurnEnvelope } from './visible-turn.js'

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
    const isNeeded = isShown(at) || (each.roles & deciding) !== 0 || (at >= end && applyEnding(each, awaited))
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
 * Returns whether this envelope ends one of the awaited calls. If it fulfils a proposal, adds the request that fulfils it to
 * `awaited`.
 */
function applyEnding({ source, roles }: TurnEnvelope, awaited: Set<string>): boolean {
  if (!(roles & ending)) return false
  // A cancellation has no correlation id, because it names its call in the payload. It counts as an end.
  const answers = correlations(source)
  const isMeant = answers.length === 0 || answers.some((id) => awaited.has(id))
  if (isMeant && roles & Role.fulfil) awaited.add(source.id)
  return isMeant
}
