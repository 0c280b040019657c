import { setTimeout as delay } from 'node:timers/promises'
import { LogError, type Row } from '@meup/gateway'
import type { ConsumerMessages, JetStreamClient, JsMsg, StoredMsg } from '@nats-io/jetstream'
import { type BatchHead, decodeHead, decodeRows } from './batch.js'
import { apiCodeOf, asNatsError, type Nats, promptMs, requestMs } from './connect.js'
import type { Place } from './streams.js'

/** One message of a space's subject. */
export interface StoredBatch {
  /** Its place in the stream, which other spaces share. */
  readonly at: number
  readonly head: BatchHead
  rows(): Row[]
}

/** What a batch is written with. */
interface Writing {
  readonly data: Uint8Array
  readonly nonce: string
  /** Place of the last message of the subject; 0 = there is none. */
  readonly expected: number
}

/** For so long a batch is tried again before it is refused, in milliseconds. */
const patienceMs = 5000
const betweenMs = 100
/** So often the end of a subject is asked for. */
const attempts = 3
/** So many messages are read one by one; where there are more, all at once. */
const few = 32
const wrongLastSequence = 10071
const bytesOfHeaders = 1024

/** The messages of one space in its stream. What is decided by them is read from the leader. */
export class SubjectLog {
  readonly place: Place
  readonly #nats: Nats

  constructor(nats: Nats, place: Place) {
    this.#nats = nats
    this.place = place
  }

  /** Bytes of one message at most. */
  get maxBytes(): number {
    return (this.#nats.connection.info?.max_payload ?? 1024 * 1024) - bytesOfHeaders
  }

  /** The newest, as the leader has it. */
  async tip(): Promise<StoredBatch | undefined> {
    for (let i = 1; ; i++) {
      try {
        return await this.#tip()
      } catch (error) {
        if (i === attempts || !isUnavailable(error)) throw error
        await delay(betweenMs)
      }
    }
  }

  async #tip(): Promise<StoredBatch | undefined> {
    const { stream, subject } = this.place
    try {
      const stored = await this.#nats.prompt.streams.getMessage(stream, { last_by_subj: subject })
      return stored === null ? undefined : this.stored(stored.seq, stored.data)
    } catch (error) {
      throw asNatsError(error, `reading the end of ${subject}`)
    }
  }

