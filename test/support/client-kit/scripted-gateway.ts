import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pauses, restrictionInfo } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capability,
  defaultLimits,
  Kind,
  type ParticipantDetails,
  PROTOCOL,
  type WelcomePayload,
} from '@meup/protocol'
import { type WebSocket, WebSocketServer } from '../../../packages/agent-sdk/test/support/ws.js'

/** The fields of an envelope that a test sets; the gateway adds the others. */
export interface Said {
  readonly kind: string
  readonly id?: string
  readonly to?: readonly string[]
  readonly correlationId?: string | readonly string[]
  readonly context?: string
  readonly payload?: object
}

/** A frame that the client under test has sent. */
export interface Sent {
  readonly text: string
  readonly envelope: AnyEnvelope
  /** Time of arrival, in milliseconds of `performance.now`. */
  readonly at: number
}

/** An attempt of the client to connect. */
export interface Attempt {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly at: number
}

/** An HTTP response to the upgrade request, instead of a WebSocket. */
export interface HttpRefusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Decides what to do with a frame; `undefined` = accept it. */
export type Script = (sent: Sent, line: Line) => 'withhold' | Refusal | undefined

interface Refusal {
  readonly code: string
  readonly retryAfterMs?: number
  readonly details?: object
}

/** Maximum milliseconds to wait for the client, for a busy machine. */
const awaitTimeoutMs = 30_000

const next = async (events: EventEmitter, name: string, awaited: string): Promise<unknown[]> => {
  try {
    return await once(events, name, { signal: AbortSignal.timeout(awaitTimeoutMs) })
  } catch (cause) {
    throw new Error(`there was no ${awaited}`, { cause })
  }
}

/** Id of the participant that the client under test is. */
export const client = 'ben'

