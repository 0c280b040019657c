import { setTimeout as delay } from 'node:timers/promises'
import { LogError } from '@meup/gateway'
import { apiCodeOf, asNatsError, type Nats } from './connect.js'
import type { Mailbox } from './mailbox.js'

const wrongLastSequence = 10071
const [attempts, betweenMs] = [20, 100]

/**
 * Which gateway sequences which space. That is for order, not for safety: whoever writes what another has written behind is
 * refused by the stream. A gateway that answers nobody for two seconds has lost its spaces.
 */
export class Owners {
  readonly #nats: Nats
  readonly #mailbox: Mailbox
  readonly #claimed = new Map<string, number>()

  constructor(nats: Nats, mailbox: Mailbox) {
    this.#nats = nats
    this.#mailbox = mailbox
  }

  /** Gives the gateway that has the space from now on: this one, unless another lives that has it. */
  async claim(space: string): Promise<string> {
    try {
      for (let i = 0; i < attempts; i++) {
        const owner = await this.#attempt(space)
        if (owner !== undefined) return owner
        await delay(betweenMs)
      }
    } catch (error) {
      throw asNatsError(error, `claiming the space ${space}`)
    }
    const message = `The space ${space} changes hands again and again. See which gateways run for it.`
    throw new LogError('unavailable', message)
  }

  async release(space: string): Promise<void> {
    const revision = this.#claimed.get(space)
    if (revision === undefined || this.#nats.connection.isClosed()) return
    this.#claimed.delete(space)
    try {
      await this.#nats.owners.delete(space, { previousSeq: revision })
    } catch {
      // Somebody else has it already, or finds out that nobody answers here.
    }
  }

  async #attempt(space: string): Promise<string | undefined> {
    const { owners } = this.#nats
    const { self } = this.#mailbox
    const entry = await owners.get(space)
    const owner = entry?.operation === 'PUT' ? entry.string() : undefined
    if (entry !== null && owner === self) {
      this.#claimed.set(space, entry.revision) // Also where the answer to this gateway's claim was lost.
      return self
    }
    if (owner !== undefined && (await this.#mailbox.lives(owner))) return owner
    try {
      const revision =
        entry === null ? await owners.create(space, self) : await owners.update(space, self, entry.revision)
      this.#claimed.set(space, revision)
      return self
    } catch (error) {
      if (apiCodeOf(error) !== wrongLastSequence) throw error
      return undefined
    }
  }
}
