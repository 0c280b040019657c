/** How much of a context is shown: only its heading, its latest lines, or everything. */
export type Level = 'closed' | 'some' | 'all'

const cycle: Readonly<Record<Level, Level>> = { closed: 'some', some: 'all', all: 'closed' }

/**
 * Decides which contexts are unfolded: as the reader chose; otherwise those that began while the newest row was in view (the
 * live end), until they end. Nothing changes automatically while the reader looks at earlier lines.
 */
export class Folding {
  readonly #choices: Map<string, Level>
  /** Contexts that are unfolded without a choice of the reader: they began at the live end, and have not ended. */
  readonly #live = new Set<string>()
  /** Contexts of `#live` that have ended, to be folded once the newest row is in view again. */
  readonly #ending = new Set<string>()
  #isFollowing = true

  /** `like`: an instance with which this one shares the levels that the reader has chosen. */
  constructor(like?: Folding) {
    this.#choices = like === undefined ? new Map() : like.#choices
  }

  /** Levels that the reader chose, by context. */
  get choices(): ReadonlyMap<string, Level> {
    return this.#choices
  }

  /** Snapshot of the contexts that are unfolded without a choice of the reader, for `restore`. */
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

  /** Switches to the next level. */
  cycle(context: string): void {
    this.choose(context, cycle[this.getLevel(context)])
  }

  onOpened(context: string): void {
    if (this.#isFollowing) this.#live.add(context)
  }

  /** Must be called when a context has ended. Returns `true` if the context was unfolded automatically and is now folded. */
  onEnded(context: string): boolean {
    if (!this.#live.has(context)) return false
    if (this.#isFollowing) return this.#live.delete(context)
    this.#ending.add(context)
    return false
  }

  /** Sets whether the newest row is in view (the live end); returns the ended contexts that are folded now. */
  follow(isFollowing: boolean): readonly string[] {
    this.#isFollowing = isFollowing
    if (!isFollowing) return []
    const closed = [...this.#ending]
    for (const context of closed) this.#live.delete(context)
    this.#ending.clear()
    return closed
  }
}

/** Contexts that are unfolded automatically, and those of them that have ended. */
export interface FoldingCheckpoint {
  readonly live: readonly string[]
  readonly ending: readonly string[]
}
