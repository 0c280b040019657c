import {
  type AnyEnvelope,
  BYE,
  closeCodes,
  correlations,
  type ErrorCode,
  type ErrorPayload,
  Kind,
  omitUndefined,
  ProtocolError,
  parseExact,
  type WelcomePayload,
} from '@meup/protocol'
import {
  type ConnectionError,
  endedError,
  errorDetails,
  getRetryAfterMs,
  lostError,
  malformedError,
  traceToCaller,
  unacknowledgedError,
  unreachableError,
  usedIdError,
} from './errors.js'
import { decodeFrame, encodeFrame, type SizeLimits } from './frames.js'
import type { WelcomeInfo } from './handler.js'
import { setLongTimeout } from './long-timeout.js'
import type { OutboundSafety } from './outbound-safety.js'
import { resolveDeadlines, resolveReconnect } from './reconnect.js'
import { watchSilence } from './silence.js'
import type { Dial, DialRequest, Transport } from './transport.js'
import type { Waiter } from './wait.js'

interface ConnectionEvents {
  /** `text`: the frame as received. */
  onEnvelope(envelope: AnyEnvelope, text: string): void
  /** The gateway sent a frame that is not an envelope. The frame is skipped. */
  onMalformed(error: ConnectionError): void
  /** Called for each `system.error`, in the order of frames, even if it also rejects the promise of a request. */
  onRefused(error: ErrorPayload): void
  onWelcome(welcome: WelcomePayload, info: WelcomeInfo): void
  /** The connection was lost. The next attempt starts after `inMs`. */
  onReconnecting(inMs: number, reason: string): void
  /** The connection is closed and will not be restored. */
  onClose(error: Error | undefined): void
}

/**
 * Maximum of `#patience`. A browser sees a large frame only when it is complete, so during a replay `silenceMs` is extended up
 * to this many times.
 */
const maxPatience = 16
/** Received bytes that show that a large welcome is arriving: pings alone are fewer bytes. */
const minWelcomeBytes = 1024

/** A socket and its deadline. Frames of a socket other than the current one are ignored. */
interface Line {
  transport: Transport | undefined
  /** Cancels the current deadline. */
  unwatch: () => void
}

/** Close codes after which a retry cannot succeed. */
const final: ReadonlyMap<number, ErrorCode> = new Map([
  [closeCodes.badRequest, 'invalid_request'],
  [closeCodes.unauthorized, 'unauthorized'],
  [closeCodes.forbidden, 'forbidden'],
  [closeCodes.noSuchSpace, 'not_found'],
  [closeCodes.replaced, 'session_replaced'],
])

/** A connection to a space that reconnects automatically. No envelope is lost or delivered twice [MEUP-5.3]. */
export class ClientConnection {
  readonly #dial: Dial
  readonly #request: DialRequest
  readonly #events: ConnectionEvents
  readonly #safety: OutboundSafety | undefined
  readonly #pending = new Pending()
  readonly #policy: ReturnType<typeof resolveReconnect>
  readonly #deadlines: ReturnType<typeof resolveDeadlines>
  #line: Line | undefined
  /** Aborted when the client stops waiting for the socket that is being opened. */
  #dialling = new AbortController()
  /** Settles the promise that waits for the welcome; `undefined` = no welcome is awaited. */
  #welcomed: { resolve(): void; reject(error: Error): void } | undefined
  #lastSeq: number | undefined
  #epoch: string | undefined
  #ownId = ''
  #limits: SizeLimits = { maxEnvelopeBytes: Number.POSITIVE_INFINITY }
  #failures = 0
  /** Last seq of the replay that follows the latest welcome; 0 = there is no replay. */
  #owedTo = 0
  /** In a browser, the factor by which `silenceMs` is extended. */
  #patience = 1
  /** Set if the first frame was not a welcome; the reason for closing the connection. */
  #protocolFailure: ConnectionError | undefined
  /** Cancels the timer of the next attempt; `undefined` = no attempt is scheduled. */
  #cancelRetry: (() => void) | undefined
  /** The next reconnect attempt starts immediately. */
  #isHurried = false
  #isClosed = false
  /** Frames that arrived after the first welcome, held until the caller of `open` has been able to add listeners. */
  #held: string[] | undefined = []