  /**
   * Appends one message behind the expected one. Gives its place once the stream has it. Rejects with `fenced` where somebody
   * else was faster, and `unavailable` where it is uncertain.
   */
  async write({ data, nonce, expected }: Writing): Promise<number> {
    const { stream, subject } = this.place
    const until = performance.now() + patienceMs
    // A large batch may take long at first; whoever writes it again waits for a new leader.
    for (let timeout = requestMs; ; timeout = promptMs) {
      let failure: unknown
      try {
        const expect = { streamName: stream, lastSubjectSequence: expected }
        const { duplicate, seq } = await this.#nats.js.publish(subject, data, {
          msgID: nonce,
          timeout,
          expect,
        })
        if (!duplicate) return seq
      } catch (error) {
        failure = error
      }
      try {
        const tip = await this.#tip()
        if (tip?.head.nonce === nonce) return tip.at
        if ((tip?.at ?? 0) !== expected) throw fenced(subject, failure)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        failure ??= error
      }
      const isOver = performance.now() > until || this.#nats.connection.isClosed()
      if (isOver) throw asNatsError(failure, `writing to ${subject}`)
      await delay(apiCodeOf(failure) === wrongLastSequence ? 0 : betweenMs)
    }
  }

  /** The messages after a place, up to one that is there. */
  async *after(place: number, through: number): AsyncGenerator<StoredBatch, void> {
    let next = place + 1
    for (let i = 0; i < few && next <= through; i++) {
      const batch = await this.#from(next, through)
      yield batch
      next = batch.at + 1
    }
    if (next > through) return
    for await (const { seq, data } of bulk(this.#nats.js, this.place, next, through)) {
      yield this.stored(seq, data)
    }
  }

  /** The first message that has this row or a later one; `tip` has. */
  async locate(row: number, tip: StoredBatch): Promise<number> {
    let [low, high] = [1, tip.at]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const { at, head } = await this.#from(middle, tip.at)
      if (head.first + head.count > row) high = middle
      else low = at + 1
    }
    return (await this.#from(low, tip.at)).at
  }

  /** Removes the messages before this place. */
  async purge(place: number): Promise<void> {
    const { stream, subject } = this.place
    await this.#nats.manager.streams.purge(stream, { filter: subject, seq: place })
  }

  stored(at: number, data: Uint8Array): StoredBatch {
    const name = `Message ${at} of the stream ${this.place.stream} (${this.place.subject})`
    return { at, head: decodeHead(data, name), rows: () => decodeRows(data, name) }
  }

  /** The first message from a place on. A server that is behind may not have it yet. */
  async #from(place: number, through: number): Promise<StoredBatch> {
    const { stream, subject } = this.place
    const until = performance.now() + patienceMs
    let failure: unknown = new Error(`no message from ${place} to ${through}`)
    while (performance.now() < until) {
      try {
        const query = { seq: place, next_by_subj: subject }
        const found: StoredMsg | null = await this.#nats.manager.direct.getMessage(stream, query)
        if (found !== null) return this.stored(found.seq, found.data)
      } catch (error) {
        if (error instanceof LogError) throw error
        failure = error
      }
      await delay(betweenMs)
    }
    throw asNatsError(failure, `reading ${subject}`)
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof LogError && error.code === 'unavailable'

function fenced(subject: string, cause: unknown): LogError {
  const message = `Another gateway has written to ${subject}. This one reads what that wrote before it goes on.`
  return new LogError('fenced', message, { cause })
}

/** A consumer that gives nothing for so long is dead: its server may have gone [milliseconds]. */
const watchdogMs = 2000
const atOnce = 2000
/** Fresh consumers without a message between. */
const maxIdleConsumers = 10

/** Reads much of a subject, fast. Whenever the consumer stands still a fresh one goes on from there. */
async function* bulk(
  js: JetStreamClient,
  { stream, subject }: Place,
  from: number,
  through: number,
): AsyncGenerator<JsMsg, void> {
  let [next, failures] = [from, 0]
  let reason: unknown
  while (next <= through) {
    if (failures === maxIdleConsumers) {
      const message = `The stream ${stream} cannot be read from ${next} on: ${String(reason)}. It is tried again.`
      throw new LogError('unavailable', message, { cause: reason })
    }
    let messages: ConsumerMessages | undefined
    try {
      const consumer = await js.consumers.get(stream, {
        filter_subjects: subject,
        deliver_policy: 'by_start_sequence',
        opt_start_seq: next,
      })
      messages = await consumer.consume({ max_messages: atOnce })
      const iterator = messages[Symbol.asyncIterator]()
      while (next <= through) {
        const message = await watched(iterator)
        if (message === undefined) throw new Error(`nothing for ${watchdogMs} ms`)
        next = message.seq + 1
        failures = 0
        yield message
      }
    } catch (error) {
      reason = error
      failures++
      await delay(watchdogMs / maxIdleConsumers)
    } finally {
      // An answer to this may never come.
      void messages?.close().catch(() => undefined)
    }
  }
}

async function watched(iterator: AsyncIterator<JsMsg>): Promise<JsMsg | undefined> {
  const stop = new AbortController()
  const bell = delay(watchdogMs, undefined, { signal: stop.signal }).catch(() => undefined)
  const step = iterator.next().then(({ value, done }) => (done ? undefined : (value as JsMsg)))
  step.catch(() => undefined) // Where the bell was first, nobody waits for it any more.
  try {
    return await Promise.race([step, bell])
  } finally {
    stop.abort()
  }
}
