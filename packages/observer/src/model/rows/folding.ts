/** How far a context is unfolded: not, its latest lines, or completely. */
export type Level = 'closed' | 'some' | 'all'

const cycle: Readonly<Record<Level, Level>> = { closed: 'some', some: 'all', all: 'closed' }

/**
 * Which contexts are unfolded. The reader's choice takes precedence; otherwise a context is unfolded while live, if it began in
 * view. While the reader looks back, nothing changes automatically.
 */
export class Folding {
  readonly #choices: Map<string, Level>
  /** Automatically unfolded contexts. */
  readonly #live = new Set<string>()
  /** Ended contexts, which fold once the reader follows again. */
  readonly #ending = new Set<string>()
  #isFollowing = true

  /** `like`: copies its choices. */
  constructor(like?: Folding) {
    this.#choices = like === undefined ? new Map() : like.#choices
  }

  /** The reader's choices. */
  get choices(): ReadonlyMap<string, Level> {
    return this.#choices
  }

  /** Returns the automatically unfolded contexts, to restore later. */
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

  /** Cycles through the levels. */
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

/** Automatically unfolded contexts, and ended ones among them. */
export interface FoldingCheckpoint {
  readonly live: readonly string[]
  readonly ending: readonly string[]
}
