import { setTimeout as delay } from 'node:timers/promises'
import type { LogListener, Note } from '@meup/gateway'
import type { Msg, Subscription } from '@nats-io/transport-node'
import { nanoid } from 'nanoid'
import { type Nats, requestMs } from './connect.js'
import { isNobodyThere } from './nats-error.js'

type Listener = Pick<LogListener<never>, 'onRequest' | 'onNote'>

const newline = 0x0a

/** Messages between gateways. A gateway has one address as long as it runs. */
export class Mailbox {
  /** Identifies this gateway as long as it runs. */
  readonly self = nanoid()
  readonly #nats: Nats
  readonly #listeners = new Map<string, Listener>()
  readonly #health: HealthProbe

  constructor(nats: Nats) {
    this.#nats = nats
    const { connection } = nats
    this.#health = new HealthProbe((gateway, timeout) =>
      connection.request(normalizeAddress(gateway), '', { timeout }),
    )
    this.#receive(normalizeAddress(this.self))
    this.#forgetAtReconnect().catch((err: unknown) => this.#failed(err))
  }

  /**
   * Subscribes to messages about a space that are addressed to this gateway or to all gateways. Returns a function that
   * unsubscribes.
   */
  listen(space: string, listener: Listener): () => void {
    this.#listeners.set(space, listener)
    const everyone = this.#receive(getBroadcastAddress(space))
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

  /** Whether a gateway answers: `false` at once if no gateway listens there, and after two seconds of silence. */
  isAlive(gateway: string): Promise<boolean> {
    return this.#health.isAlive(gateway)
  }

  notify(gateway: string, space: string, note: Note): void {
    if (this.#nats.connection.isClosed()) return
    const address = gateway === 'all' ? getBroadcastAddress(space) : normalizeAddress(gateway)
    this.#nats.connection.publish(address, this.#encode(space, note))
  }

  /**
   * Handles messages as they arrive, in one order over all subjects: a frame of a guest follows the announcement that the guest
   * is present. Skips unreadable messages, because other clients of the NATS account may write to these subjects.
   */
  #receive(subject: string): Subscription {
    return this.#nats.connection.subscribe(subject, {
      callback: (failure, message) => {
        if (failure) return this.#failed(failure)
        try {
          this.#onMessage(message)
        } catch (err) {
          this.#nats.logger.warn({ subject, err }, 'a message between gateways is skipped')
        }
      },
    })
  }

  #failed(err: unknown): void {
    this.#nats.logger.error({ err }, 'messages between gateways cannot be received any more')
  }

  async #forgetAtReconnect(): Promise<void> {
    for await (const { type } of this.#nats.connection.status())
      if (type === 'reconnect') this.#health.forget()
  }

  #onMessage(message: Msg): void {
    if (message.data.length === 0) {
      message.respond()
      return
    }
    const { space, sender, note } = decode(message.data)
    this.#health.markAlive(sender)
    const listener = this.#listeners.get(space)
    if (message.reply) message.respond(JSON.stringify(listener?.onRequest(note) ?? { follows: true }))
    else if (sender !== this.self) listener?.onNote(note)
  }

  #encode(space: string, { head, body }: Note): Uint8Array {
    const text = Buffer.from(`${JSON.stringify({ space, sender: this.self, head })}\n`)
    return body === undefined ? text : Buffer.concat([text, body])
  }
}

const normalizeAddress = (gateway: string): string => `meup.gw.${gateway}.cmd`
const getBroadcastAddress = (space: string): string => `meup.all.${space}`

function decode(data: Uint8Array): { space: string; sender: string; note: Note } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const end = bytes.indexOf(newline)
  const { space, sender, head } = JSON.parse(bytes.subarray(0, end).toString())
  return { space, sender, note: { head, body: bytes.subarray(end + 1) } }
}

/** Probes without an answer after which a gateway counts as silent, and the timeout of each. */
const [maxProbes, probeTimeoutMs] = [4, 500]
/** Milliseconds before another probe of a gateway without listener, which may be reconnecting. */
const retryMs = 250
/** Milliseconds for which a silent gateway is not probed again. */
const silenceCacheMs = 2000

/** Determines whether other gateways are alive. Concurrent callers for all spaces share one probe. */
class HealthProbe {
  readonly #ask: (gateway: string, timeoutMs: number) => Promise<unknown>
  readonly #asking = new Map<string, Promise<boolean>>()
  /**
   * Time at which each gateway was last probed without an answer, by gateway. It counts as silent for `silenceCacheMs` from
   * then on.
   */
  readonly #silent = new Map<string, number>()

  constructor(ask: (gateway: string, timeoutMs: number) => Promise<unknown>) {
    this.#ask = ask
  }

  /** Call when a message of this gateway has arrived. */
  markAlive(gateway: string): void {
    this.#silent.delete(gateway)
  }

  /** Call after this gateway was disconnected: gateways that seemed silent in the meantime may be alive. */
  forget(): void {
    this.#silent.clear()
  }

  async isAlive(gateway: string): Promise<boolean> {
    const since = this.#silent.get(gateway)
    if (since !== undefined && performance.now() - since < silenceCacheMs) return false
    const asking = this.#asking.get(gateway) ?? this.#find(gateway)
    this.#asking.set(gateway, asking)
    return asking
  }

  async #find(gateway: string): Promise<boolean> {
    const isAlive = await this.#answers(gateway)
    this.#asking.delete(gateway)
    const now = performance.now()
    for (const [other, since] of this.#silent) if (now - since >= silenceCacheMs) this.#silent.delete(other)
    if (isAlive) this.#silent.delete(gateway)
    else this.#silent.set(gateway, now)
    return isAlive
  }

  async #answers(gateway: string): Promise<boolean> {
    let wasAway = false
    for (let i = 0; i < maxProbes; i++) {
      try {
        await this.#ask(gateway, probeTimeoutMs)
        return true
      } catch (error) {
        if (!isNobodyThere(error)) continue
        if (wasAway) return false
        wasAway = true
        await delay(retryMs)
      }
    }
    return false
  }
}
