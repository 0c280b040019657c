import { getEndedSession } from '@meup/folds'
import { type AnyEnvelope, type EnvelopeOf, Kind, type WelcomePayload } from '@meup/protocol'
import type { ClientHandler } from '../client/handler.js'
import { setLongTimeout } from '../client/long-timeout.js'

type Asker = Pick<EnvelopeOf<typeof Kind.mcpRequest>, 'from' | 'session'>

/** Milliseconds after which an absent participant counts as gone; runs without a session have the same limit [MEUP-2.16]. */
const goneMs = 60_000

interface GoneAskersOptions {
  /** Whether a participant is waiting for an answer. */
  readonly isAsking: (id: string) => boolean
  /** Called with a predicate that selects the askers that are gone. */
  readonly onGone: (isGone: (asker: Asker) => boolean) => void
}

/**
 * Detects askers that can no longer receive an answer: those of a session when it ends [MEUP-3.29], those without a session
 * after a long absence.
 */
export class GoneAskers implements ClientHandler {
  readonly #options: GoneAskersOptions
  /** Functions that cancel the timer after which an absent participant counts as gone, by participant. */
  readonly #left = new Map<string, () => void>()

  constructor(options: GoneAskersOptions) {
    this.#options = options
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.systemPresence) return
    const ended = getEndedSession(envelope)
    if (ended !== undefined)
      this.#options.onGone(({ from, session }) => from === ended.participant && session === ended.session)
    const { event, participant } = envelope.payload
    if (event === 'join') this.#onHere(participant.id)
    else if (event === 'leave') this.#onLeft(participant.id)
  }

  /** Catches up on joins and leaves during a disconnection. */
  onWelcome({ participants }: WelcomePayload): void {
    for (const { id, status } of participants) {
      if (status === 'present') this.#onHere(id)
      else this.#onLeft(id)
    }
  }

  onClose(): void {
    for (const id of [...this.#left.keys()]) this.#onHere(id)
  }

  #onHere(id: string): void {
    this.#left.get(id)?.()
    this.#left.delete(id)
  }

  #onLeft(id: string): void {
    if (this.#left.has(id) || !this.#options.isAsking(id)) return
    const cancel = setLongTimeout(goneMs, () => {
      this.#left.delete(id)
      this.#options.onGone(({ from, session }) => from === id && session === undefined)
    })
    this.#left.set(id, cancel)
  }
}
