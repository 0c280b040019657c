import type { Reasoning } from '@meup/agent-sdk'
import { splitThoughts, ThoughtStream } from '@meup/agent-sdk/internal'
import type { PlanEntry } from './agent-updates.js'

/** Waiting characters and entries; an agent that exceeds them writes faster than anyone can read. */
const [maxWaitingChars, maxWaiting] = [250_000, 500]
/** Milliseconds for which text after the answer is collected into one thought. */
const lateMs = 500

const marks: Readonly<Record<string, string>> = { completed: '☑', in_progress: '◐' }

interface RunLogParts {
  readonly run: Reasoning
  /** Receives lines for the operator. */
  readonly log: (line: string) => void
  /** The agent writes more than can be logged. Called each time. */
  readonly onExcess: (what: string) => void
}

/** Logs the thoughts, plans and errors of an agent in a run, in order. */
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
      true, // This log's own queue is bounded.
    )
  }

  /** Adds a piece of a thought. */
  push(text: string): void {
    if (!this.#hasRoom(text.length)) return
    this.#thoughts.push(text)
    // A thought after the answer has no end marker, so it is sent after a delay.
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

  /** Adds a public report. */
  report(text: string): void {
    this.#parts.log(text)
    if (this.#waiting < maxWaiting)
      this.#inOrder(() => this.#parts.run.thought(text, { phase: 'error' }), text.length)
  }

  /** Resolves when everything so far is logged. */
  flush(): Promise<void> {
    this.#inOrder(() => this.#thoughts.end(), 0)
    return this.#ordered
  }

  /** Call once the answer is sent. */
  close(): Promise<void> {
    this.#isLate = true
    return this.flush()
  }

  onError(error: unknown): void {
    if (!this.#parts.run.signal.aborted) this.#parts.log(`a part of the log is missing: ${String(error)}`)
  }

  /** Characters that wait to be logged. */
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
