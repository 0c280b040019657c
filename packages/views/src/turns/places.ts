import { type Envelope, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { type Quoted, sourceOf } from '../source.js'

type Entries<Value> = readonly (readonly [key: string, value: Value])[]

export interface PlacesSnapshot {
  readonly byContext: Entries<string>
  readonly byCause: Entries<string>
  readonly triggers: Entries<Quoted>
  readonly numbers: Entries<number>
}

/** Where to find the turn of an envelope: ids of turns by contexts and causes, and what may yet become a turn. */
export class Places {
  readonly #byContext = new Bounded<string>(40_000)
  readonly #byCause = new Bounded<string>(40_000)
  readonly #triggers = new Bounded<Quoted>(32e6, ({ text }) => 500 + (text?.length ?? 0))
  readonly #numbers = new Bounded<number>(10_000)

  snapshot(): PlacesSnapshot {
    return {
      byContext: this.#byContext.snapshot(),
      byCause: this.#byCause.snapshot(),
      triggers: this.#triggers.snapshot(),
      numbers: this.#numbers.snapshot(),
    }
  }

  restore({ byContext, byCause, triggers, numbers }: PlacesSnapshot): void {
    this.#byContext.restore(byContext)
    this.#byCause.restore(byCause)
    this.#triggers.restore(triggers)
    this.#numbers.restore(numbers)
  }

  inContext(context: string): string | undefined {
    return this.#byContext.use(context)
  }

  setContext(context: string, turn: string): void {
    this.#byContext.renew(context, turn)
  }

  /** What the agent makes of a trigger, or of a run of its own. */
  about(agent: string, cause: string): string | undefined {
    return this.#byCause.use(`${agent} ${cause}`)
  }

  setCause(agent: string, cause: string, turn: string): void {
    this.#byCause.renew(`${agent} ${cause}`, turn)
  }

  /** A chat or a request may be what begins a turn. */
  offer(envelope: Envelope, text: string): void {
    this.#triggers.set(envelope.id, { source: sourceOf(envelope), text })
  }

  /** A chat may be answered by anybody, a request by those whom it is for; nobody triggers oneself [MEUP-11.5]. */
  triggerOf(agent: string, cause: string): Quoted | undefined {
    const trigger = this.#triggers.get(cause)
    if (trigger === undefined || trigger.source.from === agent) return undefined
    const { kind, to } = trigger.source
    return kind === Kind.chat || to === undefined || to.includes(agent) ? trigger : undefined
  }

  /** From 1 for each agent. */
  nextNumber(agent: string): number {
    const number = (this.#numbers.get(agent) ?? 0) + 1
    this.#numbers.renew(agent, number)
    return number
  }
}
