import { type Call, Calls, RecentCalls } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'

/** Kept elicitations, open and closed; older ones are dropped. */
const maxKept = 1000

/** Elicitations of tools to callers, and of agents to the senders of chats that they answer [MEUP-3.26]. */
export class Elicitations {
  readonly #calls: Calls<Envelope>

  /** `getAsked`: the loaded call or chat with this id. */
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

  /** Returns the ids of elicitations closed by this envelope. */
  apply(envelope: Envelope): readonly string[] {
    return this.#calls.apply(envelope).flatMap(({ what, call }) => (what === 'asked' ? [] : [call.id]))
  }

  isOpen(id: string): boolean {
    return this.#calls.get(id)?.state === 'open'
  }

  /** The open ones for this participant, oldest first. */
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

/** Only the callee asks, and only the caller; about a chat to everyone, anyone may ask. */
function isAbout({ from, to }: Call<unknown>, asked: Envelope | undefined): boolean {
  if (asked === undefined || to?.length !== 1 || to[0] !== asked.from) return false
  if (asked.kind === Kind.chat) return asked.to?.includes(from) ?? true
  return asked.kind === Kind.mcpRequest && asked.to?.includes(from) === true
}
