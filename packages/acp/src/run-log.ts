import type { Reasoning } from '@meup/agent-sdk'
import { splitThoughts, ThoughtStream } from '@meup/agent-sdk/internal'
import type { PlanEntry } from './agent-updates.js'

/** Maximum waiting characters and entries. An agent that exceeds them must be stopped. */
const [maxWaitingChars, maxWaiting] = [250_000, 500]
/** Milliseconds for which late text is collected into one thought. */
const lateMs = 500

const marks: Readonly<Record<string, string>> = { completed: '☑', in_progress: '◐' }

interface RunLogParts {
  readonly run: Reasoning
  /** Writes a line to the log of the program that runs the agent. */
  readonly log: (line: string) => void
  /** Called whenever more waits to be logged than the limits allow. */
  readonly onExcess: (what: string) => void
}

/** Logs an agent's thoughts, plans and errors in a run, in order. */
export class RunLog {
  readonly #parts: RunLogParts
  readonly #thoughts: ThoughtStream
  #ordered = Promise.resolve()
  #waiting = 0
  #waitingChars = 0
  #plan = ''
  #next: readonly PlanEntry[] | undefined
  #isLate = false
  #late: NodeJS.Timeout | undefined

  constructor(parts: RunLogParts) {
    this.#parts = parts
    const after = (ms: number, task: () => void): (() => void) => {
      const timer = setTimeout(task, ms)
      return () => clearTimeout(timer)
    }
    this.#thoughts = new ThoughtStream(
      (text) => parts.run.thought(text),
      after,
      (error) => this.onError(error),
      true, // Disables the stream's own limit: `#hasRoom` limits the queue.
    )
  }

  /** Adds a part of a thought. */
  push(text: string): void {
    if (!this.#hasRoom(text.length)) return
    this.#thoughts.push(text)
    // After the answer no event ends a thought, so a timer ends it.
    if (!this.#isLate || this.#late !== undefined) return
    this.#late = setTimeout(() => {
      this.#late = undefined
      this.#inOrder(() => this.#thoughts.end(), 0)
    }, lateMs)
    this.#late.unref()
  }

  /** Adds a complete thought. */
  say(text: string): void {
    if (text === '' || !this.#hasRoom(text.length)) return
    this.#inOrder(async () => {
      await this.#thoughts.end()
      for (const piece of splitThoughts(text)) await this.#parts.run.thought(piece)
    }, text.length)
  }

  /** Logs a plan. If several plans arrive before the first one can be logged, logs only the last of them. */
  plan(entries: readonly PlanEntry[]): void {
    const isWaiting = this.#next !== undefined
    this.#next = entries
    if (isWaiting || !this.#hasRoom(0)) return
    this.#inOrder(async () => {
      await this.#thoughts.end()
      const plan = this.#next ?? []
      this.#next = undefined
      const text = plan.map(({ content, status }) => `${marks[status] ?? '☐'} ${content}`).join('\n')
      if (text === this.#plan) return
      this.#plan = text
      await this.#parts.run.thought(text, { phase: 'plan', metadata: { plan } })
    }, 0)
  }

  /** Logs a problem as a thought in the run, and as a line in the log of the program that runs the agent. */
  report(text: string): void {
    this.#parts.log(text)
    if (this.#waiting < maxWaiting)
      this.#inOrder(() => this.#parts.run.thought(text, { phase: 'error' }), text.length)
  }

  /** Resolves when all entries so far are logged. */
  flush(): Promise<void> {
    this.#inOrder(() => this.#thoughts.end(), 0)
    return this.#ordered
  }

  /** Must be called after the answer. Resolves when all entries so far are logged. */
  close(): Promise<void> {
    this.#isLate = true
    return this.flush()
  }

  onError(error: unknown): void {
    if (!this.#parts.run.signal.aborted) this.#parts.log(`a part of the log is missing: ${String(error)}`)
  }

  /** Number of characters that are not logged yet. */
  get waitingChars(): number {
    return this.#waitingChars + this.#thoughts.waitingChars
  }

  #hasRoom(chars: number): boolean {
    if (this.waitingChars + chars <= maxWaitingChars && this.#waiting < maxWaiting) return true
    this.#parts.onExcess('it thought faster than thoughts can be logged')
    return false
  }

  #inOrder(task: () => Promise<unknown>, chars: number): void {
    this.#waiting++
    this.#waitingChars += chars
    this.#ordered = this.#ordered
      .then(task)
      .catch((error: unknown) => this.onError(error))
      .then(() => {
        this.#waiting--
        this.#waitingChars -= chars
      })
  }
}
