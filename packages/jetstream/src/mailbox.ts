import { setTimeout as delay } from 'node:timers/promises'
import type { LogListener, Note } from '@meup/gateway'
import type { Msg, Subscription } from '@nats-io/transport-node'
import { nanoid } from 'nanoid'
import { isNobodyThere, type Nats, requestMs } from './connect.js'

type Listener = Pick<LogListener<never>, 'asked' | 'told'>

const newline = 0x0a

/** What gateways say to each other. A gateway has one address, by which it is found as long as it lives. */
export class Mailbox {
  /** Names this gateway as long as it runs. */
  readonly self = nanoid()
  readonly #nats: Nats
  readonly #listeners = new Map<string, Listener>()
  readonly #pulse: HealthProbe

  constructor(nats: Nats) {
    this.#nats = nats
    const { connection } = nats
    this.#pulse = new HealthProbe((gateway, timeout) =>
      connection.request(normalizeAddress(gateway), '', { timeout }),
    )
    void this.#receive(connection.subscribe(normalizeAddress(this.self)))
    void this.#forgetAtReconnect()
  }

  /** Hears what is said about a space, to this gateway or to everyone. Gives how to end that. */
  listen(space: string, listener: Listener): () => void {
    const everyone = this.#nats.connection.subscribe(everyoneOf(space))
    this.#listeners.set(space, listener)
    void this.#receive(everyone)
    return () => {
      this.#listeners.delete(space)
      if (!this.#nats.connection.isClosed()) everyone.unsubscribe()
    }
  }

  async ask(gateway: string, space: string, note: Note): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#nats.connection.request(normalizeAddress(gateway), this.#encode(space, note), {
      timeout: requestMs,
    })
    return answer.json()
  }

  /** Whether a gateway answers: `false` at once where nobody is there, and after two seconds where it is silent. */
  lives(gateway: string): Promise<boolean> {
    return this.#pulse.lives(gateway)
  }

  tell(gateway: string, space: string, note: Note): void {
    if (this.#nats.connection.isClosed()) return
    const address = gateway === 'all' ? everyoneOf(space) : normalizeAddress(gateway)
    this.#nats.connection.publish(address, this.#encode(space, note))
  }

  async #receive(messages: Subscription): Promise<void> {
    for await (const message of messages) this.#take(message)
  }

  async #forgetAtReconnect(): Promise<void> {
    for await (const { type } of this.#nats.connection.status())
      if (type === 'reconnect') this.#pulse.forget()
  }

  #take(message: Msg): void {
    if (message.data.length === 0) {
      message.respond()
      return
    }
    const { space, sender, note } = decode(message.data)
    this.#pulse.heard(sender)
    const listener = this.#listeners.get(space)
    if (message.reply) message.respond(JSON.stringify(listener?.asked(note) ?? { follows: true }))
    else if (sender !== this.self) listener?.told(note)
  }

  #encode(space: string, { head, body }: Note): Uint8Array {
    const text = Buffer.from(`${JSON.stringify({ space, sender: this.self, head })}\n`)
    return body === undefined ? text : Buffer.concat([text, body])
  }
}

const normalizeAddress = (gateway: string): string => `meup.gw.${gateway}.cmd`
const everyoneOf = (space: string): string => `meup.all.${space}`

function decode(data: Uint8Array): { space: string; sender: string; note: Note } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const end = bytes.indexOf(newline)
  const { space, sender, head } = JSON.parse(bytes.subarray(0, end).toString())
  return { space, sender, note: { head, body: bytes.subarray(end + 1) } }
}

/** A gateway that leaves so many questions unanswered, one after the other, is silent; each waits so long [milliseconds]. */
const [questions, questionMs] = [4, 500]
/** Whoever cannot be reached is asked once more: it may be on its way from one server to another [milliseconds]. */
const againMs = 250
/** For so long nobody asks anew whether a silent gateway lives [milliseconds]. */
const believedMs = 2000

/** Whether other gateways live. It is asked once for all spaces, and for all who want to know. */
class HealthProbe {
  readonly #ask: (gateway: string, timeoutMs: number) => Promise<unknown>
  readonly #asking = new Map<string, Promise<boolean>>()
  /** When each was found to be gone or silent. */
  readonly #silent = new Map<string, number>()

  constructor(ask: (gateway: string, timeoutMs: number) => Promise<unknown>) {
    this.#ask = ask
  }

  /** It has said something. */
  heard(gateway: string): void {
    this.#silent.delete(gateway)
  }

  /** Who could ask nobody for a while knows nothing of the others. */
  forget(): void {
    this.#silent.clear()
  }

  async lives(gateway: string): Promise<boolean> {
    const since = this.#silent.get(gateway)
    if (since !== undefined && performance.now() - since < believedMs) return false
    const asking = this.#asking.get(gateway) ?? this.#find(gateway)
    this.#asking.set(gateway, asking)
    return asking
  }

  async #find(gateway: string): Promise<boolean> {
    const lives = await this.#answers(gateway)
    this.#asking.delete(gateway)
    const now = performance.now()
    for (const [other, since] of this.#silent) if (now - since >= believedMs) this.#silent.delete(other)
    if (lives) this.#silent.delete(gateway)
    else this.#silent.set(gateway, now)
    return lives
  }

  async #answers(gateway: string): Promise<boolean> {
    let wasAway = false
    for (let i = 0; i < questions; i++) {
      try {
        await this.#ask(gateway, questionMs)
        return true
      } catch (error) {
        if (!isNobodyThere(error)) continue
        if (wasAway) return false
        wasAway = true
        await delay(againMs)
      }
    }
    return false
  }
}
