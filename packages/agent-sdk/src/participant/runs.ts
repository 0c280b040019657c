import {
  type AnyEnvelope,
  type ContextInfo,
  contextParent,
  contextRoot,
  type EnvelopeOf,
  GATEWAY,
  hiddenByAfter,
  Kind,
  type WelcomePayload,
} from '@meup/protocol'

/** A run that goes on, whether it is hidden, and by whom: the owner hides its own thoughts, anybody else all [MEUP-9.6]. */
export type Run = Pick<ContextInfo, 'context' | 'owner' | 'reasoningVisible' | 'hiddenBy'>

/** That somebody hides a run, or does not any more. */
export interface VisibilityChange {
  /** The run. */
  readonly context: string
  /** Whether nobody hides it now. */
  readonly reasoningVisible: boolean
  /** Who hides it now; absent = nobody. */
  readonly hiddenBy?: readonly string[]
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

  /** Who hides a run; `undefined` = nobody. */
  hiddenBy(context: string): string[] | undefined {
    return this.#open.get(contextRoot(context))?.hiddenBy
  }

  tell({ contexts, space }: WelcomePayload): void {
    const before = this.#open
    this.#head = space.head
    this.#open = new Map()
    for (const { context, owner, hiddenBy } of contexts) {
      if (contextParent(context) === undefined)
        this.#open.set(context, { context, owner, ...shown(hiddenBy) })
    }
    for (const { context, hiddenBy } of before.values()) {
      const now = this.hiddenBy(context)
      if (String(hiddenBy) !== String(now)) this.#changed({ context, ...shown(now) })
    }
  }

  take(envelope: AnyEnvelope): void {
    if ((envelope.seq ?? 0) <= this.#head) return
    const { kind, from, context } = envelope
    if (kind === Kind.reasoningStart && context === undefined) this.#begin(envelope.id, from)
    else if (kind === Kind.observeVisibility) this.#toggle(envelope)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel)
      this.#end(context ?? '', from)
  }

  #begin(context: string, owner: string): void {
    this.#open.set(context, { context, owner, reasoningVisible: true })
    if (this.#open.size > remembered) this.#open.delete(this.#open.keys().next().value ?? '')
  }

  #toggle(envelope: EnvelopeOf<typeof Kind.observeVisibility>): void {
    const run = this.#open.get(envelope.payload.context)
    if (run === undefined) return
    const { context, owner } = run
    const hiddenBy = hiddenByAfter(run, envelope)
    if (String(hiddenBy) === String(run.hiddenBy)) return
    this.#open.set(context, { context, owner, ...shown(hiddenBy) })
    this.#changed({ context, ...shown(hiddenBy), by: envelope.from })
  }

  /** Somebody else's cancel is but a request. */
  #end(context: string, from: string): void {
    const run = this.#open.get(context)
    if (run === undefined || (from !== run.owner && from !== GATEWAY)) return
    this.#open.delete(context)
    if (!run.reasoningVisible) this.#changed({ context, reasoningVisible: true })
  }
}

const shown = (hiddenBy: string[] | undefined): Pick<Run, 'reasoningVisible' | 'hiddenBy'> =>
  hiddenBy === undefined ? { reasoningVisible: true } : { reasoningVisible: false, hiddenBy }
