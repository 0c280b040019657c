import { setTimeout as delay } from 'node:timers/promises'
import { LogError } from '@meup/gateway'
import type { Nats } from './connect.js'
import { streamTexts } from './errors.js'
import type { Mailbox } from './mailbox.js'
import { asNatsError, getApiCode } from './nats-error.js'

const wrongLastSequence = 10071
const [maxAttempts, retryMs] = [20, 100]

/**
 * Assigns spaces to sequencing gateways, so that two gateways rarely write to one log. Safety does not depend on it: the stream
 * refuses a write after another writer's. A gateway that does not answer for two seconds loses its spaces.
 */
export class Owners {
  readonly #nats: Nats
  readonly #mailbox: Mailbox
  readonly #claimed = new Map<string, number>()

  constructor(nats: Nats, mailbox: Mailbox) {
    this.#nats = nats
    this.#mailbox = mailbox
  }

  /** Returns the owner of the space: this gateway, unless another live one has it. */
  async claim(space: string): Promise<string> {
    try {
      for (let i = 0; i < maxAttempts; i++) {
        const owner = await this.#attempt(space)
        if (owner !== undefined) return owner
        await delay(retryMs)
      }
    } catch (error) {
      throw asNatsError(error, `claiming the space ${space}`)
    }
    throw new LogError('unavailable', streamTexts.contested, { space })
  }

  async release(space: string): Promise<void> {
    const revision = this.#claimed.get(space)
    if (revision === undefined || this.#nats.connection.isClosed()) return
    this.#claimed.delete(space)
    try {
      await this.#nats.owners.delete(space, { previousSeq: revision })
    } catch {
      // The failure is harmless: another gateway has already claimed the space, or will claim it when this gateway does not
      // answer.
    }
  }

  async #attempt(space: string): Promise<string | undefined> {
    const { owners } = this.#nats
    const { self } = this.#mailbox
    const entry = await owners.get(space)
    const owner = entry?.operation === 'PUT' ? entry.string() : undefined
    if (entry !== null && owner === self) {
      this.#claimed.set(space, entry.revision) // The reply to an earlier claim of this gateway may have been lost.
      return self
    }
    if (owner !== undefined && (await this.#mailbox.isAlive(owner))) return owner
    try {
      const revision =
        entry === null ? await owners.create(space, self) : await owners.update(space, self, entry.revision)
      this.#claimed.set(space, revision)
      return self
    } catch (error) {
      if (getApiCode(error) !== wrongLastSequence) throw error
      return undefined
    }
  }
}
