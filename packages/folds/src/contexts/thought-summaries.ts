import { type Envelope, Kind, type Phase, type SummaryPayload, type WelcomePayload } from '@meup/protocol'
import { Bounded } from '../bounded.js'

/** A summary of thoughts that were not sent: their number, and the distinct phases. */
export interface ThoughtSummary {
  readonly thoughts: number
  readonly phases: readonly Phase[]
}

interface Counted extends ThoughtSummary {
  /** The number of thoughts counted before the last welcome, after which the gateway counts from 0. */
  readonly before: number
}

export type ThoughtSummariesSnapshot = readonly (readonly [context: string, counted: Counted])[]

const maxContexts = 1000

/** Counts of thoughts in contexts for which the gateway sends summaries only [MEUP-9.9]. */
export class ThoughtSummaries {
  #counted = new Bounded<Counted>(maxContexts)

  /** Applies a count of thoughts in a context, and returns the context. */
  apply({ kind, context, payload }: Envelope): string | undefined {
    if (kind !== Kind.observeSummary || context === undefined) return undefined
    const { thoughts = 0, phases = [] } = payload as Partial<SummaryPayload>
    const known = this.#counted.get(context)
    const before = known?.before ?? 0
    this.#counted.set(context, {
      before,
      thoughts: before + thoughts,
      phases: [...new Set([...(known?.phases ?? []), ...phases])],
    })
    return context
  }

  /**
   * Keeps the counts so far, to which later ones are added: the gateway counts from 0 after each welcome. Drops them if the
   * gateway no longer sends summaries in place of thoughts.
   */
  onWelcome({ subscription }: Pick<WelcomePayload, 'subscription'>): void {
    const kept = this.#counted.snapshot()
    this.#counted = new Bounded(maxContexts)
    if (subscription?.reasoning !== 'summary') return
    for (const [context, counted] of kept)
      this.#counted.set(context, { ...counted, before: counted.thoughts })
  }

  snapshot(): ThoughtSummariesSnapshot {
    return this.#counted.snapshot()
  }

  restore(snapshot: ThoughtSummariesSnapshot): void {
    this.#counted.restore(snapshot)
  }

  /** The summary of a context and those nested in it. */
  get(context: string): ThoughtSummary | undefined {
    let thoughts = 0
    const phases = new Set<Phase>()
    for (const [at, counted] of this.#counted.snapshot()) {
      if (at !== context && !at.startsWith(`${context}/`)) continue
      thoughts += counted.thoughts
      for (const phase of counted.phases) phases.add(phase)
    }
    return thoughts === 0 ? undefined : { thoughts, phases: [...phases] }
  }
}

/** A summary in words: `12 thoughts: plan, execute`. */
export function summaryText({ thoughts = 0, phases = [] }: Partial<ThoughtSummary>): string {
  const count = thoughts === 1 ? '1 thought' : `${thoughts} thoughts`
  return phases.length === 0 ? count : `${count}: ${phases.join(', ').replaceAll('_', ' ')}`
}
