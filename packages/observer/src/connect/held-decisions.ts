import type { BaseClient } from '@meup/agent-sdk/watch'
import { explainError } from './errors.js'

/** Time in which a decision about several proposals can be undone. */
const undoMs = 6000

/** A decision about several proposals that is not sent yet. */
interface HeldDecision {
  readonly ids: readonly string[]
  readonly isApproval: boolean
  /** Text such as `19 delete_file approved`. */
  readonly label: string
  /** Public reason of a rejection. */
  readonly message?: string
}

interface Decider {
  /** `undefined` while disconnected. */
  readonly client: Pick<BaseClient, 'proposals'> | undefined
  readonly onChange: () => void
  setNotice(notice: string): void
}

/** Delays decisions about several proposals, so that they can be undone. A held decision is not sent if the page is closed. */
export class HeldDecisions {
  readonly #decider: Decider
  #held: HeldDecision | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(decider: Decider) {
    this.#decider = decider
  }

  get held(): HeldDecision | undefined {
    return this.#held
  }

  has(id: string): boolean {
    return this.#held?.ids.includes(id) === true
  }

  /** Holds a decision; sends the previously held one immediately. */
  hold(decision: HeldDecision): void {
    this.#send()
    this.#held = decision
    this.#timer = setTimeout(() => this.#send(), undoMs)
    this.#decider.onChange()
  }

  undo(): void {
    clearTimeout(this.#timer)
    this.#held = undefined
    this.#decider.onChange()
  }

  #send(): void {
    clearTimeout(this.#timer)
    const held = this.#held
    this.#held = undefined
    if (held === undefined) return
    const { client } = this.#decider
    if (client === undefined) {
      this.#decider.setNotice('Nothing was decided: there is no connection.')
      return
    }
    const open = held.ids.filter((id) => client.proposals.get(id) !== undefined)
    const settled = held.ids.length - open.length
    this.#decider.setNotice(
      settled === 0 ? held.label : `${held.label}; ${settled} had been decided by others`,
    )
    const why = { reason: 'declined', ...(held.message && { message: held.message }) }
    const decide = (id: string): Promise<unknown> =>
      held.isApproval ? client.proposals.approve(id) : client.proposals.reject(id, why)
    for (const id of open)
      decide(id).catch((error: unknown) => {
        if (client.proposals.get(id) !== undefined)
          this.#decider.setNotice(`Not all were decided: ${explainError(error)}`)
      })
  }
}
