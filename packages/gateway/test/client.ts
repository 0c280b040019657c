import { type Envelope, type ErrorPayload, GATEWAY, type WelcomePayload } from '@meup/protocol'
import type { WebSocket } from 'ws'

/** Milliseconds without a matching frame after which a test fails. */
const deadlineMs = 20_000

/** An envelope to send; the id is generated if absent. */
export type Sent = Record<string, unknown> & { id?: string }

type Matches = (frame: Envelope) => boolean

let ids = 0
export const freshId = (): string => `t${++ids}`

export const byId =
  (id: unknown): Matches =>
  (frame) =>
    frame.id === id
export const ofKind =
  (kind: string): Matches =>
  (frame) =>
    frame.kind === kind
export const errorFor =
  (id: unknown): Matches =>
  (frame) =>
    frame.kind === 'system.error' && frame.correlationId === id

/** Matches the presence event of a participant. */
export const presence =
  (event: 'join' | 'leave', participant: string): Matches =>
  ({ kind, payload }) =>
    kind === 'system.presence' &&
    payload.event === event &&
    (payload.participant as { id: string }).id === participant

/** The ids of the envelopes from participants, in order; those of the gateway are left out. */
export const said = (frames: readonly Envelope[]): string[] =>
  frames.filter(({ from }) => from !== GATEWAY).map(({ id }) => id)

/** The seqs of the logged frames. */
export const seqs = (frames: readonly Envelope[]): number[] =>
  frames.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** A client on a real WebSocket. Frames are read in the order of arrival; each wait has a deadline. */
export class Client {
  /** The participant; after the first welcome, the id in that welcome. */
  participant: string
  readonly ws: WebSocket
  readonly frames: Envelope[] = []
  readonly texts = new Map<Envelope, string>()
  readonly closed: Promise<{ code: number; reason: string }>
  #read = 0
  #gone: number | undefined
  #wakers: (() => void)[] = []

  constructor(participant: string, ws: WebSocket) {
    this.participant = participant
    this.ws = ws
    ws.on('message', (data) => {
      const text = data.toString()
      const frame = JSON.parse(text) as Envelope
      if (frame.kind === 'system.welcome') this.participant = (frame.payload as WelcomePayload).you.id
      this.frames.push(frame)
      this.texts.set(frame, text)
      this.#wake()
    })
    this.closed = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        this.#gone = code
        this.#wake()
        resolve({ code, reason: reason.toString() })
      })
    })
  }

  /** Returns the unread frames up to and including the first that matches. Fails if no further frame arrives in time. */
  async until(matches: Matches): Promise<Envelope[]> {
    const start = this.#read
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#wake()
    }, deadlineMs)
    try {
      for (let at = start; ; at++) {
        while (at >= this.frames.length) {
          if (isLate || this.#gone !== undefined) throw this.#vain(start)
          await new Promise<void>((resolve) => this.#wakers.push(resolve))
        }
        timer.refresh()
        const frame = this.frames[at]
        if (frame === undefined || !matches(frame)) continue
        this.#read = at + 1
        return this.frames.slice(start, at + 1)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** The next frame that matches; skips the frames before it. */
  async next(matches: Matches): Promise<Envelope> {
    return last(await this.until(matches))
  }

  send(frame: Sent | string | Uint8Array): void {
    this.ws.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame))
  }

  /** Sends an envelope and returns its acknowledgement. */
  async accepted(sent: Sent): Promise<Envelope & { seq: number }> {
    const id = sent.id ?? freshId()
    this.send({ ...sent, id })
    const answer = await this.#answerTo(id)
    const { seq } = answer
    if (seq === undefined) throw new Error(`${id} was refused: ${JSON.stringify(answer.payload)}`)
    return { ...answer, seq }
  }

  /** Sends an envelope and returns why it was refused. */
  async refused(sent: Sent): Promise<ErrorPayload> {
    const id = sent.id ?? freshId()
    this.send({ ...sent, id })
    const answer = await this.#answerTo(id)
    if (answer.kind !== 'system.error') throw new Error(`${id} was accepted: ${JSON.stringify(answer)}`)
    return answer.payload as ErrorPayload
  }

  /** Changes the subscription and returns the welcome that answers it. */
  async subscribe(payload: Record<string, unknown>): Promise<WelcomePayload> {
    this.send({ kind: 'observe.subscribe', payload })
    const answer = await this.next(({ kind }) => kind === 'system.welcome' || kind === 'system.error')
    if (answer.kind === 'system.error') throw new Error(JSON.stringify(answer.payload))
    return answer.payload as WelcomePayload
  }

  async close(): Promise<void> {
    this.ws.close(1000)
    await this.closed
  }

  #answerTo(id: string): Promise<Envelope> {
    return this.next((frame) => (frame.id === id && frame.from === this.participant) || errorFor(id)(frame))
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake()
  }

  #vain(start: number): Error {
    const seen = this.frames
      .slice(start)
      .map((frame) => `${frame.kind} ${JSON.stringify(frame.payload).slice(0, 200)}`)
    const end = this.#gone === undefined ? 'the deadline passed' : `it was closed with ${this.#gone}`
    const tail = seen.slice(-5).join('\n')
    return new Error(`${this.participant} waited for a frame until ${end}; it got ${seen.length}:\n${tail}`)
  }
}

function last<T>(items: readonly T[]): T {
  const item = items.at(-1)
  if (item === undefined) throw new Error('nothing came')
  return item
}
