import type { Envelope, PresencePayload } from '@meup/protocol'
import type { OpenCall } from './call.js'

/** Milliseconds that a participant may be away before nobody waits for it: by default, runs are given up then, too. */
const patience = 60_000

/** Who left while something was asked by it or of it alone. A line that breaks comes back, so that this takes a while. */
export class Absences {
  readonly #since = new Map<string, number>()

  /** `envelope` tells of presence. */
  take({ ts, payload }: Envelope, open: Iterable<OpenCall>): void {
    const { event, participant } = payload as PresencePayload
    const { id } = participant
    if (event === 'join') this.#since.delete(id)
    else if (event === 'leave' && [...open].some((call) => needs(call, id)))
      this.#since.set(id, Date.parse(ts))
  }

  /** The calls that nothing will come of any more, and since when. */
  due(now: number, open: Iterable<OpenCall>): { readonly call: OpenCall; readonly since: number }[] {
    const gone = [...this.#since].filter(([, since]) => now - since >= patience)
    if (gone.length === 0) return []
    const calls = [...open]
    return gone.flatMap(([id, since]) => {
      this.#since.delete(id)
      return calls
        .filter((call) => needs(call, id) && call.span.start <= since)
        .map((call) => ({ call, since }))
    })
  }
}

/** Whom a proposal is for need not be there before somebody has decided on it. */
const needs = ({ asker, to, isProposal }: OpenCall, id: string): boolean =>
  asker === id || (!isProposal && to.length === 1 && to[0] === id)
