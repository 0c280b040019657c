import type { Guard } from '@meup/folds'
import { checkMetered, type Envelope, Kind, WorkError, WorkMeter } from '@meup/protocol'
import type { Caller } from '../../host/gateway.js'

/** Units of work [MEUP-7.6] for an envelope that a run is told of, and bytes of it that cost one more. */
const cost = { envelope: 16, bytesPerUnit: 128 }

/** What it costs to follow a turn: each run folds all that is said in the space. */
export interface Fare {
  /** What may be seen of a text; nothing where one envelope has cost too much already. */
  readonly guard: Guard
  /** Whether the client may do what is proposed here. */
  mayApprove(proposal: Envelope): boolean
  /** Charges for an envelope of so many bytes that the run was told of. Gives the milliseconds until all is paid. */
  settle(bytes: number): number
}

/** Paid by whoever asked. */
export function fareOf({ space, participant, rateLimitKey }: Caller): Fare {
  const newMeter = () => new WorkMeter(space.config.limits.work)
  let meter = newMeter()
  return {
    guard: (text) => space.safety.guard(text, meter),
    mayApprove(proposal) {
      const request = { ...proposal, kind: Kind.mcpRequest }
      try {
        return checkMetered(meter, () => space.state.participants.allows(participant, request))
      } catch (error) {
        if (error instanceof WorkError) return false
        throw error
      }
    },
    settle(bytes) {
      const now = space.clock.now()
      space.rates.charge(rateLimitKey, 'work', meter.spent + cost.envelope + bytes / cost.bytesPerUnit, now)
      meter = newMeter()
      return space.rates.wait(rateLimitKey, 'work', now)
    },
  }
}
