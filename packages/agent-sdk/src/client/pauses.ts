import { type AnyEnvelope, type EnvelopeOf, type ErrorPayload, Kind } from '@meup/protocol'
import type { ClientHandler } from './handler.js'
import { setLongTimeout } from './wait.js'

/** A pause of this participant [MEUP-3.13]. */
export interface Pause {
  /** Absent if the pause is known from a refusal only. */
  readonly by?: string
  readonly reason?: string
  /** RFC 3339: when it ends automatically. */
  readonly until?: string
}

/** A timer may fire a millisecond early, while the gateway still refuses. */
const timerSlackMs = 2

/** The latest time of a `Date`. */
const maxTime = 8.64e15

/** The current pause of this participant, as far as it is known. */
export class Pauses implements ClientHandler {
  readonly #client: { readonly id: string }
  readonly #onChange: (pause: Pause | undefined) => void
  #current: Pause | undefined
  #cancel = (): void => {}

  constructor(client: { readonly id: string }, onChange: (pause: Pause | undefined) => void) {
    this.#client = client
    this.#onChange = onChange
  }

  get current(): Pause | undefined {
    return this.#current
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.systemPresence) this.#onPresence(envelope)
    if (envelope.kind !== Kind.participantPause && envelope.kind !== Kind.participantResume) return
    if (!envelope.to?.includes(this.#client.id)) return
    if (envelope.kind === Kind.participantResume) this.#set(undefined)
    else this.#pause(envelope)
  }

  /** The gateway tells that its time is over: that clock counts [MEUP-3.28]. */
  #onPresence({ payload: { participant, ended } }: EnvelopeOf<typeof Kind.systemPresence>): void {
    if (ended?.what === 'pause' && participant.id === this.#client.id) this.#set(undefined)
  }

  /** A refusal reveals a pause that began before this connection. */
  onRefused({ code, retryAfterMs = Number.POSITIVE_INFINITY }: ErrorPayload): void {
    if (code !== 'participant_paused' || this.#current !== undefined) return
    this.#begin({}, Math.min(Date.now() + retryAfterMs, maxTime))
  }

  onClose(): void {
    this.#cancel()
  }

  #pause({ from: by, ts, payload }: EnvelopeOf<typeof Kind.participantPause>): void {
    const { reason, timeoutSeconds = Number.POSITIVE_INFINITY } = payload
    const end = Math.min(Date.parse(ts) + timeoutSeconds * 1000, maxTime)
    if (end > Date.now()) this.#begin({ by, ...(reason !== undefined && { reason }) }, end)
    else this.#set(undefined)
  }

  #begin(pause: Pause, end: number): void {
    this.#set(end < maxTime ? { ...pause, until: new Date(end).toISOString() } : pause)
    this.#cancel = setLongTimeout(end - Date.now() + timerSlackMs, () => this.#set(undefined))
  }

  #set(pause: Pause | undefined): void {
    this.#cancel()
    const before = this.#current
    this.#current = pause
    if (pause !== before) this.#onChange(pause)
  }
}