  /** `safety`: masks outgoing envelopes; without it they are sent unchanged. */
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
    this.#policy = resolveReconnect(request.reconnect)
    this.#deadlines = resolveDeadlines(request.deadlines)
  }

  /** Resolves after the first welcome and `prepare`; the following frames are handled afterwards. */
  async open(prepare: () => Promise<void>): Promise<void> {
    await this.#connect()
    await prepare()
    setTimeout(() => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const text of held) this.#onFrame(text)
    })
  }

  /** Sends an envelope. Resolves with the envelope as logged; rejects with the gateway's refusal. */
  async send(id: string, envelope: object): Promise<AnyEnvelope> {
    if (this.#isClosed) throw endedError()
    const frame = encodeFrame(envelope, this.#limits)
    const filtered = this.#pending.has(id) ? frame.text : (this.#safety?.filter(frame) ?? frame.text)
    const text = typeof filtered === 'string' ? filtered : await filtered
    if (this.#isClosed) throw endedError()
    const isPending = this.#pending.has(id)
    const acknowledged = this.#pending.add(id, frame.text, text)
    if (!isPending && this.#welcomed === undefined) this.#line?.transport?.send(text)
    try {
      return await acknowledged
    } catch (error) {
      throw traceToCaller(error)
    }
  }

  /** Sends an envelope that is not acknowledged. */
  post(envelope: object): void {
    this.#line?.transport?.send(encodeFrame(envelope, this.#limits).text)
  }

  /** Closes the socket, reconnects and resumes. */
  renew(): void {
    this.#line?.transport?.close(1000, 'taken anew')
  }

  /** Starts the next reconnect attempt immediately, and abandons one in progress. */
  retryNow(): void {
    if (this.#cancelRetry !== undefined) this.#reconnect()
    else if (this.#line !== undefined && this.#line.transport === undefined) {
      this.#isHurried = true
      this.#dialling.abort('another attempt was asked for')
    }
  }

  close(): void {
    this.#close(undefined)
    this.#line?.transport?.close(1000, this.#closeReason)
  }

  /** The close reason that announces the end of the program, so that the gateway does not wait for its return. */
  get #closeReason(): string {
    return this.#request.session === undefined ? '' : BYE
  }

  async #connect(): Promise<void> {
    const { url, space, token, session } = this.#request
    const where = { url, space, ...omitUndefined({ token, session }) }
    const resumed = this.#lastSeq !== undefined && this.#epoch !== undefined
    const request = resumed
      ? { ...where, after: this.#lastSeq ?? 0, epoch: this.#epoch ?? '' }
      : this.#request
    const welcomed = new Promise<void>((resolve, reject) => {
      this.#welcomed = { resolve, reject }
    })
    welcomed.catch(() => {}) // The attempt may be abandoned before this promise is awaited.
    const line: Line = { transport: undefined, unwatch: () => {} }
    this.#line = line
    const early: string[] = [] // Frames that arrive before the connection can be used.
    try {
      line.transport = await this.#dialInTime(request, {
        message: (text) => {
          if (line.transport === undefined) early.push(text)
          else if (this.#line === line) this.#onFrame(text)
        },
        close: (code, reason) => {
          if (this.#line === line) this.#onTransportClose(code, reason)
        },
      })
    } catch (error) {
      this.#welcomed = undefined
      throw error
    }
    if (this.#isClosed) line.transport.close(1000, this.#closeReason)
    else this.#expectWelcome(line)
    for (const text of early) if (this.#line === line) this.#onFrame(text)
    await welcomed
  }

  /** Opens a socket. Rejects if the handshake takes too long; a socket that opens after that is closed. */
  #dialInTime(request: DialRequest, events: Parameters<Dial>[1]): Promise<Transport> {
    const { handshakeMs } = this.#deadlines
    const dialling = new AbortController()
    this.#dialling = dialling
    return new Promise((resolve, reject) => {
      const cancel = setLongTimeout(handshakeMs, () =>
        dialling.abort(`it did not answer within ${handshakeMs} ms`),
      )
      dialling.signal.addEventListener('abort', () => {
        cancel()
        reject(unreachableError(request.url, String(dialling.signal.reason)))
      })
      this.#dial(request, events, dialling.signal)
        .then((transport) => {
          if (dialling.signal.aborted) transport.close(1000, '')
          resolve(transport)
        }, reject)
        .finally(cancel)
    })
  }

  /** Abandons the socket unless its welcome arrives in time. The deadline is renewed while a large welcome is arriving. */
  #expectWelcome(line: Line): void {
    const { welcomeMs } = this.#deadlines
    const received = line.transport?.received ?? (() => 0)
    const before = received()
    line.unwatch = setLongTimeout(welcomeMs, () => {
      if (!line.transport?.countsFrames && received() - before >= minWelcomeBytes) this.#expectWelcome(line)
      else this.#giveUp(line, lostError(`no welcome came within ${welcomeMs} ms`))
    })
  }

  /** Abandons the socket when it has received nothing for too long. */
  #watchSilence(line: Line): void {
    const { transport } = line
    line.unwatch()
    if (transport?.received === undefined) return
    const limitMs = this.#deadlines.silenceMs * (transport.countsFrames ? this.#patience : 1)
    line.unwatch = watchSilence(limitMs, transport.received, () => {
      // A browser may be receiving a large frame, which it sees only when it is complete: waits longer next time.
      if (this.#isOwed) this.#patience = Math.min(2 * this.#patience, maxPatience)
      this.#giveUp(line, lostError(`nothing was received for ${limitMs} ms`))
    })
  }

  get #isOwed(): boolean {
    return (this.#lastSeq ?? 0) < this.#owedTo
  }

  /** Abandons the socket without waiting for its `close` event: a dead connection does not answer a close frame. */
  #giveUp(line: Line, error: ConnectionError): void {
    const { transport } = line
    this.#endLine()
    if (transport?.terminate) transport.terminate()
    else transport?.close(closeCodes.heartbeatLost, error.message)
    this.#onLost(error)
  }

  #endLine(): void {
    this.#line?.unwatch()
    this.#line = undefined
  }

  #onFrame(text: string): void {
    if (this.#isClosed) return
    if (this.#held !== undefined && this.#welcomed === undefined) {
      this.#held.push(text)
      return
    }
    const envelope = decodeFrame(text)
    if (envelope === undefined) return
    if (envelope instanceof Error) {
      this.#onMalformed(envelope)
      return
    }
    if (envelope.kind === Kind.systemWelcome) {
      this.#onWelcome(envelope.payload, envelope.ts, correlations(envelope)[0])
      return
    }
    if (this.#welcomed !== undefined) {
      this.#onMalformed(malformedError(`${envelope.kind} came before the welcome`))
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
      if (seq <= (this.#lastSeq ?? 0)) return // A duplicate: the gateway answered a resent envelope with the original.
      this.#lastSeq = seq
      if (!this.#isOwed) this.#patience = 1
    }
    this.#events.onEnvelope(envelope, text)
  }

  /** Skips a malformed frame. Before the welcome, closes the socket instead, because it is unusable without one. */
  #onMalformed(error: ConnectionError): void {
    if (this.#welcomed === undefined) this.#events.onMalformed(error)
    else {
      this.#protocolFailure = error
      this.#line?.transport?.close(1000, 'no welcome')
    }
  }

  #onWelcome(welcome: WelcomePayload, ts: string, answers: string | undefined): void {
    this.#ownId = welcome.you.id
    this.#limits = welcome.limits
    this.#epoch = welcome.space.epoch
    if (welcome.resume.status === 'lost') this.#lastSeq = 0
    this.#lastSeq ??= welcome.resume.from - 1
    this.#owedTo = welcome.resume.status === 'live' ? 0 : welcome.resume.to
    this.#failures = 0
    const first = this.#welcomed
    this.#welcomed = undefined
    if (first !== undefined && this.#line !== undefined) this.#watchSilence(this.#line)
    this.#events.onWelcome(welcome, { isFirst: first !== undefined, ts, answers })
    if (first === undefined) return
    this.#resendPending()
    first.resolve()
  }

  /**
   * Resends unacknowledged envelopes. Rejects those over the limits of the new gateway, which would close the connection
   * because of them.
   */
  #resendPending(): void {
    for (const [id, text] of this.#pending.texts()) {
      try {
        encodeFrame(parseExact(text) as object, this.#limits)
        this.#line?.transport?.send(text)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        this.#pending.refuse(id, error)
      }
    }
  }

  #onTransportClose(code: number, reason: string): void {
    this.#endLine()
    const why = this.#protocolFailure?.message ?? `${reason || 'the connection was lost'} (${code})`
    this.#protocolFailure = undefined
    const refusal = final.get(code)
    this.#onLost(refusal === undefined ? lostError(why) : new ProtocolError(refusal, why))
  }

  #onLost(error: ProtocolError | ConnectionError): void {
    if (this.#welcomed !== undefined) {
      this.#welcomed.reject(error)
      this.#welcomed = undefined
    } else if (!this.#isClosed) this.#retry(error)
  }

  #retry(error: Error): void {
    const { minMs, maxMs } = this.#policy
    const attempt = ++this.#failures
    const end = this.#getEnd(error, attempt)
    if (end !== undefined) {
      this.#close(end)
      return
    }
    const backoffMs = Math.random() * Math.min(maxMs, minMs * 2 ** (attempt - 1))
    const waitMs = this.#isHurried ? 0 : Math.max(backoffMs, getRetryAfterMs(error) ?? 0)
    this.#isHurried = false
    this.#cancelRetry = setLongTimeout(waitMs, () => this.#reconnect())
    this.#events.onReconnecting(waitMs, error.message)
  }

  /** The error to close the client with; `undefined` = the connection is retried. */
  #getEnd(error: Error, attempt: number): Error | undefined {
    const { retries, shouldRetry } = this.#policy
    try {
      return isFinal(error) || attempt > retries || !shouldRetry(error, attempt) ? error : undefined
    } catch (failure) {
      return failure instanceof Error ? failure : new Error(String(failure))
    }
  }

  #reconnect(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.#connect().catch((error: unknown) => {
      if (!this.#isClosed) this.#retry(error instanceof Error ? error : new Error(String(error)))
    })
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#dialling.abort('the client was closed')
    this.#line?.unwatch()
    this.#pending.fail(error ?? endedError())
    this.#events.onClose(error)
  }
}

