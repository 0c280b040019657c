import type { SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'

export interface EnvelopeRecorder {
  /** All envelopes received since the recording started, in order. */
  readonly all: readonly AnyEnvelope[]
  /** Resolves with the first matching envelope, recorded or future. */
  until(fits: (envelope: AnyEnvelope) => boolean): Promise<AnyEnvelope>
}

/** Records the envelopes that a client receives from now on. */
export function recordEnvelopes(seat: SpaceClient): EnvelopeRecorder {
  const all: AnyEnvelope[] = []
  const waiting = new Set<() => void>()
  seat.on('envelope', (envelope) => {
    all.push(envelope)
    for (const look of [...waiting]) look()
  })
  return {
    all,
    until: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = all.find(fits)
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

export const byId = (id: string) => (envelope: AnyEnvelope) => envelope.id === id
export const byKind = (kind: string) => (envelope: AnyEnvelope) => envelope.kind === kind

/** Waits until a listener has received everything that the sender has sent so far. */
export async function caughtUp(sender: SpaceClient, listener: EnvelopeRecorder): Promise<void> {
  const { id } = await sender.send({ kind: 'test.fence' })
  await listener.until(byId(id))
}
