import { getCancellation, isElicitation } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'

/** The oldest beyond this are forgotten. */
const maxKept = 1000

interface Elicitation {
  readonly envelope: Envelope
  /** Seq of what ended it; `Infinity` = it is open. */
  endedAt: number
}

/**
 * What tools ask the callers of calls, and agents those whose chat they answer [MEUP-3.26]: open until it is answered, taken back,
 * or the call or the chat has its answer.
 */
export class Elicitations {
  readonly #all = new Map<string, Elicitation>()
  readonly #open = new Set<Elicitation>()

  /** Returns the ids of those that are over by this envelope. */
  apply(envelope: Envelope, getCall: (id: string) => Envelope | undefined): readonly string[] {
    const { id, kind, seq = 0, payload } = envelope
    if (kind === Kind.mcpRequest && isElicitation(payload)) {
      if (correlations(envelope).some((call) => isAbout(envelope, getCall(call)))) {
        const elicitation = { envelope, endedAt: Number.POSITIVE_INFINITY }
        this.#all.set(id, elicitation)
        this.#open.add(elicitation)
        const [oldest] = this.#all
        if (oldest !== undefined && this.#all.size > maxKept) {
          this.#all.delete(oldest[0])
          this.#open.delete(oldest[1])
        }
      }
      return []
    }
    const ended = [...this.#open].filter((each) => isEnd(envelope, each.envelope))
    for (const each of ended) {
      each.endedAt = seq
      this.#open.delete(each)
    }
    return ended.map(({ envelope: { id } }) => id)
  }

  isOpen(id: string): boolean {
    return this.#all.get(id)?.endedAt === Number.POSITIVE_INFINITY
  }

  /** The open ones to this participant, oldest first. */
  list(participant: string | undefined): readonly Envelope[] {
    if (participant === undefined) return []
    return [...this.#open].map(({ envelope }) => envelope).filter(({ to }) => to?.includes(participant))
  }

  /** Drops everything after this envelope. */
  rewind(last: number): void {
    this.#open.clear()
    for (const [id, each] of this.#all) {
      if ((each.envelope.seq ?? 0) > last) this.#all.delete(id)
      else {
        if (each.endedAt > last) each.endedAt = Number.POSITIVE_INFINITY
        if (each.endedAt === Number.POSITIVE_INFINITY) this.#open.add(each)
      }
    }
  }
}

/** Only who was called asks, and only who called; what is said to everyone, anybody may answer. */
function isAbout({ from, to }: Envelope, asked: Envelope | undefined): boolean {
  if (asked === undefined || to?.length !== 1 || to[0] !== asked.from) return false
  if (asked.kind === Kind.chat) return asked.to?.includes(from) ?? true
  return asked.kind === Kind.mcpRequest && asked.to?.includes(from) === true
}

function isEnd(envelope: Envelope, { id, from, to, correlationId }: Envelope): boolean {
  const about = correlations(envelope)
  if (envelope.kind === Kind.mcpResponse && about.includes(id)) return to?.includes(envelope.from) === true
  if (envelope.kind === Kind.mcpResponse || envelope.kind === Kind.chat) {
    return (
      envelope.from === from &&
      correlations({ ...(correlationId && { correlationId }) }).some((call) => about.includes(call))
    )
  }
  if (envelope.kind !== Kind.mcpRequest || envelope.from !== from) return false
  const cancelled = getCancellation(envelope.payload)
  return cancelled !== undefined && [...about, cancelled.requestId].includes(id)
}
