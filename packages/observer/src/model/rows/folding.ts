/** How much of a context is open: nothing, its latest lines, or all. */
export type Level = 'closed' | 'some' | 'all'

const cycle: Readonly<Record<Level, Level>> = { closed: 'some', some: 'all', all: 'closed' }

/**
 * Which contexts are unfolded. A reader's choice always wins; without one a context is unfolded while it is live,
 * if it began in view. While the reader looks back, nothing is folded or unfolded.
 */
export class Folding {
  readonly #choices: Map<string, Level>
  /** What is open by itself. */
  readonly #live = new Set<string>()
  /** What is over, and closes as soon as the reader follows again. */
  readonly #ending = new Set<string>()
  #isFollowing = true

  /** `like`: with the same choices. */
  constructor(like?: Folding) {
    this.#choices = like === undefined ? new Map() : like.#choices
  }

  /** What its reader has chosen. */
  get choices(): ReadonlyMap<string, Level> {
    return this.#choices
  }

  /** Returns which contexts are unfolded by themselves, to restore later. */
  checkpoint(): FoldingCheckpoint {
    return { live: [...this.#live], ending: [...this.#ending] }
  }

  restore({ live, ending }: FoldingCheckpoint): void {
    for (const [now, then] of [
      [this.#live, live],
      [this.#ending, ending],
    ] as const) {
      now.clear()
      for (const context of then) now.add(context)
    }
  }

  getLevel(context: string): Level {
    return this.#choices.get(context) ?? (this.#live.has(context) ? 'some' : 'closed')
  }

  choose(context: string, level: Level): void {
    this.#choices.set(context, level)
  }

  /** The next level, after the last the first again. */
  cycle(context: string): void {
    this.choose(context, cycle[this.getLevel(context)])
  }

  onOpened(context: string): void {
    if (this.#isFollowing) this.#live.add(context)
  }

  /** Returns whether a context was folded. */
  onEnded(context: string): boolean {
    if (!this.#live.has(context)) return false
    if (this.#isFollowing) return this.#live.delete(context)
    this.#ending.add(context)
    return false
  }

  /** Sets whether the reader is at the live end. Returns the contexts that were folded. */
  follow(isFollowing: boolean): readonly string[] {
    this.#isFollowing = isFollowing
    if (!isFollowing) return []
    const closed = [...this.#ending]
    for (const context of closed) this.#live.delete(context)
    this.#ending.clear()
    return closed
  }
}

/** Contexts that were open by themselves, and those of them that were over. */
export interface FoldingCheckpoint {
  readonly live: readonly string[]
  readonly ending: readonly string[]
}
