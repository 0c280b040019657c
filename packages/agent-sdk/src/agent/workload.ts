import { type AnyEnvelope, GATEWAY, Kind } from '@meup/protocol'
import type { Turn } from './turn.js'

/** Turns whose durations count. */
const recent = 20

/** What an agent is working on, and has worked on. */
export class Workload {
  /** When each turn that is being worked on was begun, in milliseconds since the epoch. */
  readonly #turns = new Map<Turn, number>()
  /** Runs of this participant that are open. */
  readonly #runs = new Set<string>()
  #durations: number[] = []
  #messages = 0
  #isClosed = false
  #waiting: (() => void)[] = []

  begin(turn: Turn): void {
    this.#turns.set(turn, Date.now())
    this.#messages++
  }

  end(turn: Turn): void {
    const begun = this.#turns.get(turn)
    if (begun === undefined) return
    this.#durations = [...this.#durations, Date.now() - begun].slice(-recent)
    this.#turns.delete(turn)
    if (this.#turns.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** What this participant says and thinks outside its turns belongs to its work, too. */
  take(envelope: AnyEnvelope, me: string): void {
    const { kind, from, id, context } = envelope
    if (from !== me && from !== GATEWAY) return
    if (kind === Kind.chat) this.#messages++
    else if (kind === Kind.reasoningStart && context === undefined) this.#runs.add(id)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) {
      if (context !== undefined) this.#runs.delete(context)
    }
  }

  get isIdle(): boolean {
    return this.#turns.size === 0
  }

  /** Contexts of the runs that are open. */
  get runs(): string[] {
    return [...this.#runs]
  }

  /** Questions that were taken up, and what this participant has said. */
  get messages(): number {
    return this.#messages
  }

  /** Milliseconds that a turn takes on average; `undefined` before the first one has ended. */
  get latencyMs(): number | undefined {
    const { length } = this.#durations
    if (length === 0) return undefined
    return Math.round(this.#durations.reduce((sum, each) => sum + each, 0) / length)
  }

  /** Nothing more is begun. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
  }

  abort(reason: string): void {
    for (const turn of this.#turns.keys()) turn.abort(reason)
  }

  /** Resolves when no turn is being worked on, or after so many milliseconds. */
  async idle(withinMs: number): Promise<void> {
    if (this.isIdle) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  forget(): void {
    this.#durations = []
    this.#messages = 0
  }
}
