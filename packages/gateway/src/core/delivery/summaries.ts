import { Bounded } from '@meup/folds'
import { Kind, type Phase, type SummaryPayload } from '@meup/protocol'
import type { Entry } from '../../ports/envelope-log.js'

/** Counts of the thoughts of one context that the connection was not sent. */
interface Cut {
  thoughts: number
  readonly phases: Set<Phase>
  /** Time of the last thought. */
  ts: string
  /** When the last summary was sent, by the log's clock in milliseconds since the epoch; 0 = never. */
  sentAt: number
  isNew: boolean
}

export interface ContextSummary {
  readonly context: string
  readonly ts: string
  readonly payload: SummaryPayload
}

/** Contexts that are counted; beyond them the oldest is dropped. */
const maxContexts = 256
/** Milliseconds between two summaries of an open context. */
const intervalMs = 1000

/** Counts the thoughts that one connection was not sent, by context [MEUP-9.9]. */
export class Summaries {
  readonly #contexts = new Bounded<Cut>(maxContexts)

  /** Counts a thought that was filtered out. */
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

  /** Returns the changed summaries of the context that this entry may end, and of its nested contexts. */
  takeBefore({ kind, context }: Pick<Entry, 'kind' | 'context'>): readonly ContextSummary[] {
    if (context === undefined || !isEnd(kind)) return []
    return this.#take((each) => each === context || each.startsWith(`${context}/`))
  }

  /** Returns the summaries due at a time of the log, in milliseconds since the epoch. */
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
