/** How much of a context is shown: only its heading, its latest lines, or everything. */
export type Level = 'closed' | 'some' | 'all'

const cycle: Readonly<Record<Level, Level>> = { closed: 'some', some: 'all', all: 'closed' }

/**
 * Which contexts are unfolded: as the reader chose; otherwise those that began while the reader was at the live end, until they
 * end. Nothing changes automatically while the reader looks at earlier lines.
 */
export class Folding {
  readonly #choices: Map<string, Level>
  /** Contexts that are unfolded automatically. */
  readonly #live = new Set<string>()
  /** Contexts that have ended, to be folded once the reader is back at the live end. */
  readonly #ending = new Set<string>()
  #isFollowing = true

  /** `like`: a folding whose choices are shared. */
  constructor(like?: Folding) {
    this.#choices = like === undefined ? new Map() : like.#choices
  }

  /** Levels that the reader chose, by context. */
  get choices(): ReadonlyMap<string, Level> {
    return this.#choices
  }

  /** Snapshot of the automatic state, for `restore`. */
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

  /** Must be called when a context has ended. Returns `true` if that folded it. */
  onEnded(context: string): boolean {
    if (!this.#live.has(context)) return false
    if (this.#isFollowing) return this.#live.delete(context)
    this.#ending.add(context)
    return false
  }

  /** Sets whether the reader is at the live end; returns the contexts that this folded. */
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
