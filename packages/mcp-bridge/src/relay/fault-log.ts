import type { Fault } from './read-message.js'

/** Maximum kinds of faults that are counted and logged. */
const maxKinds = 100

/**
 * Logs skipped messages of a program: the first of each kind with its text, then their number at 10, 100, 1,000 …, and at the
 * end.
 */
export class FaultLog {
  readonly #log: (line: string) => void
  readonly #sender: string
  readonly #counts = new Map<string, { total: number; reported: number }>()

  /** `sender`: the kind of program in log lines, such as "server". */
  constructor(log: (line: string) => void, sender: string) {
    this.#log = log
    this.#sender = sender
  }

  report({ problem, text, kind = problem }: Pick<Fault, 'problem' | 'text' | 'kind'>): void {
    const count = this.#counts.get(kind)
    if (count !== undefined) {
      count.total++
      if (count.total === count.reported * 10) this.#reportCount(kind, count)
    } else if (this.#counts.size < maxKinds) {
      this.#counts.set(kind, { total: 1, reported: 1 })
      this.#log(`skipped a message of the ${this.#sender}: ${problem}: ${text}`)
    }
  }

  end(): void {
    for (const [kind, count] of this.#counts) {
      if (count.total > count.reported) this.#reportCount(kind, count)
    }
  }

  #reportCount(kind: string, count: { total: number; reported: number }): void {
    count.reported = count.total
    this.#log(`skipped ${count.total} messages of the ${this.#sender} so far: ${kind}`)
  }
}
