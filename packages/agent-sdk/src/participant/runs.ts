import {
  type AnyEnvelope,
  type ContextInfo,
  contextParent,
  contextRoot,
  GATEWAY,
  Kind,
  type WelcomePayload,
} from '@meup/protocol'

/** A run that goes on, and whether its thoughts may be seen by others than their senders [MEUP-9.6]. */
export type Run = Pick<ContextInfo, 'context' | 'owner' | 'reasoningVisible'>

/** That a run was hidden or shown. */
export interface VisibilityChange {
  /** The run. */
  readonly context: string
  readonly reasoningVisible: boolean
  /** Absent where the run has ended, which shows it, or where this happened while the line was down. */
  readonly by?: string
}

/** Runs past this many are forgotten, oldest first: a connection that cuts reasoning hears of no ends. */
const remembered = 10_000

/** Which runs go on: told by every welcome, kept up to date by what comes. */
export class Runs {
  readonly #changed: (change: VisibilityChange) => void
  #open = new Map<string, Run>()
  /** The last seq that the welcome knows of; what is replayed of before is history. */
  #head = 0

  constructor(changed: (change: VisibilityChange) => void) {
    this.#changed = changed
  }

  /** Oldest first. */
  list(): Run[] {
    return [...this.#open.values()]
  }

  isVisible(context: string): boolean {
    return this.#open.get(contextRoot(context))?.reasoningVisible ?? true
  }

  tell({ contexts, space }: WelcomePayload): void {
    const before = this.#open
    this.#head = space.head
    this.#open = new Map()
    for (const { context, owner, reasoningVisible } of contexts) {
      if (contextParent(context) === undefined) this.#open.set(context, { context, owner, reasoningVisible })
    }
    for (const { context, reasoningVisible } of before.values()) {
      if (reasoningVisible !== this.isVisible(context)) {
        this.#changed({ context, reasoningVisible: !reasoningVisible })
      }
    }
  }

  take(envelope: AnyEnvelope): void {
    if ((envelope.seq ?? 0) <= this.#head) return
    const { kind, from, context } = envelope
    if (kind === Kind.reasoningStart && context === undefined) this.#begin(envelope.id, from)
    else if (kind === Kind.observeVisibility) this.#show(envelope.payload, from)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel)
      this.#end(context ?? '', from)
  }

  #begin(context: string, owner: string): void {
    this.#open.set(context, { context, owner, reasoningVisible: true })
    if (this.#open.size > remembered) this.#open.delete(this.#open.keys().next().value ?? '')
  }

  #show({ context, reasoningVisible }: Pick<Run, 'context' | 'reasoningVisible'>, by: string): void {
    const run = this.#open.get(context)
    if (run === undefined || run.reasoningVisible === reasoningVisible) return
    this.#open.set(context, { ...run, reasoningVisible })
    this.#changed({ context, reasoningVisible, by })
  }

  /** Somebody else's cancel is but a request. */
  #end(context: string, from: string): void {
    const run = this.#open.get(context)
    if (run === undefined || (from !== run.owner && from !== GATEWAY)) return
    this.#open.delete(context)
    if (!run.reasoningVisible) this.#changed({ context, reasoningVisible: true })
  }
}
