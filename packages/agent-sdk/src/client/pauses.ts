import { type AnyEnvelope, type ErrorPayload, Kind } from '@meup/protocol'
import type { ClientHandler } from './handler.js'
import type { GatewayTime, ParticipantList } from './space-state.js'
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

/** The current pause of this participant: its list of participants tells it, or, as long as that does not, a refusal. */
export class Pauses implements ClientHandler {
  readonly #client: { readonly id: string }
  readonly #participants: Pick<ParticipantList, 'find'>
  readonly #time: GatewayTime
  readonly #onChange: (pause: Pause | undefined) => void
  #current: Pause | undefined
  #refused: Pause | undefined
  #cancel = (): void => {}

  constructor(
    client: { readonly id: string },
    participants: Pick<ParticipantList, 'find'>,
    time: GatewayTime,
    onChange: (pause: Pause | undefined) => void,
  ) {
    this.#client = client
    this.#participants = participants
    this.#time = time
    this.#onChange = onChange
  }

  get current(): Pause | undefined {
    return this.#current
  }

  onWelcome(): void {
    this.#refused = undefined
    this.#update()
  }

  onEnvelope({ kind, to }: AnyEnvelope): void {
    if (kind === Kind.participantResume && to?.includes(this.#client.id)) this.#refused = undefined
    if (changing.has(kind)) this.#update()
  }

  /** A refusal reveals a pause that this connection is not told of, or not yet. */
  onRefused({ code, retryAfterMs = Number.POSITIVE_INFINITY }: ErrorPayload): void {
    if (code !== 'participant_paused' || this.#current !== undefined) return
    const end = this.#time.now() + retryAfterMs
    this.#refused = end < maxTime ? { until: new Date(end).toISOString() } : {}
    this.#update()
  }

  onClose(): void {
    this.#cancel()
  }

  #update(): void {
    this.#cancel()
    const before = this.#current
    const told = this.#participants.find(this.#client.id)?.paused
    if (told !== undefined) this.#refused = undefined
    this.#current = told ?? this.#refused
    const { until } = this.#current ?? {}
    if (until !== undefined) {
      const leftMs = Date.parse(until) - this.#time.now()
      this.#cancel = setLongTimeout(leftMs + timerSlackMs, () => this.#onTime())
    }
    if (JSON.stringify(this.#current) !== JSON.stringify(before)) this.#onChange(this.#current)
  }

  #onTime(): void {
    this.#refused = undefined
    this.#update()
  }
}

const changing: ReadonlySet<string> = new Set([
  Kind.participantPause,
  Kind.participantResume,
  Kind.systemPresence,
])
