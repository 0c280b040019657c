import { ContextStates, getAsked, getEndedSession, isHandOver, isProgramEnd } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind, type PresencePayload } from '@meup/protocol'

/** The participants that may still answer a question: once all their programs have ended, no answer will come [MEUP-13.26]. */
export class Askees {
  /** Ids of the question, and of the chats that hand it over. */
  readonly #questions: Set<string>
  /** The addressees, or those that it was handed to; `undefined` = anyone may answer. */
  #named: readonly string[] | undefined
  readonly #isPresent: (id: string) => boolean
  /** Whether the question is in the log. */
  #isAsked = false
  readonly #contexts = new ContextStates({ closed: 0 })
  /** Open runs about it. */
  readonly #thinking = new Set<string>()
  /** Participants whose program has ended since the question. */
  readonly #ended = new Set<string>()
  /** Participants of whom a program has ended; they may have others. */
  readonly #leaving = new Set<string>()

  constructor(question: string, named: readonly string[] | undefined, isPresent: (id: string) => boolean) {
    this.#questions = new Set([question])
    this.#named = named
    this.#isPresent = isPresent
  }

  /**
   * Returns the participant whose program was the last to end; `undefined` = an answer may come. Presence has to be as of this
   * envelope.
   */
  apply(envelope: AnyEnvelope): string | undefined {
    this.#isAsked ||= this.#questions.has(envelope.id)
    // Programs that ended before the question do not matter.
    if (!this.#isAsked) return undefined
    const ended = this.#findEnded(envelope)
    if (ended === undefined) return undefined
    this.#ended.add(ended)
    const isOver = this.#named?.every((id) => this.#ended.has(id)) ?? this.#thinking.size === 0
    return isOver ? ended : undefined
  }

  /** Returns whether the envelope hands the question over; the new askees replace its sender. */
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

  /** A program that ends without a run also loses what it was asked: its successor does not know of it. */
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