/** A gateway that behaves as a test wants, over real sockets. Without a script, it accepts every envelope. */
export class ScriptedGateway {
  readonly #http: Server
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'meup.v0.3' })
  readonly #events = new EventEmitter()
  readonly #lines: Line[] = []
  readonly attempts: Attempt[] = []
  /** Responses that refuse the next attempts to connect, before one succeeds. */
  readonly refusals: HttpRefusal[] = []
  epoch = 'e1'
  head = 0
  script: Script = () => undefined
  /** Fields that a test adds to every welcome, such as `limits`. */
  state: Partial<WelcomePayload> = {}
  readonly #pauses = new Pauses()
  #ids = 0
  #taken = 0

  private constructor(http: Server) {
    this.#http = http
    this.#events.setMaxListeners(0)
    http.on('upgrade', (request, socket, head) => {
      const url = new URL(request.url ?? '', this.url)
      this.attempts.push({ url, headers: request.headers, at: performance.now() })
      const refusal = this.refusals.shift()
      if (refusal !== undefined) {
        const { status, headers = {}, body = '' } = refusal
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        const length = `content-length: ${Buffer.byteLength(body)}\r\n`
        socket.end(`HTTP/1.1 ${status} No\r\n${lines.join('')}${length}connection: close\r\n\r\n${body}`)
      } else {
        this.#sockets.handleUpgrade(request, socket, head, (ws) => {
          this.#lines.push(new Line(this, ws, url, request.headers))
          this.#events.emit('line')
        })
      }
    })
  }

  static async start(): Promise<ScriptedGateway> {
    const http = createServer((_, response) => void response.writeHead(404).end())
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    return new ScriptedGateway(http)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** Milliseconds between consecutive attempts to connect. */
  get waits(): number[] {
    const at = this.attempts.map((attempt) => attempt.at)
    return at.slice(1).map((time, index) => time - (at[index] ?? 0))
  }

  /** Waits for the next connection. */
  async next(): Promise<Line> {
    while (this.#lines.length <= this.#taken) await next(this.#events, 'line', 'other connection')
    return this.#lines[this.#taken++] as Line
  }

  /** Waits for the next connection, and sends its welcome. */
  async welcomed(change: Partial<WelcomePayload> = {}): Promise<Line> {
    const line = await this.next()
    line.welcome(change)
    return line
  }

  /** Completes an envelope as the log would have it, with the next seq. */
  accept(from: string, said: Said, seq = ++this.head): AnyEnvelope {
    const fields = { id: `g-${++this.#ids}`, payload: {}, ...said }
    const common = { seq, protocol: PROTOCOL, ts: new Date().toISOString() }
    const envelope = { ...common, from, ...fields } as AnyEnvelope
    this.#pauses.apply({ ...envelope })
    return envelope
  }

  /** Describes a participant as in a welcome: present, and paused if it was paused. */
  participant(id: string, kind: string, capabilities: Capability[]): ParticipantDetails {
    const pause = this.#pauses.get(id, Date.now())
    return { id, kind, capabilities, status: 'present', ...(pause && { paused: restrictionInfo(pause) }) }
  }

  /** Makes a frame of the gateway that is not logged. */
  frame(kind: string, payload: object, more: object = {}): object {
    const ts = new Date().toISOString()
    const from = 'system:gateway'
    return { protocol: PROTOCOL, id: `w-${++this.#ids}`, ts, from, to: [client], kind, payload, ...more }
  }

  close(): void {
    for (const ws of this.#sockets.clients) ws.terminate()
    this.#http.closeAllConnections()
    this.#http.close()
  }
}

/** A connection of the client under test. */
export class Line {
  readonly #gateway: ScriptedGateway
  readonly #ws: WebSocket
  readonly #events = new EventEmitter()
  readonly sent: Sent[] = []
  /** Last seq of the replay that was announced. */
  #replayedTo = 0
  readonly closed: Promise<number>

  constructor(
    gateway: ScriptedGateway,
    ws: WebSocket,
    readonly url: URL,
    readonly headers: IncomingHttpHeaders,
  ) {
    this.#gateway = gateway
    this.#ws = ws
    this.#events.setMaxListeners(0)
    this.closed = once(ws, 'close').then(([code]) => code as number)
    ws.on('message', (data) => this.#onFrame(String(data)))
  }

  get gateway(): ScriptedGateway {
    return this.#gateway
  }

  /** Envelopes that the client has sent on this connection, except subscriptions. */
  get envelopes(): AnyEnvelope[] {
    return this.sent.map(({ envelope }) => envelope).filter(({ kind }) => kind !== Kind.observeSubscribe)
  }

  welcome(change: Partial<WelcomePayload> = {}, answers?: string): void {
    const { epoch, head, frame, state } = this.#gateway
    const capabilities = ['*']
    const list = (id: string, kind: string) => this.#gateway.participant(id, kind, capabilities)
    const payload: WelcomePayload = {
      you: { id: client, capabilities },
      participants: [list(client, 'agent'), list('ana', 'human'), list('bob', 'agent')],
      space: { id: 'demo', epoch, head },
      resume: { status: 'live', from: head + 1, to: head },
      contexts: [],
      subscription: { suppressed: { envelopes: 0, bytes: 0 } },
      limits: defaultLimits,
      mcp: { visibility: 'everyone' },
      proposals: [],
      ...state,
      ...change,
    }
    this.#replayedTo = payload.resume.to
    const more = answers === undefined ? {} : { correlationId: answers }
    this.raw(JSON.stringify(frame.call(this.#gateway, Kind.systemWelcome, payload, more)))
  }

  /** Sends frames as texts. */
  raw(...texts: string[]): void {
    for (const text of texts) this.#ws.send(text)
  }

  deliver(...envelopes: object[]): void {
    this.raw(...envelopes.map((envelope) => JSON.stringify(envelope)))
  }

  /** Delivers an envelope of a participant. */
  say(from: string, said: Said): AnyEnvelope {
    const envelope = this.#gateway.accept(from, said)
    this.deliver(envelope)
    return envelope
  }

  /** Acknowledges an envelope for which the script returned `withhold`: delivers it, with a seq, to the client that sent it. */
  acknowledge({ envelope }: Sent): void {
    this.say(client, envelope as Said)
  }

  refuse(id: string | undefined, { code, ...more }: Refusal): void {
    const payload = { code, message: `refused as ${code}`, ...more }
    this.deliver(
      this.#gateway.frame(Kind.systemError, payload, id === undefined ? {} : { correlationId: id }),
    )
  }

  /** Waits for the first frame that fits. `from`: index of the first frame to consider. */
  async until(fits: (envelope: AnyEnvelope, sent: Sent) => boolean, from = 0): Promise<Sent> {
    for (;;) {
      const found = this.sent.slice(from).find((sent) => fits(sent.envelope, sent))
      if (found !== undefined) return found
      const ended = this.closed.then((code) => {
        throw new Error(`the client closed the connection (${code}) before it sent what is awaited`)
      })
      await Promise.race([next(this.#events, 'sent', 'such frame'), ended])
    }
  }

  /** Resolves when the client has read all delivered frames, and its immediate reactions have arrived. */
  async settled(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const pong = next(this.#ws, 'pong', 'pong')
      this.#ws.ping()
      await pong
    }
  }

  /** Cuts the connection without a close frame. */
  cut(): Promise<number> {
    this.#ws.terminate()
    return this.closed
  }

  close(code: number): Promise<number> {
    this.#ws.close(code)
    return this.closed
  }

  /** Answers a subscription with a welcome. During a replay, the welcome announces the rest of it [MEUP-5.17]. */
  #subscribed(id: string): void {
    const [{ head }, to] = [this.#gateway, this.#replayedTo]
    this.welcome(head < to ? { resume: { status: 'replaying', from: head + 1, to } } : {}, id)
  }

  #onFrame(text: string): void {
    const sent = { text, envelope: JSON.parse(text) as AnyEnvelope, at: performance.now() }
    this.sent.push(sent)
    const { kind, id } = sent.envelope
    const outcome = this.#gateway.script(sent, this)
    if (kind === Kind.observeSubscribe && outcome === undefined) this.#subscribed(id)
    else if (kind === Kind.chatDelta) this.#events.emit('delta')
    else if (outcome === undefined) this.say(client, sent.envelope as Said)
    else if (outcome !== 'withhold') this.refuse(id, outcome)
    this.#events.emit('sent')
  }
}
