import { type AnyEnvelope, Kind, type ParticipantInfo } from '@meup/protocol'
import { type WaitOptions, wait } from './wait.js'

/** Who is in the space: told by every welcome, kept up to date by presence. */
export class People {
  readonly #known = new Map<string, ParticipantInfo>()
  readonly #watchers = new Set<() => void>()

  list(): ParticipantInfo[] {
    return [...this.#known.values()]
  }

  whenPresent(ids: readonly string[], options: WaitOptions): Promise<void> {
    let look = (): void => {}
    return wait<void>(
      `sign of ${ids.join(', ')}`,
      options,
      (waiter) => {
        look = () => {
          if (ids.every((id) => this.#known.get(id)?.status === 'present')) waiter.resolve()
        }
        this.#watchers.add(look)
        look()
      },
      () => this.#watchers.delete(look),
    )
  }

  tell(participants: readonly ParticipantInfo[]): void {
    this.#known.clear()
    for (const participant of participants) this.#known.set(participant.id, participant)
    this.#look()
  }

  take(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.systemPresence) return
    const { event, participant } = envelope.payload
    const known = this.#known.get(participant.id)
    const capabilities = participant.capabilities ?? known?.capabilities ?? []
    const status = event === 'update' ? (known?.status ?? 'away') : event === 'join' ? 'present' : 'away'
    this.#known.set(participant.id, { id: participant.id, capabilities, status })
    this.#look()
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher()
  }
}
