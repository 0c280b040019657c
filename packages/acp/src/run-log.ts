import type { Reasoning } from '@meup/agent-sdk'
import { splitThoughts, ThoughtStream } from '@meup/agent-sdk/internal'
import type { PlanEntry } from './agent-updates.js'

/** Characters and entries that may wait for the log: an agent that says more says it faster than it can be read. */
const [maxWaitingChars, maxWaiting] = [250_000, 500]
/** Milliseconds in which what comes after the answer is gathered into one thought. */
const lateMs = 500

const marks: Readonly<Record<string, string>> = { completed: '☑', in_progress: '◐' }

interface RunLogParts {
  readonly run: Reasoning
  /** A line for the operator. */
  readonly log: (line: string) => void
  /** The agent says more than can be logged. Called each time. */
  readonly onExcess: (what: string) => void
}

/** Logs the thoughts, plans and errors of an agent in a run, in their order. */
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
      true, // The queue of this log is bounded.
    )
  }

  /** A piece of what it thinks. */
  push(text: string): void {
    if (!this.#hasRoom(text.length)) return
    this.#thoughts.push(text)
    // A thought after the answer has no end that shows that it is complete.
    if (!this.#isLate || this.#late !== undefined) return
    this.#late = setTimeout(() => {
      this.#late = undefined
      this.#inOrder(() => this.#thoughts.end(), 0)
    }, lateMs)
    this.#late.unref()
  }

  /** A thought as a whole. */
  say(text: string): void {
    if (text === '' || !this.#hasRoom(text.length)) return
    this.#inOrder(async () => {
      await this.#thoughts.end()
      for (const piece of splitThoughts(text)) await this.#parts.run.thought(piece)
    }, text.length)
  }

  /** Logs the last of several plans that arrive faster than they can be logged. */
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

  /** Something that everybody is to know. */
  report(text: string): void {
    this.#parts.log(text)
    if (this.#waiting < maxWaiting)
      this.#inOrder(() => this.#parts.run.thought(text, { phase: 'error' }), text.length)
  }

  /** Resolves when all of that is in the log. */
  flush(): Promise<void> {
    this.#inOrder(() => this.#thoughts.end(), 0)
    return this.#ordered
  }

  /** The answer is there. */
  close(): Promise<void> {
    this.#isLate = true
    return this.flush()
  }

  onError(error: unknown): void {
    if (!this.#parts.run.signal.aborted) this.#parts.log(`a part of the log is missing: ${String(error)}`)
  }

  /** Characters that are kept until they are logged. */
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
