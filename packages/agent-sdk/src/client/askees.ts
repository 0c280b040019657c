import { ContextStates, getAsked, getEndedSession, isHandOver, isProgramEnd } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind, type PresencePayload } from '@meup/protocol'

/**
 * Tracks the participants that may still answer a question. When all their programs have ended, no answer will come
 * [MEUP-13.26].
 */
export class Askees {
  /** Ids of the question, and of the chats that have handed it over. */
  readonly #questions: Set<string>
  /** The addressees, updated when the question is handed over; `undefined` = anyone may answer. */
  #named: readonly string[] | undefined
  readonly #isPresent: (id: string) => boolean
  /** Whether the question is in the log. */
  #isAsked = false
  readonly #contexts = new ContextStates({ closed: 0 })
  /** Open runs about the question. */
  readonly #thinking = new Set<string>()
  /** Participants whose program has ended since the question was asked. */
  readonly #ended = new Set<string>()
  /** Participants with at least one ended program; another one may still be connected. */
  readonly #leaving = new Set<string>()

  constructor(question: string, named: readonly string[] | undefined, isPresent: (id: string) => boolean) {
    this.#questions = new Set([question])
    this.#named = named
    this.#isPresent = isPresent
  }

  /**
   * Applies an envelope. When no answer can come any more, returns the participant whose program was the last to end. Call it
   * after presence has been updated with the same envelope.
   */
  apply(envelope: AnyEnvelope): string | undefined {
    this.#isAsked ||= this.#questions.has(envelope.id)
    // Programs that ended before the question was asked are ignored.
    if (!this.#isAsked) return undefined
    const ended = this.#findEnded(envelope)
    if (ended === undefined) return undefined
    this.#ended.add(ended)
    const isOver = this.#named?.every((id) => this.#ended.has(id)) ?? this.#thinking.size === 0
    return isOver ? ended : undefined
  }

  /** If the envelope hands the question over, replaces its sender by the new addressees, and returns true. */
  handOver(envelope: AnyEnvelope): boolean {
    const { id, kind, from } = envelope
    const isOurs = kind === Kind.chat && isHandOver(envelope) && this.#isAbout(envelope)
    if (!isOurs || this.#named?.includes(from) === false) return false
    this.#questions.add(id)
    this.#named = this.#named && [...this.#named.filter((each) => each !== from), ...getAsked(envelope)]
    return true
  }

  #isAbout(envelope: AnyEnvelope): boolean {
    return correlations(envelope).some((id) => this.#questions.has(id))
  }

  #findEnded(envelope: AnyEnvelope): string | undefined {
    if (envelope.kind === Kind.systemPresence) return this.#findGone(envelope)
    const [change] = this.#contexts.apply(envelope)
    if (change?.what === 'opened') {
      const isAbout = envelope.context === undefined && this.#isAbout(envelope)
      if (isAbout) this.#thinking.add(change.opened.context)
    } else if (change?.what === 'closed') {
      const { context, owner } = change.opened
      if (this.#thinking.delete(context) && isProgramEnd(envelope)) return owner
    }
    return undefined
  }

  /** The participant whose program ended without a run about the question: its next program does not receive the question. */
  #findGone(envelope: AnyEnvelope): string | undefined {
    const { participant, event, session } = envelope.payload as unknown as PresencePayload
    if (this.#named?.includes(participant.id) !== true) return undefined
    const gone = getEndedSession(envelope)
    if (gone !== undefined) this.#leaving.add(gone.participant)
    const isReplaced = session?.event === 'replaced'
    const isGone = isReplaced || (event === 'leave' && this.#leaving.has(participant.id))
    return isGone || (gone !== undefined && !this.#isPresent(gone.participant)) ? participant.id : undefined
  }
}
