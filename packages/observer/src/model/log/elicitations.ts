import { type Call, Calls, RecentCalls } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'

/** Maximum number of open, and of closed elicitations; older ones are dropped. */
const maxKept = 1000

/** Elicitations: questions of tools to their callers, and of agents to senders of the chats they answer [MEUP-3.26]. */
export class Elicitations {
  readonly #calls: Calls<Envelope>

  /** `getAsked` finds a loaded call or chat by id. */
  constructor(getAsked: (id: string) => Envelope | undefined) {
    this.#calls = new Calls({
      store: new RecentCalls({ open: maxKept, over: maxKept }),
      reduce({ what, call }, envelope) {
        if (what !== 'asked') return call.data
        const isShown = call.kind === 'elicitation' && call.about.some((id) => isAbout(call, getAsked(id)))
        return isShown ? envelope : undefined
      },
    })
  }

  /** Applies an envelope; returns the ids of elicitations that it closes. */
  apply(envelope: Envelope): readonly string[] {
    return this.#calls.apply(envelope).flatMap(({ what, call }) => (what === 'asked' ? [] : [call.id]))
  }

  isOpen(id: string): boolean {
    return this.#calls.get(id)?.state === 'open'
  }

  /** Open elicitations addressed to this participant, oldest first. */
  list(participant: string | undefined): readonly Envelope[] {
    if (participant === undefined) return []
    return [...this.#calls.open()].map(({ data }) => data).filter(({ to }) => to?.includes(participant))
  }

  snapshot(): readonly Call<Envelope>[] {
    return [...this.#calls.all()]
  }

  restore(snapshot: readonly Call<Envelope>[]): void {
    this.#calls.restore(snapshot)
  }
}

/**
 * Whether an elicitation refers to this call or chat: sent by the callee to the caller; for a chat to everyone, by anyone to
 * its sender.
 */
function isAbout({ from, to }: Call<unknown>, asked: Envelope | undefined): boolean {
  if (asked === undefined || to?.length !== 1 || to[0] !== asked.from) return false
  if (asked.kind === Kind.chat) return asked.to?.includes(from) ?? true
  return asked.kind === Kind.mcpRequest && asked.to?.includes(from) === true
}
