import { type Envelope, Kind } from '@meup/protocol'

/** How long typing is shown after its last notification [MEUP-3.32]. */
const shownMs = 6000
/** Maximum number of tracked participants. */
const maxTypists = 100

/** Participants that are currently typing. */
export class Typists {
  readonly #seen = new Map<string, number>()

  /** `now` is local time in ms, here and below. */
  apply({ kind, from }: Envelope, now: number): void {
    if (kind === Kind.chat) this.#seen.delete(from)
    if (kind !== Kind.observeTyping) return
    this.#seen.delete(from)
    this.#seen.set(from, now)
    for (const [id] of this.#seen) if (this.#seen.size > maxTypists) this.#seen.delete(id)
  }

  /** Ids of typing participants, in the order in which they began. */
  list(now: number): readonly string[] {
    for (const [id, at] of this.#seen) if (at + shownMs < now) this.#seen.delete(id)
    return [...this.#seen.keys()]
  }
}
