import type { AGUIEvent } from '@ag-ui/core'
import type { Guard } from '@meup/folds'
import type { ConnectionGrant, ConnectionHandle, Feed, Message, OutboundBatch } from '@meup/gateway'
import { type Caller, readHistory, type Selection, type SseFeed, turn } from '@meup/gateway/routes'
import { checkMetered, type Envelope, Kind, namespaceOf, WorkError, WorkMeter } from '@meup/protocol'
import type { Run } from './run.js'

/** Who owes more milliseconds of work than this follows no further. */
const maxDebtMs = 5000

/** Puts the events of a run where envelopes would go in a stream of events, and ends the stream with the run. */
export class RunFeed implements Feed {
  readonly #run: Run
  readonly #events: SseFeed
  readonly #fare: Pick<WorkAccount, 'settle'>
  #owesMs = 0

  constructor(run: Run, events: SseFeed, fare: Pick<WorkAccount, 'settle'>) {
    this.#run = run
    this.#events = events
    this.#fare = fare
    this.#send(run.begin())
  }

  get remote(): string {
    return this.#events.remote
  }

  get pending(): number {
    return this.#events.pending
  }

  get isGone(): boolean {
    return this.#events.isGone
  }

  drained(): Promise<void> {
    return this.#events.drained()
  }

  /** What is in the log already; `pause` comes when that was all. */
  replay(messages: readonly Message[]): void {
    this.#send(this.#toEvents(messages))
  }

  pause(): void {
    this.#send(this.#run.pause())
  }

  send({ messages }: OutboundBatch): void {
    this.#send([...this.#toEvents(messages), ...this.#run.pause()])
    // What comes live cannot wait until it is paid.
    if (this.#owesMs > maxDebtMs) {
      this.fail('rate_limited', 'over the rate for work: too much is said here; send the same message later')
    }
  }

  lost(): void {
    this.fail('lost', 'the log is not the one in which this was asked; ask again')
  }

  close(code: number, reason: string): void {
    this.fail(`${code}`, reason)
  }

  fail(code: string, message: string): void {
    this.#send(this.#run.fail(code, message))
  }

  /** A welcome or an error is nothing to an agent's turn. */
  #toEvents(messages: readonly Message[]): AGUIEvent[] {
    return messages
      .filter(({ seq }) => seq !== undefined)
      .flatMap(({ text }) => {
        const events = this.#run.apply(JSON.parse(Buffer.from(text).toString()) as Envelope)
        this.#owesMs = this.#fare.settle(text.length)
        return events
      })
  }

  #send(events: readonly AGUIEvent[]): void {
    if (events.length === 0) return
    const event = Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
    if (this.#run.isOver) this.#events.end(event)
    else this.#events.send({ messages: [], event })
  }
}

/** Units of work [MEUP-7.6] for an envelope that a run is told of, and bytes of it that cost one more. */
const cost = { envelope: 16, bytesPerUnit: 128 }

/** What it costs to follow a turn: each run folds all that is said in the space. */
export interface WorkAccount {
  /** What may be seen of a text; nothing where one envelope has cost too much already. */
  readonly guard: Guard
  /** Whether the client may do what is proposed here. */
  mayApprove(proposal: Envelope): boolean
  /** Charges for an envelope of so many bytes that the run was told of. Gives the milliseconds until all is paid. */
  settle(bytes: number): number
}

/** Paid by whoever asked. */
export function createWorkAccount({ space, participant, rateLimitKey }: Caller): WorkAccount {
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

/** Envelopes of the log, before what they have cost is paid. */
const maxPageRows = 64

interface Course {
  readonly visitor: Caller
  readonly grant: ConnectionGrant
  /** Seq after which the turn may begin. */
  readonly after: number
  /** Resolves when the client is gone, or has everything. */
  readonly ended: Promise<void>
}

/** Shows what there is of a turn in the log, then what comes. */
export async function follow(feed: RunFeed, { visitor, grant, after, ended }: Course): Promise<void> {
  let isGone = false
  let line: ConnectionHandle | undefined
  void ended.then(() => {
    isGone = true
    line?.closed()
  })
  const { space } = visitor
  let place = after
  for (let isAll = false; !isAll && !isGone; ) {
    const reader = { ...space.getReader(visitor), rateLimitKey: visitor.rateLimitKey, isGone: () => isGone }
    const { messages, head, next } = await readHistory(reader, space, {
      after: place,
      before: Number.POSITIVE_INFINITY,
      limit: maxPageRows,
      order: 'asc',
      filter: {},
      reasoning: 'full',
      includes: ofTurns.includes,
    })
    for (const message of messages) {
      if (isGone) return
      feed.replay([message])
      await feed.drained()
      await turn() // To fold an envelope may cost a lot: others come between.
    }
    isAll = next === undefined
    place = next ?? head
  }
  feed.pause()
  if (isGone) return
  line = await grant.watch(feed, { after: place }, ofTurns)
  if (isGone) line.closed()
}

const namespaces = new Set(['chat', 'mcp', 'reasoning'])

/** What turns are made of. */
const ofTurns: Selection = {
  key: 'turns',
  includes: ({ kind }) => namespaces.has(namespaceOf(kind)) || kind === Kind.systemDecision,
  includesCall: () => false,
}
