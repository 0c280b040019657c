import { setTimeout as delay } from 'node:timers/promises'
import { LogError, type Row } from '@meup/gateway'
import type { ConsumerMessages, JetStreamClient, JsMsg, StoredMsg } from '@nats-io/jetstream'
import { type BatchHead, decodeHead, decodeRows } from './batch.js'
import { type Nats, promptMs, requestMs } from './connect.js'
import { streamTexts } from './errors.js'
import { asNatsError, getApiCode } from './nats-error.js'
import type { StreamNames } from './streams.js'

/** One message of a space's subject, which contains a batch of rows of the log. */
export interface StoredBatch {
  /** The message's sequence in the stream, which several spaces share. */
  readonly at: number
  readonly head: BatchHead
  rows(): Row[]
}

interface Writing {
  readonly data: Uint8Array
  readonly nonce: string
  /** Sequence that the subject's last message must have; 0 = the subject must be empty. */
  readonly expected: number
}

/** Milliseconds for which writes and reads are retried. */
const retryTimeoutMs = 5000
const retryMs = 100
/** Maximum attempts to read the newest message of a subject. */
const maxAttempts = 3
/** Messages that are read with single requests; further ones are read with a consumer. */
const maxSingleReads = 32
const wrongLastSequence = 10071
const bytesOfHeaders = 1024

/** The messages of one space in its stream. Reads on which a decision depends go to the stream's leader. */
export class SubjectLog {
  readonly place: StreamNames
  readonly #nats: Nats

  constructor(nats: Nats, place: StreamNames) {
    this.#nats = nats
    this.place = place
  }

  /** Maximum bytes of one message. */
  get maxBytes(): number {
    return (this.#nats.connection.info?.max_payload ?? 1024 * 1024) - bytesOfHeaders
  }

  /** The newest message according to the stream's leader. */
  async tip(): Promise<StoredBatch | undefined> {
    for (let i = 1; ; i++) {
      try {
        return await this.#tip()
      } catch (error) {
        if (i === maxAttempts || !isUnavailable(error)) throw error
        await delay(retryMs)
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
   * Appends a message after the expected one, and returns its sequence. Rejects with `fenced` if another gateway has written to
   * the subject since, and with `unavailable` if the outcome is unknown.
   */
  async write({ data, nonce, expected }: Writing): Promise<number> {
    const { stream, subject } = this.place
    const until = performance.now() + retryTimeoutMs
    // The first attempt allows time for a large batch. Later ones are short, because a server may never answer.
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
        if ((tip?.at ?? 0) !== expected)
          throw new LogError('fenced', streamTexts.overtaken, { subject }, { cause: failure })
      } catch (error) {
        if (!isUnavailable(error)) throw error
        failure ??= error
      }
      const isTimeout = performance.now() > until || this.#nats.connection.isClosed()
      if (isTimeout) throw asNatsError(failure, `writing to ${subject}`)
      await delay(getApiCode(failure) === wrongLastSequence ? 0 : retryMs)
    }
  }

  /** The messages after the sequence `place`, up to `through`, which must exist. */
  async *after(place: number, through: number): AsyncGenerator<StoredBatch, void> {
    let next = place + 1
    for (let i = 0; i < maxSingleReads && next <= through; i++) {
      const batch = await this.#from(next, through)
      yield batch
      next = batch.at + 1
    }
    if (next > through) return
    for await (const { seq, data } of consume(this.#nats.js, this.place, next, through)) {
      yield this.stored(seq, data)
    }
  }

  /** The first message that contains this row or a later one; `tip` must contain such a row. */
  async locate(row: number, tip: StoredBatch): Promise<StoredBatch> {
    let [low, high] = [1, tip.at]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const { at, head } = await this.#from(middle, tip.at)
      if (head.first + head.count > row) high = middle
      else low = at + 1
    }
    return this.#from(low, tip.at)
  }

  /** Removes a message, and overwrites its bytes. */
  remove({ at }: StoredBatch): Promise<void> {
    return removeMessage(this.#nats, this.place.stream, at)
  }

  /** Removes the messages before this sequence. */
  async purge(place: number): Promise<void> {
    const { stream, subject } = this.place
    await this.#nats.manager.streams.purge(stream, { filter: subject, seq: place })
  }

  stored(at: number, data: Uint8Array): StoredBatch {
    const name = `Message ${at} of the stream ${this.place.stream} (${this.place.subject})`
    return { at, head: decodeHead(data, name), rows: () => decodeRows(data, name) }
  }

  /** The first message of the subject at or after a sequence. Retries, because a lagging server may not have it yet. */
  async #from(place: number, through: number): Promise<StoredBatch> {
    const { stream, subject } = this.place
    const until = performance.now() + retryTimeoutMs
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
      await delay(retryMs)
    }
    throw asNatsError(failure, `reading ${subject}`)
  }
}

/** Removes a message and overwrites its bytes on the servers, unless it is already removed. */
export async function removeMessage({ manager }: Nats, stream: string, at: number): Promise<void> {
  try {
    await manager.streams.deleteMessage(stream, at, true)
  } catch (error) {
    if ((await manager.streams.getMessage(stream, { seq: at })) !== null) throw error
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof LogError && error.code === 'unavailable'

/** Milliseconds without a message after which a consumer is replaced, because its server may be gone. */
const watchdogMs = 2000
const maxBuffered = 2000
/** Maximum consecutive consumers without a message; then reading fails. */
const maxIdleConsumers = 10

/** Reads a subject with a consumer, which is replaced whenever it stalls. */
async function* consume(
  js: JetStreamClient,
  { stream, subject }: StreamNames,
  from: number,
  through: number,
): AsyncGenerator<JsMsg, void> {
  let [next, failures] = [from, 0]
  let reason: unknown
  while (next <= through) {
    if (failures === maxIdleConsumers) {
      const details = { stream, from: next, reason: String(reason) }
      throw new LogError('unavailable', streamTexts.unreadable, details, { cause: reason })
    }
    let messages: ConsumerMessages | undefined
    try {
      const consumer = await js.consumers.get(stream, {
        filter_subjects: subject,
        deliver_policy: 'by_start_sequence',
        opt_start_seq: next,
      })
      messages = await consumer.consume({ max_messages: maxBuffered })
      const iterator = messages[Symbol.asyncIterator]()
      while (next <= through) {
        const message = await nextOrTimeout(iterator)
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
      // Does not wait until the consumer is closed, because its server may never answer.
      void messages?.close().catch(() => undefined)
    }
  }
}

async function nextOrTimeout(iterator: AsyncIterator<JsMsg>): Promise<JsMsg | undefined> {
  const stop = new AbortController()
  const timeout = delay(watchdogMs, undefined, { signal: stop.signal }).catch(() => undefined)
  const step = iterator.next().then(({ value, done }) => (done ? undefined : (value as JsMsg)))
  step.catch(() => undefined) // Not awaited after a timeout.
  try {
    return await Promise.race([step, timeout])
  } finally {
    stop.abort()
  }
}
