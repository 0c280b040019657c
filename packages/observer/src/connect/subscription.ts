import type { WelcomePayload } from '@meup/protocol'
import { type Cut, isCutAway, isCutting, nothingCut, toSubscribePayload } from '../model/index.js'
import { explainError } from './errors.js'
import type { SessionHandle } from './history.js'

/** The envelopes that the gateway filters out at the reader's request, and how they are fetched later [MEUP-9.1]. */
export class Subscription {
  cut: Cut = nothingCut
  #wanted: Cut | undefined
  /** Settles with the latest change: changes are applied in order. */
  #changed: Promise<void> = Promise.resolve()
  readonly #session: SessionHandle
  /** Last seq before the first filtered-out envelope that may be missing. */
  #wholeUntil = 0
  /** The gateway's counts when filtering began, and those of earlier connections. */
  #before = { envelopes: 0, bytes: 0 }
  #carried = { envelopes: 0, bytes: 0 }
  #counted = { envelopes: 0, bytes: 0 }
  /** Envelopes that this reader may not read anyway. */
  #notPermitted = 0

  constructor(session: SessionHandle) {
    this.#session = session
  }

  /** Envelopes and bytes filtered out since filtering began [MEUP-9.4]. */
  get saved(): { readonly envelopes: number; readonly bytes: number } {
    const sum = (name: 'envelopes' | 'bytes'): number =>
      this.#carried[name] + this.#counted[name] - this.#before[name]
    return { envelopes: sum('envelopes'), bytes: sum('bytes') }
  }

  /** Missing envelopes: unwanted ones, and those for others. */
  get missing(): { readonly cut: number; readonly notPermitted: number } {
    const missing = this.#session.present.log.missing
    if (!isCutting(this.cut)) return { cut: 0, notPermitted: missing }
    const notPermitted = Math.min(this.#notPermitted, missing)
    return { cut: missing - notPermitted, notPermitted }
  }

  /** The latest filter that was asked for, which the gateway may not have acknowledged. */
  get wanted(): Cut {
    return this.#wanted ?? this.cut
  }

  /** Changes the subscription and fetches what is no longer filtered out. Rejects if the gateway refuses. */
  async change(next: Cut): Promise<void> {
    this.#wanted = next
    const changed = this.#changed.then(() => (this.#wanted === next ? this.#apply(next) : undefined))
    this.#changed = changed.catch(() => {}) // The caller gets the error.
    try {
      await changed
    } finally {
      if (this.#wanted === next) this.#wanted = undefined
    }
  }

  async #apply(next: Cut): Promise<void> {
    const client = this.#session.client
    if (client === undefined || JSON.stringify(next) === JSON.stringify(this.cut)) return
    if (!isCutting(this.cut)) this.#begin()
    const { space } = await client.subscribe(toSubscribePayload(next))
    this.cut = next
    this.#session.present.showDetail(next.detail)
    this.#session.onChange()
    const asked = { after: this.#wholeUntil, before: space.head + 1 }
    await this.#session.fetchMissing(
      () => asked,
      (envelope) => !isCutAway(envelope, next, client.id),
    )
    if (!isCutting(this.cut)) this.#begin()
    this.#session.onChange()
  }

  /** Subscribes again without a change, to get the counts. */
  async poll(): Promise<void> {
    const client = this.#session.client
    if (client === undefined || !isCutting(this.cut)) return
    try {
      await this.#fetchEnds(await client.subscribe(toSubscribePayload(this.cut)))
    } catch (error) {
      this.#session.setNotice(explainError(error))
    }
  }

  /** `isFresh`: a new connection, whose counts start at 0. */
  onWelcome({ subscription }: WelcomePayload, isFresh: boolean): void {
    if (isFresh) {
      this.#carried = this.saved
      this.#before = { envelopes: 0, bytes: 0 }
    }
    this.#counted = subscription.suppressed
  }

  /** The log was replaced. */
  onLogLost(): void {
    this.#begin()
    this.#wholeUntil = 0
  }

  #begin(): void {
    this.#wholeUntil = this.#session.present.log.last
    this.#notPermitted = this.#session.present.log.missing
    this.#carried = { envelopes: 0, bytes: 0 }
    this.#before = this.#counted
  }

  /** Fetches the ends of runs whose conclusions were filtered out. */
  async #fetchEnds({ contexts }: WelcomePayload): Promise<void> {
    const open = new Set(contexts.map(({ context }) => context))
    for (const { context } of this.#session.present.unended()) {
      if (open.has(context)) continue
      await this.#session.fetchMissing(() => ({ context, reasoning: 'boundaries' }))
    }
  }
}
