import { type Envelope, Kind } from '@meup/protocol'

/** Milliseconds that somebody is shown to write after the last sign of it [MEUP-3.32]. */
const shownMs = 6000
/** So many are remembered. */
const maxTypists = 100

/** Who writes a message just now. */
export class Typists {
  readonly #seen = new Map<string, number>()

  /** `now`, here and below: milliseconds by the clock of this machine. */
  apply({ kind, from }: Envelope, now: number): void {
    if (kind === Kind.chat) this.#seen.delete(from)
    if (kind !== Kind.observeTyping) return
    this.#seen.delete(from)
    this.#seen.set(from, now)
    for (const [id] of this.#seen) if (this.#seen.size > maxTypists) this.#seen.delete(id)
  }

  /** Those that began first come first. */
  list(now: number): readonly string[] {
    for (const [id, at] of this.#seen) if (at + shownMs < now) this.#seen.delete(id)
    return [...this.#seen.keys()]
  }
}
