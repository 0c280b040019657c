import type {
  ContextFold,
  ContextSnapshot,
  ContextView,
  PresenceSnapshot,
  ProposalFold,
  Transcript,
} from '@meup/folds'

/** What was known of a part of the log when it had come so far. */
export interface ViewsMark {
  readonly seq: number
  readonly contexts: ContextSnapshot
  readonly proposals: ReturnType<ProposalFold['snapshot']>
  readonly transcript: ReturnType<Transcript['snapshot']>
  /** Runs that went on, and whose they were. */
  readonly runs: readonly (readonly [context: string, owner: string])[]
}

/** Contexts that were open by themselves, and those of them that were over. */
export interface FoldingMark {
  readonly live: readonly string[]
  readonly ending: readonly string[]
}

/** What a space was at an envelope, as far as the log does not tell at once. */
export interface Checkpoint extends ViewsMark {
  readonly presence: PresenceSnapshot
  readonly folding: FoldingMark
}

type Draft = ContextSnapshot['contexts'][number][1]

/** The contexts as they are now. What has not changed since `before` is kept once. */
export function markContexts(fold: ContextFold, before: ContextSnapshot | undefined): ContextSnapshot {
  const snapshot = fold.snapshot()
  const known = new Map(before?.contexts)
  const contexts = snapshot.contexts.map(([context, draft]): [string, Draft] => {
    const earlier = known.get(context)
    return [context, earlier !== undefined && isSame(earlier, draft) ? earlier : copyOf(draft)]
  })
  return { ...snapshot, contexts, ids: [] }
}

/** The fold goes on changing what it is given. */
export const contextsAt = (mark: ContextSnapshot): ContextSnapshot => ({
  ...mark,
  contexts: mark.contexts.map(([context, draft]) => [context, copyOf(draft)]),
})

const copyOf = (draft: Draft): Draft => ({
  ...draft,
  contributors: [...draft.contributors],
  counts: { ...draft.counts },
  proposals: [...draft.proposals],
})

/** Whether two states of the same context are one. */
export const isSame = (one: ContextView, other: ContextView): boolean =>
  one.state === other.state &&
  one.counts.envelopes === other.counts.envelopes &&
  one.counts.late === other.counts.late &&
  String(one.hiddenBy) === String(other.hiddenBy) &&
  one.opening?.source.id === other.opening?.source.id &&
  one.ending?.source.id === other.ending?.source.id &&
  one.answer?.id === other.answer?.id &&
  one.contributors.length === other.contributors.length &&
  one.proposals.length === other.proposals.length &&
  one.proposals.at(-1) === other.proposals.at(-1)
