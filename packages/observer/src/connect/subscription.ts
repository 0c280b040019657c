import type { WelcomePayload } from '@meup/protocol'
import { type Cut, isCutAway, isCutting, nothingCut, toSubscribePayload } from '../model/index.js'
import { explainError } from './errors.js'
import type { SessionHandle } from './history.js'

/** The reader's filter at the gateway; fetches filtered-out envelopes when it is relaxed [MEUP-9.1]. */
export class Subscription {
  cut: Cut = nothingCut
  #wanted: Cut | undefined
  /** Resolves when the latest change of the filter is applied; the next change waits for it. */
  #changed: Promise<void> = Promise.resolve()
  readonly #session: SessionHandle
  /** Up to this seq, the gateway has filtered nothing out; later envelopes may be missing. */
  #wholeUntil = 0
  /**
   * Numbers of filtered-out envelopes: the gateway's when the filter was set, those of earlier connections (`#carried`), and
   * the gateway's latest (`#counted`).
   */
  #before = { envelopes: 0, bytes: 0 }
  #carried = { envelopes: 0, bytes: 0 }
  #counted = { envelopes: 0, bytes: 0 }
  /** Number of missing envelopes that the reader may not read anyway. */
  #notPermitted = 0

  constructor(session: SessionHandle) {
    this.#session = session
  }

  /** Envelopes and bytes filtered out since the filter was set [MEUP-9.4]. */
  get saved(): { readonly envelopes: number; readonly bytes: number } {
    const sum = (name: 'envelopes' | 'bytes'): number =>
      this.#carried[name] + this.#counted[name] - this.#before[name]
    return { envelopes: sum('envelopes'), bytes: sum('bytes') }
  }

  /** Numbers of envelopes that the loaded log lacks: those that were filtered out, and those that this reader may not read. */
  get missing(): { readonly cut: number; readonly notPermitted: number } {
    const missing = this.#session.present.log.missing
    if (!isCutting(this.cut)) return { cut: 0, notPermitted: missing }
    const notPermitted = Math.min(this.#notPermitted, missing)
    return { cut: missing - notPermitted, notPermitted }
  }

  /** The requested filter, which the gateway may not have acknowledged yet. */
  get wanted(): Cut {
    return this.#wanted ?? this.cut
  }

  /** Changes the filter, and fetches envelopes that it no longer excludes. Rejects if the gateway refuses. */
  async change(next: Cut): Promise<void> {
    this.#wanted = next
    const changed = this.#changed.then(() => (this.#wanted === next ? this.#apply(next) : undefined))
    this.#changed = changed.catch(() => {}) // The caller handles the rejection.
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

  /**
   * Repeats the subscription unchanged, because the gateway answers it with a welcome that has current counts of filtered-out
   * envelopes.
   */
  async poll(): Promise<void> {
    const client = this.#session.client
    if (client === undefined || !isCutting(this.cut)) return
    try {
      await this.#fetchEnds(await client.subscribe(toSubscribePayload(this.cut)))
    } catch (error) {
      this.#session.setNotice(explainError(error))
    }
  }

  /** `isFresh`: this is a new connection, whose counts of filtered-out envelopes start at 0. */
  onWelcome({ subscription }: WelcomePayload, isFresh: boolean): void {
    if (isFresh) {
      this.#carried = this.saved
      this.#before = { envelopes: 0, bytes: 0 }
    }
    this.#counted = subscription.suppressed
  }

  /** Starts over, because the log was replaced. */
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

  /** Loads the conclusions of runs that have ended, if the filter excluded them. */
  async #fetchEnds({ contexts }: WelcomePayload): Promise<void> {
    const open = new Set(contexts.map(({ context }) => context))
    for (const { context } of this.#session.present.unended()) {
      if (open.has(context)) continue
      await this.#session.fetchMissing(() => ({ context, reasoning: 'boundaries' }))
    }
  }
}
