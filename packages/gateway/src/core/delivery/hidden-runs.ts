import {
  contextRoot,
  type Envelope,
  type Hiding,
  Kind,
  type VisibilityPayload,
  withholds,
} from '@meup/protocol'
import type { Contexts } from '../state/contexts.js'

/** A run is hidden like this from this seq on; `undefined`: not any more. */
interface Change {
  readonly seq: number
  readonly run: string
  readonly hiding: Hiding | undefined
}

/**
 * Which runs are hidden as of the envelope that was delivered last. What has been admitted since is kept until it is
 * delivered, so that each thought is decided on at its place in the log, and nothing by what the log may not get.
 */
export class HiddenRuns {
  /** Counts what was changed. */
  version = 0
  readonly #hidden: Map<string, Hiding>
  #changes: Change[] = []

  /** `contexts`: as of the last delivery. */
  constructor(contexts: Contexts) {
    const runs = contexts
      .open()
      .filter(({ context, hiddenBy }) => hiddenBy && contextRoot(context) === context)
    this.#hidden = new Map(runs.map((run) => [run.context, run]))
  }

  /** Whether nobody else may read what this participant thinks in a context. */
  withholds(context: string, from: string): boolean {
    const run = this.#hidden.size > 0 && this.#hidden.get(contextRoot(context))
    return run ? withholds(run, from) : false
  }

  /** Notes what an envelope changes that `contexts` have just been told of. */
  note({ seq = 0, kind, context, payload }: Envelope, contexts: Contexts): void {
    const place = kind === Kind.observeVisibility ? (payload as VisibilityPayload).context : context
    if (place === undefined || !changing.has(kind)) return
    this.#changes.push({ seq, run: contextRoot(place), hiding: contexts.hiding(place) })
  }

  /** Everything up to this seq is about to be delivered. */
  advance(seq: number): void {
    for (let next = this.#changes[0]; next !== undefined && next.seq <= seq; next = this.#changes[0]) {
      this.version++
      if (next.hiding !== undefined) this.#hidden.set(next.run, next.hiding)
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
