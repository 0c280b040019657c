import type { AnyEnvelope, BaseClient } from '@meup/agent-sdk/watch'
import type { WelcomePayload } from '@meup/protocol'
import { type Cut, isCutAway, isCutting, nothingCut, subscriptionOf } from '../model/index.js'
import type { Asked } from './http.js'

/** What it needs of the session. */
export interface CuttingPorts {
  desk(): BaseClient | undefined
  /** Seq of the last envelope that was received. */
  last(): number
  /** How many envelopes between the first and the last were not received. */
  missing(): number
  /** Runs that go on, as far as was heard. */
  runs(): Iterable<string>
  /** Adds to the log what it does not have and this takes. */
  fetch(asked: Asked, isWanted: (envelope: AnyEnvelope) => boolean): Promise<void>
  changed(): void
  tell(reason: unknown): void
}

/** What the gateway keeps from this reader by their own wish, and brings back [MEUP-9.1]. */
export class Cutting {
  cut: Cut = nothingCut
  readonly #ports: CuttingPorts
  /** Last seq before anything was cut that still may be missing. */
  #wholeUntil = 0
  /** What the gateway had counted when the cutting began, and what it counted on connections before this one. */
  #before = { envelopes: 0, bytes: 0 }
  #carried = { envelopes: 0, bytes: 0 }
  #counted = { envelopes: 0, bytes: 0 }

  /** What this reader had not received anyway. */
  #notPermitted = 0

  constructor(ports: CuttingPorts) {
    this.#ports = ports
  }

  /** Envelopes and bytes that were kept back since the cutting began [MEUP-9.4]. */
  get saved(): { readonly envelopes: number; readonly bytes: number } {
    const sum = (name: 'envelopes' | 'bytes'): number =>
      this.#carried[name] + this.#counted[name] - this.#before[name]
    return { envelopes: sum('envelopes'), bytes: sum('bytes') }
  }

  /** Of the envelopes that were not received, how many this reader does not want, and how many are for others. */
  get missing(): { readonly cut: number; readonly notPermitted: number } {
    const missing = this.#ports.missing()
    if (!isCutting(this.cut)) return { cut: 0, notPermitted: missing }
    const notPermitted = Math.min(this.#notPermitted, missing)
    return { cut: missing - notPermitted, notPermitted }
  }

  /** What was missed is fetched when it is wanted again. Rejects with what the gateway refuses. */
  async to(next: Cut): Promise<void> {
    const desk = this.#ports.desk()
    if (desk === undefined || JSON.stringify(next) === JSON.stringify(this.cut)) return
    if (!isCutting(this.cut)) this.#begin()
    const { space } = await desk.subscribe(subscriptionOf(next))
    this.cut = next
    this.#ports.changed()
    const asked = { after: this.#wholeUntil, before: space.head + 1 }
    await this.#ports.fetch(asked, (envelope) => !isCutAway(envelope, next, desk.id))
    if (!isCutting(this.cut)) this.#begin()
    this.#ports.changed()
  }

  /** The gateway tells how much it kept back whenever it is asked for the same again. */
  async look(): Promise<void> {
    const desk = this.#ports.desk()
    if (desk === undefined || !isCutting(this.cut)) return
    try {
      await this.#hearOfEnds(await desk.subscribe(subscriptionOf(this.cut)))
    } catch (error) {
      this.#ports.tell(error)
    }
  }

  /** `isFresh`: of a new connection, whose counts begin anew. */
  welcomed({ subscription }: WelcomePayload, isFresh: boolean): void {
    if (isFresh) {
      this.#carried = this.saved
      this.#before = { envelopes: 0, bytes: 0 }
    }
    this.#counted = subscription.suppressed
  }

  /** Another log than before. */
  lost(): void {
    this.#begin()
    this.#wholeUntil = 0
  }

  #begin(): void {
    this.#wholeUntil = this.#ports.last()
    this.#notPermitted = this.#ports.missing()
    this.#carried = { envelopes: 0, bytes: 0 }
    this.#before = this.#counted
  }

  /** A run whose end was cut still ends: that much is asked for. */
  async #hearOfEnds({ contexts }: WelcomePayload): Promise<void> {
    const open = new Set(contexts.map(({ context }) => context))
    for (const context of this.#ports.runs()) {
      if (open.has(context)) continue
      await this.#ports.fetch({ context, reasoning: 'boundaries' }, () => true)
    }
  }
}
