import { ContextStates, getEndedSession, isProgramEnd } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind, type PresencePayload } from '@meup/protocol'

/**
 * Those of whom an answer to a question may come, as long as it has none: when the programs of all have ended, none will
 * [MEUP-13.26].
 */
export class Askees {
  readonly #question: string
  /** Whom the question names; `undefined` = anybody may answer. */
  readonly #named: readonly string[] | undefined
  readonly #isPresent: (id: string) => boolean
  /** Whether the log has the question. */
  #isAsked = false
  readonly #contexts = new ContextStates({ closed: 0 })
  /** Open runs about it. */
  readonly #thinking = new Set<string>()
  /** Whose program has ended since the question. */
  readonly #ended = new Set<string>()
  /** Of whom a program has ended; they may have others. */
  readonly #leaving = new Set<string>()

  constructor(question: string, named: readonly string[] | undefined, isPresent: (id: string) => boolean) {
    this.#question = question
    this.#named = named
    this.#isPresent = isPresent
  }

  /** Whose program was the last to end; `undefined` = an answer may come. Presence is to be as of this envelope. */
  apply(envelope: AnyEnvelope): string | undefined {
    this.#isAsked ||= envelope.id === this.#question
    // What ended before was not asked.
    if (!this.#isAsked) return undefined
    const ended = this.#findEnded(envelope)
    if (ended === undefined) return undefined
    this.#ended.add(ended)
    const isOver = this.#named?.every((id) => this.#ended.has(id)) ?? this.#thinking.size === 0
    return isOver ? ended : undefined
  }

  #findEnded(envelope: AnyEnvelope): string | undefined {
    if (envelope.kind === Kind.systemPresence) return this.#findGone(envelope)
    const [change] = this.#contexts.apply(envelope)
    if (change?.what === 'opened') {
      const isAbout = envelope.context === undefined && correlations(envelope).includes(this.#question)
      if (isAbout) this.#thinking.add(change.opened.context)
    } else if (change?.what === 'closed') {
      const { context, owner } = change.opened
      if (this.#thinking.delete(context) && isProgramEnd(envelope)) return owner
    }
    return undefined
  }

  /** A program that ends without a run ends what it was asked too: its successor does not know of it. */
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
