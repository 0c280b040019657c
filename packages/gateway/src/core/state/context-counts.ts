import { GATEWAY, type Hiding, isThought, withholds } from '@meup/protocol'

/**
 * Counts of public envelopes in a context and below it. Thoughts and participants that only think are counted apart, because a
 * run may hide its thoughts at any time: `shownCounts` subtracts them.
 */
export interface Counted {
  envelopes: number
  thoughts: number
  ownerThoughts: number
  /** Participants that have sent more than thoughts. */
  readonly contributors: Set<string>
  /** Participants that have sent only thoughts. */
  readonly thinkers: Set<string>
}

/**
 * `Counted` as JSON. Checkpoints and snapshots contain it, so a changed field changes their format: see `version` in state.ts.
 */
export interface StoredCounts extends Omit<Counted, 'contributors' | 'thinkers'> {
  readonly contributors: readonly string[]
  readonly thinkers: readonly string[]
}

export interface OpenContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** Maximum number of contributors of one context that are remembered by id, so that each counts once. */
const remembered = 1000

export const nothingBy = (owner: string): Counted => ({
  envelopes: 0,
  thoughts: 0,
  ownerThoughts: 0,
  contributors: new Set([owner]),
  thinkers: new Set(),
})

export const storeCounts = <Kept extends Counted>(
  counted: Kept,
): Omit<Kept, keyof Counted> & StoredCounts => ({
  ...counted,
  contributors: [...counted.contributors],
  thinkers: [...counted.thinkers],
})

export const restoreCounts = <Kept extends StoredCounts>(
  stored: Kept,
): Omit<Kept, keyof Counted> & Counted => ({
  ...stored,
  contributors: new Set(stored.contributors),
  thinkers: new Set(stored.thinkers),
})

export function countEnvelope(
  counted: Counted,
  { kind, from }: { readonly kind: string; readonly from: string },
  runOwner: string | undefined,
): void {
  const isThinking = isThought(kind)
  counted.envelopes++
  if (isThinking) counted.thoughts++
  if (isThinking && from === runOwner) counted.ownerThoughts++
  if (from !== GATEWAY) countContributor(counted, from, isThinking)
}

/** The counts that everyone may read under the present visibility of the run. */
export function shownCounts(counted: Counted, run: Hiding | undefined): OpenContextCounts {
  const { envelopes, thoughts, ownerThoughts, contributors, thinkers } = counted
  if (run?.hiddenBy === undefined) {
    return { envelopes, thoughts, contributors: contributors.size + thinkers.size }
  }
  const isAllHidden = run.hiddenBy.some((id) => id !== run.owner)
  const withheld = isAllHidden ? thoughts : ownerThoughts
  const shown = [...thinkers].filter((id) => !withholds(run, id))
  return {
    envelopes: envelopes - withheld,
    thoughts: thoughts - withheld,
    contributors: contributors.size + shown.length,
  }
}

/** A participant that says more than thoughts moves from `thinkers` to `contributors`. */
function countContributor({ contributors, thinkers }: Counted, id: string, isThinking: boolean): void {
  if (contributors.has(id)) return
  const isKnown = thinkers.has(id)
  if (!isKnown && contributors.size + thinkers.size >= remembered) return
  if (isThinking) thinkers.add(id)
  else {
    thinkers.delete(id)
    contributors.add(id)
  }
}
