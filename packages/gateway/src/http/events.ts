import { omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import { createSelection } from '../core/delivery/session.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { checkResume, type Resume } from '../host/connection-gate.js'
import type { Feed, Message, OutboundBatch } from '../ports/connection.js'
import { createFilter, type FilterName } from './history.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import { type HttpOptions, readConnectRequest } from './route.js'
import { toSingleLine } from './stream.js'
import { authenticateRequest } from './views.js'

export function openFeed(context: Context, options: HttpOptions): SseFeed {
  const { eventHeartbeatMs: heartbeatMs, getRemoteAddress, hangUp } = options
  return new SseFeed({ remote: getRemoteAddress(context), heartbeatMs, hangUp: () => hangUp(context) })
}

/** Responds with the stream, which counts as a connection from here on, and not as a request. */
export function respondFeed({ stream }: SseFeed, context: Context, options: HttpOptions): Response {
  options.traffic.leave(context)
  options.standing(context)
  return new Response(stream, { headers: eventHeaders })
}

const eventHeaders = {
  'content-type': 'text/event-stream',
  // Keeps proxies from buffering events.
  'x-accel-buffering': 'no',
}

/**
 * `GET /spaces/{space}/events`: committed envelopes as server-sent events [MEUP-11.4]. The limits of connections apply. A
 * stream cannot act, so it does not make its participant present [MEUP-11.10].
 */
export async function getEvents(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'after' | 'epoch' | FilterName>,
): Promise<Response> {
  const { gateway } = options
  const { after, epoch, reasoning = 'full' } = asked
  // Browsers resend only the id of an event, so the epoch is in the URL.
  const misplaced = checkResume({ after, epoch })
  if (misplaced !== undefined) return refused(misplaced)
  const lastSeen = readLastEventId(context.req.header('last-event-id'))
  if (isRefusal(lastSeen)) return refused(lastSeen)
  if (context.req.method === 'HEAD') {
    const visitor = await authenticateRequest(context, options)
    return isRefusal(visitor) ? refused(visitor) : new Response(null, { headers: eventHeaders })
  }
  const grant = await gateway.admit(readConnectRequest(context, options))
  if (isRefusal(grant)) return refused(grant)

  const resume = { ...omitUndefined({ after }), ...lastSeen, ...omitUndefined({ epoch }) }
  const feed = openFeed(context, options)
  const line = await grant.watch(feed, resume, createSelection(createFilter(asked), reasoning))
  feed.ended
    .then(() => line.closed())
    .catch((err: unknown) => options.logger.error({ err }, 'a stream did not end'))
  return respondFeed(feed, context, options)
}

/** Parses `12`, or `12.1` if more events of the same seq followed. */
function readLastEventId(text: string | undefined): Pick<Resume, 'after' | 'received'> | Refusal {
  if (text === undefined) return {}
  const [, seq, received] = /^(\d{1,16})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const after = Number(seq)
  if (Number.isSafeInteger(after))
    return { after, ...(received !== undefined && { received: Number(received) }) }
  return refuse('invalid_request', texts.invalidEventId, { id: text.slice(0, 100) })
}

interface SseFeedOptions {
  readonly remote: string
  readonly heartbeatMs: number
  /** Closes the connection of a peer that does not read the final event. */
  hangUp(): void
}

/** Heartbeats without progress, while events wait, after which a peer is disconnected. */
const maxIdleBeats = 4
/** A replay reads its next page once fewer bytes than this are unsent. */
const lowWater = 64 * 1024
/** The reconnection time of browsers [milliseconds]. */
const retryMs = 2000

/** A stream of server-sent events as a feed. It buffers and counts what the peer has not read. */
export class SseFeed implements Feed {
  readonly remote: string
  readonly stream: ReadableStream<Uint8Array>
  /** Resolves when the stream has ended on either side. */
  readonly ended: Promise<void>
  readonly #options: SseFeedOptions
  readonly #waiting: Uint8Array[] = []
  readonly #heartbeat: NodeJS.Timeout
  #bytes = 0
  #isClosing = false
  #hasEnded = false
  /** Heartbeats since the final event. */
  #overdue = 0
  /** Heartbeats since the peer last read, while events wait. */
  #idleBeats = 0
  #end: () => void = () => {}
  /** Wakes the stream when there is an event or the end. */
  #wake: () => void = () => {}
  #drained: (() => void)[] = []

  constructor(options: SseFeedOptions) {
    this.remote = options.remote
    this.#options = options
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    // The stream itself buffers nothing, so that everything that waits is counted.
    const queue = { highWaterMark: 0 }
    const source = {
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#pull(controller),
      cancel: () => this.#finish(),
    }
    this.stream = new ReadableStream(source, queue)
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs)
    this.#heartbeat.unref()
    this.#push(encode(`retry: ${retryMs}\n\n`))
  }

  get pending(): number {
    return this.#bytes
  }

  get isGone(): boolean {
    return this.#hasEnded
  }

  send(outboundBatch: OutboundBatch): void {
    outboundBatch.event ??= Buffer.concat(outboundBatch.messages.filter(isEvent).map(encodeEvent))
    this.#push(outboundBatch.event)
  }

  lost(place: { readonly epoch: string; readonly from: number; readonly to: number }): void {
    this.#push(encode(`event: lost\ndata: ${JSON.stringify(place)}\n\n`))
  }

  drained(): Promise<void> {
    if (this.#bytes <= lowWater || this.#hasEnded) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  close(code: number, reason: string): void {
    this.end(encode(`event: error\ndata: ${JSON.stringify({ code, reason })}\n\n`))
  }

  /** Sends the queued events and this one, then ends the stream. */
  end(last: Uint8Array): void {
    this.#push(last)
    this.#isClosing = true
    this.#wake()
  }

  #push(bytes: Uint8Array): void {
    if (this.#isClosing || this.#hasEnded || bytes.length === 0) return
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    this.#wake()
  }

  /** Called each time the peer has room for more. */
  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#waiting.length === 0 && !this.#isClosing && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#idleBeats = 0
    const next = this.#waiting.shift()
    if (this.#hasEnded) return
    if (next === undefined) {
      controller.close()
      this.#finish()
      return
    }
    this.#bytes -= next.length
    controller.enqueue(next)
    if (this.#bytes <= lowWater) this.#release()
  }

  #beat(): void {
    if (this.#isClosing) {
      if (++this.#overdue > 1) this.#options.hangUp()
    } else if (this.#bytes === 0) {
      this.#push(encode(': still here\n\n'))
    } else if (++this.#idleBeats >= maxIdleBeats) {
      this.#options.hangUp() // A replay stays below the buffer limit, which thus cannot end it.
    }
  }

  #finish(): void {
    this.#hasEnded = true
    clearInterval(this.#heartbeat)
    this.#wake()
    this.#release()
    this.#end()
  }

  #release(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}

const encode = (text: string): Uint8Array => Buffer.from(text)

/** Messages of the gateway to one connection, such as a welcome, are not sent as events. */
const isEvent = ({ seq, name }: Message): boolean => seq !== undefined || name !== undefined

/** Only logged envelopes have an id, since a reader resumes after it. */
const idLine = ({ id, seq }: Message): string => (seq === undefined ? '' : `id: ${id ?? seq}\n`)

/** Encodes a message once for all streams. */
function encodeEvent(message: Message): Uint8Array {
  message.event ??= Buffer.concat([
    encode(`event: ${message.name ?? 'envelope'}\n${idLine(message)}data: `),
    toSingleLine(message.text),
    encode('\n\n'),
  ])
  return message.event
}
