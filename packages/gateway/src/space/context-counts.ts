/** How much was said in a context and below it, of what is addressed to nobody. */
export interface Counted {
  envelopes: number
  thoughts: number
  /** Who has said more than thoughts. */
  readonly contributors: string[]
  /** Who has said nothing but thoughts. Earlier snapshots have them among the others. */
  thinkers?: string[]
}

export interface ContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** Contributors of one context past this many are not told apart. */
const remembered = 1000

export const nothingBy = (owner: string): Counted => ({ envelopes: 0, thoughts: 0, contributors: [owner] })

/** What everyone may read of it, where the thoughts are withheld or not. */
export function shownCounts(counted: Counted, isHidden: boolean): ContextCounts {
  const { envelopes, thoughts, contributors, thinkers = [] } = counted
  return isHidden
    ? { envelopes: envelopes - thoughts, thoughts: 0, contributors: contributors.length }
    : { envelopes, thoughts, contributors: contributors.length + thinkers.length }
}

/** Whoever says more than thoughts is no mere thinker any more. */
export function countContributor(counted: Counted, id: string, isThought: boolean): void {
  const { contributors, thinkers = [] } = counted
  if (contributors.includes(id)) return
  const at = thinkers.indexOf(id)
  if (at === -1 && contributors.length + thinkers.length >= remembered) return
  if (!isThought) {
    if (at !== -1) thinkers.splice(at, 1)
    contributors.push(id)
  } else if (at === -1) {
    counted.thinkers = [...thinkers, id]
  }
}
