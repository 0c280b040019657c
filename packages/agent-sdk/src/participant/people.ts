import { type AnyEnvelope, GUEST, Kind, type ParticipantInfo, type WelcomePayload } from '@meup/protocol'
import { type Waiter, type WaitOptions, wait } from './wait.js'

/** Who is in the space: told by every welcome, kept up to date by presence. */
export class People {
  readonly #known = new Map<string, ParticipantInfo>()
  /** Whom each waits for. */
  readonly #waiting = new Map<Waiter<void>, readonly string[]>()
  /** The last seq whose presence the welcome tells already; what is replayed of before is history. */
  #head = 0

  list(): ParticipantInfo[] {
    return [...this.#known.values()]
  }

  whenPresent(ids: readonly string[], options: WaitOptions): Promise<void> {
    return wait<void>(
      `sign of ${ids.join(', ')}`,
      options,
      (waiter) => {
        this.#waiting.set(waiter, ids)
        this.#look()
      },
      (waiter) => this.#waiting.delete(waiter),
    )
  }

  tell({ participants, space }: WelcomePayload): void {
    this.#head = space.head
    this.#known.clear()
    for (const { id, capabilities, status } of participants) this.#known.set(id, { id, capabilities, status })
    this.#look()
  }

  take(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.systemPresence || (envelope.seq ?? 0) <= this.#head) return
    const { event, participant } = envelope.payload
    const known = this.#known.get(participant.id)
    const capabilities = participant.capabilities ?? known?.capabilities ?? []
    const status = event === 'update' ? (known?.status ?? 'away') : event === 'join' ? 'present' : 'away'
    // A guest never comes back under its name.
    if (event === 'leave' && participant.id.startsWith(GUEST)) this.#known.delete(participant.id)
    else this.#known.set(participant.id, { id: participant.id, capabilities, status })
    this.#look()
  }

  fail(error: Error): void {
    for (const { reject } of [...this.#waiting.keys()]) reject(error)
  }

  #look(): void {
    for (const [{ resolve }, ids] of [...this.#waiting]) {
      if (ids.every((id) => this.#known.get(id)?.status === 'present')) resolve()
    }
  }
}
