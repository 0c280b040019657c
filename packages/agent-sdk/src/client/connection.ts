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
import { frameOf, readFrame, type SizeLimits } from './frames.js'
import type { Gate } from './outbound-safety.js'
import type { Dial, DialRequest, Transport } from './transport.js'
import type { Waiter } from './wait.js'

interface LinkEvents {
  /** `text` = as it was sent. */
  envelope(envelope: AnyEnvelope, text: string): void
  /** What the gateway sent is no envelope. It is left out; the line goes on, or is taken anew. */
  malformed(error: ConnectionError): void
  /** In the order of what is received, whoever waits for it. */
  refused(error: ErrorPayload): void
  /** `fresh` = the first of a connection; `ts` = when the gateway said so. */
  /** `answers`: id of the change of the subscription that it answers. */
  welcome(welcome: WelcomePayload, fresh: boolean, ts: string, answers?: string): void
  /** The line is down; another try follows in this many milliseconds. */
  reconnecting(inMs: number, reason: string): void
  /** Over, for good. */
  closed(error: Error | undefined): void
}

/** Milliseconds; the wait before each try is drawn between 0 and a bound that doubles. */
const [firstWait, longestWait] = [250, 30_000]

/** Closes after which another try cannot help. */
const final: ReadonlyMap<number, ErrorCode> = new Map([
  [closeCodes.badRequest, 'invalid_request'],
  [closeCodes.unauthorized, 'unauthorized'],
  [closeCodes.forbidden, 'forbidden'],
  [closeCodes.noSuchSpace, 'not_found'],
])

/** A line to a space that comes back by itself, misses nothing and repeats nothing [MEUP-5.3]. */
export class Link {
  readonly #dial: Dial
  readonly #request: DialRequest
  readonly #events: LinkEvents
  readonly #gate: Gate | undefined
  readonly #pending = new Pending()
  #transport: Transport | undefined
  #welcomed: { resolve(): void; reject(error: Error): void } | undefined
  #lastSeq: number | undefined
  #epoch: string | undefined
  #me = ''
  #limits: SizeLimits = { maxEnvelopeBytes: Number.POSITIVE_INFINITY }
  #failures = 0
  /** Why the gateway was not welcome, where its first frame was no welcome. */
  #misgreeting: ConnectionError | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #over = false
  /** What came right after the first welcome: whoever opened the link gets a turn to listen before it is told. */
  #held: string[] | undefined = []

  /** Without a gate everything goes out as it was said. */
  constructor(dial: Dial, request: DialRequest, gate: Gate | undefined, events: LinkEvents) {
    this.#dial = dial
    this.#request = request
    this.#events = events
    this.#gate = gate
  }

