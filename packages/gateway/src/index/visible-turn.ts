import { type Beginning, getAttempt, Role, type Source, type TurnRecord } from '@meup/folds'
import { contextRoot, correlations, type Envelope, Kind } from '@meup/protocol'
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

/** A page of the calls of a turn: from this seq on, and whether there are earlier ones. */
export interface CallRange {
  readonly from: number
  readonly hasEarlier: boolean
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
