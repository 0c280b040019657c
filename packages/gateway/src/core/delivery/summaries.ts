import { Bounded } from '@meup/folds'
import { Kind, type Phase, type SummaryPayload } from '@meup/protocol'
import type { Entry } from '../../ports/envelope-log.js'

/** Thoughts of one context that a connection was not sent. */
interface Cut {
  thoughts: number
  readonly phases: Set<Phase>
  /** Of its last thought. */
  ts: string
  /** Milliseconds since the epoch, by the clock of the log; 0 = nothing was sent yet. */
  sentAt: number
  isNew: boolean
}

/** A summary of one context. */
export interface ContextSummary {
  readonly context: string
  readonly ts: string
  readonly payload: SummaryPayload
}

/** Past so many contexts, the oldest is counted anew. */
const maxContexts = 256
/** Milliseconds between two summaries of a context that is open. */
const intervalMs = 1000

/** Counts the thoughts that one connection was not sent, by context [MEUP-9.9]. */
export class Summaries {
  readonly #contexts = new Bounded<Cut>(maxContexts)

  /** Counts a thought that was cut. */
  count(context: string, ts: string, phase: Phase | undefined): void {
    let cut = this.#contexts.get(context)
    if (cut === undefined) {
      cut = { thoughts: 0, phases: new Set(), ts, sentAt: 0, isNew: false }
      this.#contexts.set(context, cut)
    }
    cut.thoughts++
    cut.isNew = true
    cut.ts = ts
    if (phase !== undefined) cut.phases.add(phase)
  }

  /** Gives the summaries of the context that this entry may end, and of those within it, where they have changed. */
  takeBefore({ kind, context }: Pick<Entry, 'kind' | 'context'>): readonly ContextSummary[] {
    if (context === undefined || !isEnd(kind)) return []
    return this.#take((each) => each === context || each.startsWith(`${context}/`))
  }

  /** Gives the summaries that are due at a time of the log, in milliseconds since the epoch. */
  takeDue(now: number): readonly ContextSummary[] {
    return this.#take((_, { sentAt }) => now - sentAt >= intervalMs, now)
  }

  #take(isWanted: (context: string, cut: Cut) => boolean, now?: number): ContextSummary[] {
    const taken: ContextSummary[] = []
    for (const [context, cut] of this.#contexts.snapshot()) {
      if (!cut.isNew || !isWanted(context, cut)) continue
      cut.isNew = false
      if (now !== undefined) cut.sentAt = now
      const { ts, thoughts, phases } = cut
      taken.push({ context, ts, payload: { thoughts, phases: [...phases] } })
    }
    return taken
  }
}

const isEnd = (kind: string): boolean => kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel
