import {
  type AnyEnvelope,
  closeCodes,
  correlations,
  type ErrorCode,
  type ErrorPayload,
  Kind,
  ProtocolError,
  type WelcomePayload,
} from '@meup/protocol'
import { ConnectionError, errorDetails } from './errors.js'
import { decodeFrame, encodeFrame, type SizeLimits } from './frames.js'
import type { WelcomeInfo } from './handler.js'
import type { OutboundSafety } from './outbound-safety.js'
import type { Dial, DialRequest, Transport } from './transport.js'
import type { Waiter } from './wait.js'

interface ConnectionEvents {
  /** `text`: the frame as received. */
  onEnvelope(envelope: AnyEnvelope, text: string): void
  /** The gateway sent a frame that is no envelope. It is skipped, or the connection is renewed. */
  onMalformed(error: ConnectionError): void
  /** Called in the order of frames, also when a request waits for the error. */
  onRefused(error: ErrorPayload): void
  onWelcome(welcome: WelcomePayload, info: WelcomeInfo): void
  /** The connection was lost. The next attempt starts after `inMs`. */
  onReconnecting(inMs: number, reason: string): void
  /** The connection is closed and will not be restored. */
  onClose(error: Error | undefined): void
}

/** Bounds of the wait before an attempt, in milliseconds. It is drawn between 0 and a bound that doubles. */
const [minBackoffMs, maxBackoffMs] = [250, 30_000]

/** Close codes after which a retry cannot succeed. */
const final: ReadonlyMap<number, ErrorCode> = new Map([
  [closeCodes.badRequest, 'invalid_request'],
  [closeCodes.unauthorized, 'unauthorized'],
  [closeCodes.forbidden, 'forbidden'],
  [closeCodes.noSuchSpace, 'not_found'],
])

/** A connection to a space that reconnects by itself; no envelope is lost or delivered twice [MEUP-5.3]. */
export class Connection {
  readonly #dial: Dial
  readonly #request: DialRequest
  readonly #events: ConnectionEvents
  readonly #safety: OutboundSafety | undefined
  readonly #pending = new Pending()
  #transport: Transport | undefined
  #welcomed: { resolve(): void; reject(error: Error): void } | undefined
  #lastSeq: number | undefined
  #epoch: string | undefined
  #ownId = ''
  #limits: SizeLimits = { maxEnvelopeBytes: Number.POSITIVE_INFINITY }
  #failures = 0
  /** Why the first frame was no welcome, if the gateway sent another one. */
  #protocolFailure: ConnectionError | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false
  /** Frames after the first welcome. They are held until the caller of `open` could add listeners. */
  #held: string[] | undefined = []

  /** Without `safety` envelopes are sent unchanged. */
  constructor(
    dial: Dial,
    request: DialRequest,
    safety: OutboundSafety | undefined,
    events: ConnectionEvents,
  ) {
    this.#dial = dial
    this.#request = request
    this.#events = events
    this.#safety = safety
  }