const isFinal = (error: unknown): error is ProtocolError => error instanceof ProtocolError && !error.retryable

interface Sent {
  /** The envelope as JSON, before masking. */
  readonly original: string
  /** The frame as sent. */
  readonly text: string
  /** The callers that wait for the acknowledgement; several if the same envelope was sent again. */
  readonly waiters: readonly Waiter<AnyEnvelope>[]
}

/** Names the missing capability for the message, if the gateway reports one. */
const lacks = (details: ErrorPayload['details']): string =>
  details?.missing === undefined ? '' : ` It lacks the capability ${JSON.stringify(details.missing)}.`

/** Maximum unacknowledged envelopes; further ones are rejected. */
const maxPending = 10_000

/** Envelopes that were sent and not yet acknowledged, in the order of sending [MEUP-1.11]. */
class Pending {
  readonly #sent = new Map<string, Sent>()

  has(id: string): boolean {
    return this.#sent.has(id)
  }

  /** Adds an envelope. Throws if there are too many, or a different envelope with this id is unacknowledged. */
  add(id: string, original: string, text = original): Promise<AnyEnvelope> {
    const known = this.#sent.get(id)
    if (known !== undefined && known.original !== original) {
      throw usedIdError(id)
    }
    if (known === undefined && this.#sent.size >= maxPending) {
      throw unacknowledgedError(maxPending)
    }
    return new Promise((resolve, reject) => {
      const waiters = [...(known?.waiters ?? []), { resolve, reject }]
      this.#sent.set(id, { original, text: known?.text ?? text, waiters })
    })
  }

  acknowledge(echo: AnyEnvelope): void {
    for (const { resolve } of this.#removeWaiters(echo.id)) resolve(echo)
  }

  /** Rejects an unacknowledged envelope. Returns whether there was one with this id. */
  refuse(id: string, payload: ErrorPayload | ProtocolError): boolean {
    const waiters = this.#removeWaiters(id)
    const { code } = payload
    const message = payload.message + lacks(payload.details)
    const details = payload instanceof ProtocolError ? payload.details : errorDetails(payload)
    for (const { reject } of waiters) reject(new ProtocolError(code, message, details))
    return waiters.length > 0
  }

  /** Frames to resend on a new connection. For an id already in the log, the gateway answers with the original envelope. */
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