  /** Resolves after the first welcome. */
  async open(): Promise<void> {
    await this.#connect()
    setTimeout(() => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const text of held) this.#receive(text)
    })
  }

  /** Resolves with the envelope as the space has it; rejects with the gateway's refusal. */
  async send(id: string, envelope: object): Promise<AnyEnvelope> {
    if (this.#over) throw new ConnectionError('closed', 'the connection is closed')
    const frame = frameOf(envelope, this.#limits)
    const isOnItsWay = this.#pending.has(id)
    const text = isOnItsWay || this.#gate === undefined ? frame.text : this.#gate.pass(frame)
    const acknowledged = this.#pending.add(id, frame.text, text)
    if (!isOnItsWay && this.#welcomed === undefined) this.#transport?.send(text)
    return acknowledged
  }

  /** For what is never acknowledged. */
  post(envelope: object): void {
    this.#transport?.send(frameOf(envelope, this.#limits).text)
  }

  /** Takes the line anew. It resumes as after any other loss: nothing is missed, nothing repeated. */
  renew(): void {
    this.#transport?.close(1000, 'taken anew')
  }

  close(): void {
    this.#end(undefined)
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
        message: (text) => (this.#transport === undefined ? early.push(text) : this.#receive(text)),
        close: (code, reason) => this.#down(code, reason),
      })
    } catch (error) {
      this.#welcomed = undefined
      throw error
    }
    if (this.#over) this.#transport.close(1000, '')
    for (const text of early) this.#receive(text)
    await welcomed
  }

  #receive(text: string): void {
    if (this.#over) return
    if (this.#held !== undefined && this.#welcomed === undefined) {
      this.#held.push(text)
      return
    }
    const envelope = readFrame(text)
    if (envelope instanceof Error) {
      this.#malformed(envelope)
      return
    }
    if (envelope.kind === Kind.systemWelcome) {
      this.#welcome(envelope.payload, envelope.ts, correlations(envelope)[0])
      return
    }
    if (this.#welcomed !== undefined) {
      this.#malformed(new ConnectionError('malformed', `${envelope.kind} came before the welcome`))
      return
    }
    if (envelope.kind === Kind.systemError) {
      this.#events.refused(envelope.payload)
      const [id = ''] = [envelope.correlationId ?? []].flat()
      if (this.#pending.refuse(id, envelope.payload)) return
    }
    const { seq } = envelope
    if (envelope.from === this.#me) this.#pending.acknowledge(envelope)
    if (seq !== undefined) {
      if (seq <= (this.#lastSeq ?? 0)) return // The original of something sent again.
      this.#lastSeq = seq
    }
    this.#events.envelope(envelope, text)
  }

  /** Without a welcome there is no line; after it, one frame that cannot be read costs no other. */
  #malformed(error: ConnectionError): void {
    if (this.#welcomed === undefined) this.#events.malformed(error)
    else {
      this.#misgreeting = error
      this.#transport?.close(1000, 'no welcome')
    }
  }

  #welcome(welcome: WelcomePayload, ts: string, answers?: string): void {
    this.#me = welcome.you.id
    this.#limits = welcome.limits
    this.#epoch = welcome.space.epoch
    if (welcome.resume.status === 'lost') this.#lastSeq = 0
    this.#lastSeq ??= welcome.resume.from - 1
    this.#failures = 0
    const first = this.#welcomed
    this.#welcomed = undefined
    this.#events.welcome(welcome, first !== undefined, ts, answers)
    if (first === undefined) return
    this.#sendAgain()
    first.resolve()
  }

  /** What a gateway with smaller limits would close the line for is refused here, or it would never come back. */
  #sendAgain(): void {
    for (const [id, text] of this.#pending.texts()) {
      try {
        frameOf(JSON.parse(text) as object, this.#limits)
        this.#transport?.send(text)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        this.#pending.refuse(id, error)
      }
    }
  }

  #down(code: number, reason: string): void {
    this.#transport = undefined
    const why = this.#misgreeting?.message ?? `${reason || 'the connection was lost'} (${code})`
    this.#misgreeting = undefined
    const refusal = final.get(code)
    const error =
      refusal === undefined ? new ConnectionError('unreachable', why) : new ProtocolError(refusal, why)
    if (this.#welcomed !== undefined) {
      this.#welcomed.reject(error)
      this.#welcomed = undefined
    } else if (!this.#over) {
      if (refusal !== undefined) this.#end(error)
      else this.#retry(why)
    }
  }

  #retry(reason: string): void {
    const wait = Math.random() * Math.min(longestWait, firstWait * 2 ** this.#failures++)
    this.#events.reconnecting(wait, reason)
    this.#timer = setTimeout(() => {
      this.#connect().catch((error: unknown) => {
        if (this.#over) return
        if (isFinal(error)) this.#end(error)
        else this.#retry(error instanceof Error ? error.message : String(error))
      })
    }, wait)
  }

  #end(error: Error | undefined): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#pending.fail(error ?? new ConnectionError('closed', 'the connection was closed'))
    this.#events.closed(error)
  }
}

const isFinal = (error: unknown): error is ProtocolError => error instanceof ProtocolError && !error.retryable

interface Sent {
  /** What its sender says. */
  readonly said: string
  /** What of it goes out. */
  readonly text: string
  /** More than one where the same was sent again meanwhile. */
  readonly waiters: readonly Waiter<AnyEnvelope>[]
}

/** What may wait for its acknowledgement before more is refused. */
const maxPending = 10_000

/** Envelopes that were sent and not yet acknowledged, in the order they were sent [MEUP-1.11]. */
class Pending {
  readonly #sent = new Map<string, Sent>()

  has(id: string): boolean {
    return this.#sent.has(id)
  }

  /** Throws when too much waits, or when the id stands for something else that is on its way. */
  add(id: string, said: string, text = said): Promise<AnyEnvelope> {
    const known = this.#sent.get(id)
    if (known !== undefined && known.said !== said) {
      throw new TypeError(`another envelope with the id ${id} is on its way; use a fresh id`)
    }
    if (known === undefined && this.#sent.size >= maxPending) {
      const message = `${maxPending} envelopes wait for their acknowledgement; await what send() returns`
      throw new ConnectionError('queue_full', message)
    }
    return new Promise((resolve, reject) => {
      const waiters = [...(known?.waiters ?? []), { resolve, reject }]
      this.#sent.set(id, { said, text: known?.text ?? text, waiters })
    })
  }

  acknowledge(echo: AnyEnvelope): void {
    for (const { resolve } of this.#take(echo.id)) resolve(echo)
  }

  /** Whether the error was about one of these. */
  refuse(id: string, payload: ErrorPayload | ProtocolError): boolean {
    const waiters = this.#take(id)
    const { code, message } = payload
    const details = payload instanceof ProtocolError ? payload.details : errorDetails(payload)
    for (const { reject } of waiters) reject(new ProtocolError(code, message, details))
    return waiters.length > 0
  }

  /** For a new connection: an id the gateway knows is answered with the original, so nothing is done twice. */
  texts(): [id: string, text: string][] {
    return [...this.#sent].map(([id, { text }]) => [id, text])
  }

  fail(error: Error): void {
    for (const id of [...this.#sent.keys()]) for (const { reject } of this.#take(id)) reject(error)
  }

  #take(id: string): readonly Waiter<AnyEnvelope>[] {
    const waiters = this.#sent.get(id)?.waiters ?? []
    this.#sent.delete(id)
    return waiters
  }
}