  /** Resolves after the first welcome. */
  async open(): Promise<void> {
    await this.#connect()
    setTimeout(() => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const text of held) this.#onFrame(text)
    })
  }

  /** Resolves with the envelope as accepted by the space; rejects with the gateway's refusal. */
  async send(id: string, envelope: object): Promise<AnyEnvelope> {
    if (this.#isClosed) throw new ConnectionError('closed', 'the connection is closed')
    const frame = encodeFrame(envelope, this.#limits)
    const isPending = this.#pending.has(id)
    const text = isPending || this.#safety === undefined ? frame.text : this.#safety.filter(frame)
    const acknowledged = this.#pending.add(id, frame.text, text)
    if (!isPending && this.#welcomed === undefined) this.#transport?.send(text)
    return acknowledged
  }

  /** Sends an envelope that is never acknowledged. */
  post(envelope: object): void {
    this.#transport?.send(encodeFrame(envelope, this.#limits).text)
  }

  /** Reconnects and resumes, as after a lost connection. */
  renew(): void {
    this.#transport?.close(1000, 'taken anew')
  }

  close(): void {
    this.#close(undefined)
    this.#transport?.close(1000, '')
  }

  async #connect(): Promise<void> {
    const { url, space, token } = this.#request
    const where = { url, space, ...(token !== undefined && { token }) }
    const resumed = this.#lastSeq !== undefined && this.#epoch !== undefined
    const request = resumed
      ? { ...where, after: this.#lastSeq ?? 0, epoch: this.#epoch ?? '' }
      : this.#request
    const welcomed = new Promise<void>((resolve, reject) => {
      this.#welcomed = { resolve, reject }
    })
    this.#transport = undefined
    const early: string[] = [] // What arrives before there is anything to answer with.
    try {
      this.#transport = await this.#dial(request, {
        message: (text) => (this.#transport === undefined ? early.push(text) : this.#onFrame(text)),
        close: (code, reason) => this.#onTransportClose(code, reason),
      })
    } catch (error) {
      this.#welcomed = undefined
      throw error
    }
    if (this.#isClosed) this.#transport.close(1000, '')
    for (const text of early) this.#onFrame(text)
    await welcomed
  }

  #onFrame(text: string): void {
    if (this.#isClosed) return
    if (this.#held !== undefined && this.#welcomed === undefined) {
      this.#held.push(text)
      return
    }
    const envelope = decodeFrame(text)
    if (envelope instanceof Error) {
      this.#onMalformed(envelope)
      return
    }
    if (envelope.kind === Kind.systemWelcome) {
      this.#onWelcome(envelope.payload, envelope.ts, correlations(envelope)[0])
      return
    }
    if (this.#welcomed !== undefined) {
      this.#onMalformed(new ConnectionError('malformed', `${envelope.kind} came before the welcome`))
      return
    }
    if (envelope.kind === Kind.systemError) {
      this.#events.onRefused(envelope.payload)
      const [id = ''] = [envelope.correlationId ?? []].flat()
      if (this.#pending.refuse(id, envelope.payload)) return
    }
    const { seq } = envelope
    if (envelope.from === this.#ownId) this.#pending.acknowledge(envelope)
    if (seq !== undefined) {
      if (seq <= (this.#lastSeq ?? 0)) return // The original of something sent again.
      this.#lastSeq = seq
    }
    this.#events.onEnvelope(envelope, text)
  }

  /** Without a welcome the connection is useless; afterwards a malformed frame is skipped. */
  #onMalformed(error: ConnectionError): void {
    if (this.#welcomed === undefined) this.#events.onMalformed(error)
    else {
      this.#protocolFailure = error
      this.#transport?.close(1000, 'no welcome')
    }
  }

  #onWelcome(welcome: WelcomePayload, ts: string, answers: string | undefined): void {
    this.#ownId = welcome.you.id
    this.#limits = welcome.limits
    this.#epoch = welcome.space.epoch
    if (welcome.resume.status === 'lost') this.#lastSeq = 0
    this.#lastSeq ??= welcome.resume.from - 1
    this.#failures = 0
    const first = this.#welcomed
    this.#welcomed = undefined
    this.#events.onWelcome(welcome, { isFirst: first !== undefined, ts, answers })
    if (first === undefined) return
    this.#resendPending()
    first.resolve()
  }

  /** Rejects what a gateway with smaller limits would close every new connection for. */
  #resendPending(): void {
    for (const [id, text] of this.#pending.texts()) {
      try {
        encodeFrame(JSON.parse(text) as object, this.#limits)
        this.#transport?.send(text)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        this.#pending.refuse(id, error)
      }
    }
  }

  #onTransportClose(code: number, reason: string): void {
    this.#transport = undefined
    const why = this.#protocolFailure?.message ?? `${reason || 'the connection was lost'} (${code})`
    this.#protocolFailure = undefined
    const refusal = final.get(code)
    const error =
      refusal === undefined ? new ConnectionError('unreachable', why) : new ProtocolError(refusal, why)
    if (this.#welcomed !== undefined) {
      this.#welcomed.reject(error)
      this.#welcomed = undefined
    } else if (!this.#isClosed) {
      if (refusal !== undefined) this.#close(error)
      else this.#retry(why)
    }
  }

  #retry(reason: string): void {
    const wait = Math.random() * Math.min(maxBackoffMs, minBackoffMs * 2 ** this.#failures++)
    this.#events.onReconnecting(wait, reason)
    this.#timer = setTimeout(() => {
      this.#connect().catch((error: unknown) => {
        if (this.#isClosed) return
        if (isFinal(error)) this.#close(error)
        else this.#retry(error instanceof Error ? error.message : String(error))
      })
    }, wait)
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#pending.fail(error ?? new ConnectionError('closed', 'the connection was closed'))
    this.#events.onClose(error)
  }
}

const isFinal = (error: unknown): error is ProtocolError => error instanceof ProtocolError && !error.retryable

interface Sent {
  /** As given by the sender. */
  readonly original: string
  /** As sent. */
  readonly text: string
  /** Several if the same envelope was sent again meanwhile. */
  readonly waiters: readonly Waiter<AnyEnvelope>[]
}

/** Which capability would have allowed it, where the gateway says so. */
const lacks = (details: ErrorPayload['details']): string =>
  details?.missing === undefined ? '' : ` It lacks the capability ${JSON.stringify(details.missing)}.`

/** Unacknowledged envelopes; more are rejected. */
const maxPending = 10_000

/** Envelopes that were sent and not yet acknowledged, in the order of sending [MEUP-1.11]. */
class Pending {
  readonly #sent = new Map<string, Sent>()

  has(id: string): boolean {
    return this.#sent.has(id)
  }

  /** Throws when the queue is full, or when another envelope with this id is pending. */
  add(id: string, original: string, text = original): Promise<AnyEnvelope> {
    const known = this.#sent.get(id)
    if (known !== undefined && known.original !== original) {
      throw new TypeError(`another envelope with the id ${id} is on its way; use a fresh id`)
    }
    if (known === undefined && this.#sent.size >= maxPending) {
      const message = `${maxPending} envelopes wait for their acknowledgement; await what send() returns`
      throw new ConnectionError('queue_full', message)
    }
    return new Promise((resolve, reject) => {
      const waiters = [...(known?.waiters ?? []), { resolve, reject }]
      this.#sent.set(id, { original, text: known?.text ?? text, waiters })
    })
  }

  acknowledge(echo: AnyEnvelope): void {
    for (const { resolve } of this.#removeWaiters(echo.id)) resolve(echo)
  }

  /** Whether the error was about a pending envelope. */
  refuse(id: string, payload: ErrorPayload | ProtocolError): boolean {
    const waiters = this.#removeWaiters(id)
    const { code } = payload
    const message = payload.message + lacks(payload.details)
    const details = payload instanceof ProtocolError ? payload.details : errorDetails(payload)
    for (const { reject } of waiters) reject(new ProtocolError(code, message, details))
    return waiters.length > 0
  }

  /** Texts to resend on a new connection. The gateway answers a known id with the original envelope. */
  texts(): [id: string, text: string][] {
    return [...this.#sent].map(([id, { text }]) => [id, text])
  }

  fail(error: Error): void {
    for (const id of [...this.#sent.keys()]) for (const { reject } of this.#removeWaiters(id)) reject(error)
  }

  #removeWaiters(id: string): readonly Waiter<AnyEnvelope>[] {
    const waiters = this.#sent.get(id)?.waiters ?? []
    this.#sent.delete(id)
    return waiters
  }
}
