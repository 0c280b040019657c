import { contextRoot } from '@meup/protocol'
import { Register, type RegisterSnapshot } from '../register.js'
import { type Draft, draftOf, hide } from './draft.js'

export type DraftsSnapshot = RegisterSnapshot<Draft>

/** The contexts, and which of them the envelope at hand has changed. */
export class Drafts {
  readonly #drafts = new Register({ isOpen, weigh, capacity: { open: 32e6, over: 8e6 } })
  readonly #changed = new Map<string, Draft>()

  get(context: string): Draft | undefined {
    return this.#changed.get(context) ?? this.#drafts.get(context)
  }

  values(): Iterable<Draft> {
    return this.#drafts.values()
  }

  /** Counts as changed. What is new is a free path until a start is seen to open it. */
  touch(context: string, ts: string, seq: number): Draft {
    const draft = this.get(context) ?? draftOf(context, ts, seq)
    this.#changed.set(context, draft)
    return draft
  }

  put(draft: Draft): void {
    this.#changed.set(draft.context, draft)
  }

  /** A run and all that is nested in it are hidden and shown together. */
  hide(root: string, hiddenBy: readonly string[]): void {
    for (const draft of this.#drafts.values()) {
      if (contextRoot(draft.context) !== root) continue
      if (draft.hiddenBy.length + hiddenBy.length === 0) continue
      hide(draft, hiddenBy)
      this.put(draft)
    }
  }

  /** The owner of open contexts has left, and is awaited until then; or is here: `null`. */
  expect(owner: string, expiresAt: string | null): void {
    for (const draft of this.#drafts.values()) {
      if (draft.owner !== owner || draft.state !== 'open' || draft.expiresAt === expiresAt) continue
      draft.expiresAt = expiresAt
      this.put(draft)
    }
  }

  /** What has changed since the last time. */
  flush(): Draft[] {
    const changed = [...this.#changed.values()]
    this.#changed.clear()
    for (const draft of changed) this.#drafts.set(draft.context, draft)
    return changed
  }

  snapshot(): DraftsSnapshot {
    return this.#drafts.snapshot()
  }

  restore(snapshot: DraftsSnapshot): void {
    this.#drafts.restore(snapshot)
  }
}

const isOpen = ({ state }: Draft): boolean => state === 'open'

const weigh = ({ weight, contributors, proposals }: Draft): number =>
  weight + 20 * (contributors.length + proposals.length)
