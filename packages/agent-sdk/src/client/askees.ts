import { getEndedSession, isProgramEnd } from '@meup/folds'
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
  /** Who thinks about it, by their runs. */
  readonly #thinking = new Map<string, string>()
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
    const { kind, id, from, context = '' } = envelope
    if (kind === Kind.reasoningStart) {
      if (context === '' && correlations(envelope).includes(this.#question)) this.#thinking.set(id, from)
      return undefined
    }
    if (kind === Kind.systemPresence) return this.#findGone(envelope)
    if (kind !== Kind.reasoningCancel && kind !== Kind.reasoningConclusion) return undefined
    const thinker = this.#thinking.get(context)
    this.#thinking.delete(context)
    return isProgramEnd(envelope) ? thinker : undefined
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
