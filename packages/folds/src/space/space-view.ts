import type { Envelope, WelcomePayload } from '@meup/protocol'
import { FoldProgress } from '../fold.js'
import type { IsGone } from './calls.js'
import type { Participants } from './participants.js'

/** A fold of one fact about a space, such as its participants or its proposals. */
interface Fact {
  apply(envelope: Envelope): unknown
  onWelcome?(welcome: WelcomePayload): unknown
  /** Closes what participants left open that are no longer members, such as proposals, and returns the changes. */
  closeBy?(isGone: IsGone, envelope: Envelope): readonly unknown[]
  /** Returns the state of the fact as JSON. */
  snapshot?(): unknown
  restore?(snapshot: never): void
}

type Facts = Readonly<Record<string, Fact>> & { readonly participants?: Participants }

/** The changes that an envelope makes, by the name of the fact. */
export type SpaceChanges<Kept extends Facts> = {
  readonly [Name in keyof Kept]: ReturnType<Kept[Name]['apply']>
}

/** The changes that a welcome makes, by the name of the fact; `undefined` for facts that a welcome does not contain. */
export type WelcomeChanges<Kept extends Facts> = {
  readonly [Name in keyof Kept]: Kept[Name] extends { onWelcome(welcome: never): infer Change }
    ? Change
    : undefined
}

export type SpaceSnapshot<Kept extends Facts> = { readonly seq: number; readonly head: number | null } & {
  readonly [Name in keyof Kept]: Kept[Name] extends { snapshot(): infer Snapshot } ? Snapshot : undefined
}

/**
 * A space as known to one reader. Each fact is one fold, and only the facts that the reader names are folded. Also handles
 * dependencies between facts: proposals of former members are closed [MEUP-3.22].
 */
export class SpaceView<const Kept extends Facts> {
  readonly facts: Kept
  readonly #folds: readonly (readonly [name: string, fold: Fact])[]
  readonly #progress = new FoldProgress()
  /** Seq of the log's head in the last welcome, while earlier envelopes are still replayed; `null` = the log has reached it. */
  #head: number | null = null

  constructor(facts: Kept) {
    this.facts = facts
    this.#folds = Object.entries<Fact>(facts)
  }

  /** Seq of the last applied envelope; 0 = none. */
  get seq(): number {
    return this.#progress.seq
  }

  /**
   * Applies an envelope; returns `undefined` if it was applied before. Envelopes that are not logged, such as deltas, are
   * always applied.
   */
  apply(envelope: Envelope): SpaceChanges<Kept> | undefined {
    if (envelope.seq !== undefined && !this.#progress.advance(envelope)) return undefined
    const changes: Record<string, unknown> = {}
    for (const [name, fold] of this.#folds) changes[name] = fold.apply(envelope)
    const isGone = this.#findGone()
    if (isGone === undefined) return changes as SpaceChanges<Kept>
    for (const [name, fold] of this.#folds) {
      const closed = fold.closeBy?.(isGone, envelope) ?? []
      if (closed.length > 0) changes[name] = [...(changes[name] as readonly unknown[]), ...closed]
    }
    return changes as SpaceChanges<Kept>
  }

  /** Applies a welcome. Call it for each welcome, before the envelopes that follow it. */
  onWelcome(welcome: WelcomePayload): WelcomeChanges<Kept> {
    // If the log was replaced, the position in the old one has no meaning: the new log starts at 1.
    if (welcome.resume?.status === 'lost') this.#progress.seq = 0
    this.#head = welcome.space.head
    const changes = this.#folds.map(([name, fold]) => [name, fold.onWelcome?.(welcome)] as const)
    return Object.fromEntries(changes) as WelcomeChanges<Kept>
  }

  /** The state of all facts. Serialize it before the next envelope, because it shares objects with the folds. */
  snapshot(): SpaceSnapshot<Kept> {
    const folds = this.#folds.map(([name, fold]) => [name, fold.snapshot?.()] as const)
    return { seq: this.seq, head: this.#head, ...Object.fromEntries(folds) } as SpaceSnapshot<Kept>
  }

  /** Restores a snapshot; only before the first `apply`. */
  restore(snapshot: SpaceSnapshot<Kept>): void {
    this.#progress.seq = snapshot.seq
    this.#head = snapshot.head
    for (const [name, fold] of this.#folds) fold.restore?.(snapshot[name] as never)
  }

  /**
   * Finds the participants that left the space since the last envelope. A welcome describes the members at its head; until the
   * log reaches it, others may still act.
   */
  #findGone(): IsGone | undefined {
    const { participants } = this.facts
    if (participants === undefined) return undefined
    if (this.#head !== null && this.seq >= this.#head) {
      const head = this.#head
      this.#head = null
      return ({ from, seq }) => seq <= head && !participants.has(from)
    }
    const { gone } = participants
    return gone.length === 0 ? undefined : ({ from }) => gone.includes(from)
  }
}
