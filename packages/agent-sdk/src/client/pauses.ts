import { type AnyEnvelope, type ErrorPayload, Kind } from '@meup/protocol'
import type { ClientHandler } from './handler.js'
import { setLongTimeout } from './long-timeout.js'
import type { ParticipantList } from './space-state.js'

/** A pause of this participant [MEUP-3.13]. */
export interface Pause {
  /** The participant that sent the pause; absent if only a refusal reported it. */
  readonly by?: string
  readonly reason?: string
  /** RFC 3339: when the pause ends automatically. */
  readonly until?: string
}

/** Added to each timer, which may fire a millisecond early, before the pause has ended at the gateway. */
const timerSlackMs = 2

/** The maximum time of a `Date`, in ms. */
const maxTime = 8.64e15

/**
 * Tracks the pause of this participant: as in the list of participants or, until that is updated, as in a refusal that
 * reports the pause.
 */
export class OwnPause implements ClientHandler {
  readonly #client: { readonly id: string }
  readonly #participants: Pick<ParticipantList, 'find' | 'now'>
  readonly #onChange: (pause: Pause | undefined) => void
  #refused: Pause | undefined
  current: Pause | undefined
  #cancel = (): void => {}

  constructor(
    client: { readonly id: string },
    participants: Pick<ParticipantList, 'find' | 'now'>,
    onChange: (pause: Pause | undefined) => void,
  ) {
    this.#client = client
    this.#participants = participants
    this.#onChange = onChange
  }

  onWelcome(): void {
    this.#update(undefined)
  }

  onEnvelope({ kind, to }: AnyEnvelope): void {
    const isResumed = kind === Kind.participantResume && to?.includes(this.#client.id)
    this.#update(isResumed ? undefined : this.#refused)
  }

  /** Handles a refusal, which may arrive before the envelope of the pause. */
  onRefused({ code, retryAfterMs = Number.POSITIVE_INFINITY }: ErrorPayload): void {
    if (code !== 'participant_paused' || this.current !== undefined) return
    const end = this.#participants.now() + retryAfterMs
    this.#update(end < maxTime ? { until: new Date(end).toISOString() } : {})
  }

  onClose(): void {
    this.#cancel()
  }

  #update(refused: Pause | undefined): void {
    const before = this.current
    const known = this.#participants.find(this.#client.id)?.paused
    this.#refused = known === undefined ? refused : undefined
    this.current = known ?? refused
    this.#cancel()
    if (this.current?.until !== undefined) {
      const leftMs = Date.parse(this.current.until) - this.#participants.now()
      this.#cancel = setLongTimeout(leftMs + timerSlackMs, () => this.#update(undefined))
    }
    if (JSON.stringify(this.current) !== JSON.stringify(before)) this.#onChange(this.current)
  }
}
