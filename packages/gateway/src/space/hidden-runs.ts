import { contextRoot, type Envelope, Kind, type VisibilityPayload } from '@meup/protocol'
import type { Contexts } from './contexts.js'

/** A run is hidden, or not any more, from this seq on. */
interface Change {
  readonly seq: number
  readonly run: string
  readonly isHidden: boolean
}

/**
 * Which runs are hidden as of the envelope that was delivered last. What has been admitted since is kept until it is
 * delivered, so that each thought is decided on at its place in the log, and nothing by what the log may not get.
 */
export class HiddenRuns {
  readonly #hidden: Set<string>
  #changes: Change[] = []

  /** `contexts`: as of the last delivery. */
  constructor(contexts: Contexts) {
    const open = contexts.open().filter(({ reasoningVisible }) => !reasoningVisible)
    this.#hidden = new Set(open.map(({ context }) => contextRoot(context)))
  }

  has(context: string): boolean {
    return this.#hidden.size > 0 && this.#hidden.has(contextRoot(context))
  }

  /** Notes what an envelope changes that `contexts` have just been told of. */
  note({ seq = 0, kind, context, payload }: Envelope, contexts: Contexts): void {
    const place = kind === Kind.observeVisibility ? (payload as VisibilityPayload).context : context
    if (place === undefined || !changing.has(kind)) return
    this.#changes.push({ seq, run: contextRoot(place), isHidden: contexts.isHidden(place) })
  }

  /** Everything up to this seq is about to be delivered. */
  advance(seq: number): void {
    for (let next = this.#changes[0]; next !== undefined && next.seq <= seq; next = this.#changes[0]) {
      if (next.isHidden) this.#hidden.add(next.run)
      else this.#hidden.delete(next.run)
      this.#changes.shift()
    }
  }

  /** What has not been delivered never will be. */
  forget(): void {
    this.#changes = []
  }
}

/** What hides or shows a run, and what ends one. */
const changing: ReadonlySet<string> = new Set([
  Kind.observeVisibility,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])
