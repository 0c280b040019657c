import { Bounded } from '@meup/folds'
import { type Envelope, GATEWAY, type Hiding, isThought } from '@meup/protocol'
import type { OpenContextCounts } from './context-counts.js'

/** A path that no reasoning opened [MEUP-2.5], with counts of public envelopes in it and below. */
export interface FreePathReport {
  readonly context: string
  readonly state: 'free'
  readonly startedAt: string
  readonly counts: OpenContextCounts
}

interface Part {
  readonly startedAt: string
  readonly envelopes: number
  /** Seq of the last envelope that this part counts. */
  readonly lastSeq: number
  readonly contributors: readonly string[]
}

/** Thoughts are counted separately, because they may be withheld [MEUP-9.6]. */
interface FreePath {
  readonly said?: Part
  readonly thoughts?: Part
  /** Thoughts of the owner of the enclosing run. */
  readonly ownThoughts?: Part
}

export type FreePathsSnapshot = readonly (readonly [path: string, free: FreePath])[]

/** Limits: listed paths, and counted contributors per path. */
const [maxPaths, maxContributors] = [1000, 1000]

/** The latest free paths. A context with a private start is a free path for readers who may not read the start. */
export class FreePaths {
  readonly #paths = new Bounded<FreePath>(maxPaths)

  /** `owner`: owner of the enclosing run. */
  count(path: string, { kind, from, ts, seq = 0 }: Envelope, owner: string | undefined): void {
    const name = !isThought(kind) ? 'said' : from === owner ? 'ownThoughts' : 'thoughts'
    const free = this.#paths.get(path) ?? {}
    const { startedAt = ts, envelopes = 0, contributors = [] } = free[name] ?? {}
    const isNew = from !== GATEWAY && !contributors.includes(from) && contributors.length < maxContributors
    const part = {
      ...{ startedAt, envelopes: envelopes + 1, lastSeq: seq },
      contributors: isNew ? [...contributors, from] : contributors,
    }
    this.#paths.renew(path, { ...free, [name]: part })
  }

  delete(path: string): void {
    this.#paths.delete(path)
  }

  /** Paths with envelopes at or after this seq. */
  report(oldest: number, getRun: (path: string) => Hiding | undefined): FreePathReport[] {
    return this.#paths.snapshot().flatMap(([context, free]): FreePathReport[] => {
      const { owner, hiddenBy = [] } = getRun(context) ?? {}
      const isAllHidden = hiddenBy.some((id) => id !== owner)
      const thoughts = [
        ...(isAllHidden ? [] : [free.thoughts]),
        ...(hiddenBy.length > 0 ? [] : [free.ownThoughts]),
      ].filter((part) => part !== undefined)
      const parts = free.said === undefined ? thoughts : [free.said, ...thoughts]
      const [startedAt] = parts.map((part) => part.startedAt).sort()
      if (startedAt === undefined || parts.every(({ lastSeq }) => lastSeq < oldest)) return []
      const counts = {
        envelopes: sum(parts),
        thoughts: sum(thoughts),
        contributors: new Set(parts.flatMap(({ contributors }) => contributors)).size,
      }
      return [{ context, state: 'free', startedAt, counts }]
    })
  }

  snapshot(): FreePathsSnapshot {
    return this.#paths.snapshot()
  }

  restore(snapshot: FreePathsSnapshot): void {
    this.#paths.restore(snapshot)
  }
}

const sum = (parts: readonly Part[]): number => parts.reduce((total, { envelopes }) => total + envelopes, 0)
