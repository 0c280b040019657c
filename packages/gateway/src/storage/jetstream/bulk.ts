import { setTimeout as delay } from 'node:timers/promises'
import type { ConsumerMessages, JetStreamClient, JsMsg } from '@nats-io/jetstream'
import { LogError } from '../../log/error.js'
import type { Place } from './streams.js'

/** A consumer that gives nothing for so long is dead: its server may have gone [milliseconds]. */
const watchdogMs = 2000
const atOnce = 2000
/** Fresh consumers without a message between. */
const attempts = 10

/** Reads much of a subject, fast. Whenever the consumer stands still a fresh one goes on from there. */
export async function* bulk(
  js: JetStreamClient,
  { stream, subject }: Place,
  from: number,
  through: number,
): AsyncGenerator<JsMsg, void> {
  let [next, failures] = [from, 0]
  let reason: unknown
  while (next <= through) {
    if (failures === attempts) {
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
      await delay(watchdogMs / attempts)
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
