import { correlations, type Envelope } from '@meup/protocol'

/** What was loaded of a space's log, in its order. */
export class Log {
  #envelopes: Envelope[] = []
  readonly #byId = new Map<string, Envelope>()
  readonly #answers = new Map<string, string[]>()

  get envelopes(): readonly Envelope[] {
    return this.#envelopes
  }

  /** Seq of the oldest that is there; 0 = there is none. */
  get first(): number {
    return this.#envelopes[0]?.seq ?? 0
  }

  get last(): number {
    return this.#envelopes.at(-1)?.seq ?? 0
  }

  get(id: string): Envelope | undefined {
    return this.#byId.get(id)
  }

  at(seq: number): Envelope | undefined {
    const index = this.#envelopes.findIndex((each) => (each.seq ?? 0) >= seq)
    const found = this.#envelopes[index]
    return found?.seq === seq ? found : undefined
  }

  /** Ids of what correlates to this. */
  answersTo(id: string): readonly string[] {
    return this.#answers.get(id) ?? []
  }

  /** Whether it is new. It has to come after all others. */
  append(envelope: Envelope): boolean {
    if (envelope.seq === undefined || envelope.seq <= this.last) return false
    this.#envelopes.push(envelope)
    this.#know(envelope)
    return true
  }

  /** Adds those that are missing, wherever they belong. Whether there were any. */
  merge(envelopes: readonly Envelope[]): boolean {
    const missing = envelopes.filter(({ id, seq }) => seq !== undefined && !this.#byId.has(id))
    if (missing.length === 0) return false
    for (const envelope of missing) this.#know(envelope)
    this.#envelopes = [...this.#envelopes, ...missing].sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
    return true
  }

  /** Keeps the latest so many. */
  shorten(most: number): void {
    const dropped = this.#envelopes.splice(0, Math.max(this.#envelopes.length - most, 0))
    for (const { id } of dropped) {
      this.#byId.delete(id)
      this.#answers.delete(id)
    }
  }

  #know(envelope: Envelope): void {
    this.#byId.set(envelope.id, envelope)
    for (const id of correlations(envelope)) {
      const answers = this.#answers.get(id)
      if (answers === undefined) this.#answers.set(id, [envelope.id])
      else answers.push(envelope.id)
    }
  }
}
