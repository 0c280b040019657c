import { type Call, Calls, RecentCalls } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'

/** Elicitations that are kept, open and over; the oldest beyond this are forgotten. */
const maxKept = 1000

/** Questions of tools to the callers of calls, and of agents to the senders of chats that they answer [MEUP-3.26]. */
export class Elicitations {
  readonly #calls: Calls<Envelope>

  /** `getAsked`: the call or the chat of this id, as far as it is loaded. */
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

  /** Returns the ids of those that are over by this envelope. */
  apply(envelope: Envelope): readonly string[] {
    return this.#calls.apply(envelope).flatMap(({ what, call }) => (what === 'asked' ? [] : [call.id]))
  }

  isOpen(id: string): boolean {
    return this.#calls.get(id)?.state === 'open'
  }

  /** The open ones to this participant, oldest first. */
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

/** Only who was called asks, and only who called; what is said to everyone, anybody may answer. */
function isAbout({ from, to }: Call<unknown>, asked: Envelope | undefined): boolean {
  if (asked === undefined || to?.length !== 1 || to[0] !== asked.from) return false
  if (asked.kind === Kind.chat) return asked.to?.includes(from) ?? true
  return asked.kind === Kind.mcpRequest && asked.to?.includes(from) === true
}
