import { FairMap, getAnswerer, isNotification } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'

/** A request that was admitted, and who has answered it. */
interface OpenRequest {
  readonly from: string
  /** Absent = everyone may answer once. */
  readonly to?: ReadonlySet<string>
  readonly answeredBy: ReadonlySet<string>
}

interface Request extends OpenRequest {
  readonly answeredBy: Set<string>
}

type RequestsSnapshot = readonly {
  readonly id: string
  readonly from: string
  readonly to?: readonly string[]
  readonly answeredBy: readonly string[]
}[]

/** Requests past this many are forgotten: the oldest of the participant that has made the most. */
const remembered = 10_000

/** MCP requests that wait for answers: each addressee answers once [MEUP-3.7]. A fold over the log. */
export class Requests {
  readonly #open = new FairMap<Request>(remembered, ({ from }) => from)

  apply(envelope: Envelope): void {
    if (envelope.kind === Kind.mcpRequest) this.#ask(envelope)
    else if (envelope.kind === Kind.mcpResponse) {
      for (const id of correlations(envelope)) this.#answer(id, getAnswerer(envelope))
    }
  }

  snapshot(): RequestsSnapshot {
    return [...this.#open].map(([id, { from, to, answeredBy }]) => ({
      id,
      from,
      ...(to && { to: [...to] }),
      answeredBy: [...answeredBy],
    }))
  }

  restore(snapshot: RequestsSnapshot): void {
    for (const { id, from, to, answeredBy } of snapshot) {
      this.#open.set(id, {
        from,
        ...(to && { to: new Set(to) }),
        answeredBy: new Set(answeredBy),
      })
    }
  }

  get(id: string): OpenRequest | undefined {
    return this.#open.get(id)
  }

  /** Ids of those that wait for an answer of this participant, oldest first. */
  waitingFor(participant: string): string[] {
    return [...this.#open].flatMap(([id, { to, answeredBy }]) =>
      to?.has(participant) && !answeredBy.has(participant) ? [id] : [],
    )
  }

  #ask({ id, from, to, payload }: Envelope): void {
    if (isNotification(payload)) return
    this.#open.set(id, { from, ...(to && { to: new Set(to) }), answeredBy: new Set() })
  }

  #answer(id: string, from: string): void {
    this.#open.get(id)?.answeredBy.add(from)
  }
}
