import type { SpaceClient } from '@meup/agent-sdk'
import { describeState, onOneLine, type TurnEvent } from '@meup/folds'
import { mayAnswer } from '../lib/away.js'

type Asking = Pick<SpaceClient, 'id' | 'participants' | 'gatewayTime'>

/** Prints a line for everything that delays an answer until a person acts: a pause of the agent, and a proposal. */
export class DelayNotices {
  readonly #space: Asking
  /** The asked participants; if empty, everyone who may answer. */
  readonly #names: readonly string[]
  readonly #notify: (line: string) => void
  readonly #paused = new Set<string>()

  constructor(space: Asking, names: readonly string[], notify: (line: string) => void) {
    this.#space = space
    this.#names = names
    this.#notify = notify
  }

  /** Reports asked participants that are paused, each pause once. */
  checkPauses(): void {
    for (const each of this.#space.participants) {
      const isAsked = this.#names.length === 0 ? mayAnswer(this.#space, each) : this.#names.includes(each.id)
      const { name, text } = describeState(each, this.#space.gatewayTime())
      const isPaused = isAsked && name === 'paused'
      const id = onOneLine(each.id)
      if (isPaused && !this.#paused.has(each.id))
        this.#notify(`${id} is ${text}; meup resume ${id} lets it answer`)
      if (isPaused) this.#paused.add(each.id)
      else this.#paused.delete(each.id)
    }
  }

  /** Reports a proposal that waits for a decision. A progress line shows that too. */
  onEvent(event: TurnEvent): void {
    if (event.type !== 'proposal') return
    const { agent, call } = event
    this.#notify(
      `${onOneLine(agent)} waits for a decision on ${onOneLine(call.toolName)}; meup proposals ls shows it`,
    )
  }
}
