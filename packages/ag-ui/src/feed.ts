import type { AGUIEvent } from '@ag-ui/core'
import { type Guard, proposalKinds, TurnStream } from '@meup/folds'
import type { ConnectionGrant, ConnectionHandle, Feed, Message, OutboundBatch } from '@meup/gateway'
import { type Caller, readHistory, type Selection, type SseFeed, yieldNow } from '@meup/gateway/routes'
import {
  checkMetered,
  type Envelope,
  Kind,
  namespaceOf,
  parseExact,
  type Subject,
  stringifyExact,
  WorkError,
  WorkMeter,
} from '@meup/protocol'
import type { AgUiRun } from './run.js'

/** A run with more debt than this is ended [milliseconds]. */
const maxDebtMs = 5000

/** Writes the events of a run to a server-sent event stream, and closes it with the run. */
export class RunFeed implements Feed {
  readonly #run: AgUiRun
  readonly #events: SseFeed
  readonly #account: Pick<WorkAccount, 'settle'>
  readonly #onOver: () => void
  #owesMs = 0

  /** `onOver`: called when the last event was sent. */
  constructor(run: AgUiRun, events: SseFeed, account: Pick<WorkAccount, 'settle'>, onOver: () => void) {
    this.#run = run
    this.#events = events
    this.#account = account
    this.#onOver = onOver
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

  /** Feeds logged messages. Call `pause` after the last one. */
  replay(messages: readonly Message[]): void {
    this.#send(this.#toEvents(messages))
  }

  pause(): void {
    this.#send(this.#run.pause())
  }

  /** Receives logged messages, or a delta of the answer. */
  send({ messages }: OutboundBatch): void {
    this.#send([...this.#toEvents(messages), ...this.#run.pause()])
    // Live messages cannot wait until the work is paid, so the run ends.
    if (this.#owesMs > maxDebtMs) {
      this.fail('rate_limited', 'Over the rate for work: the space is too busy. Send the same message later.')
    }
  }

  lost(): void {
    this.fail('lost', 'The log was replaced since this was asked. Ask again.')
  }

  close(code: number, reason: string): void {
    this.fail(`${code}`, reason)
  }

  fail(code: string, message: string): void {
    this.#send(this.#run.fail(code, message))
  }

  /** Skips welcomes and errors. */
  #toEvents(messages: readonly Message[]): AGUIEvent[] {
    return messages
      .filter(({ seq, name }) => seq !== undefined || name !== undefined)
      .flatMap(({ text }) => {
        const envelope = parseExact(Buffer.from(text).toString()) as Envelope
        const events = this.#run.apply(envelope)
        this.#owesMs = this.#account.settle(text.length)
        return events
      })
  }

  #send(events: readonly AGUIEvent[]): void {
    if (events.length === 0) return
    const event = encodeEvents(events)
    if (this.#run.isOver) {
      this.#onOver()
      this.#events.end(event)
    } else {
      this.#events.send({ messages: [], event })
    }
  }
}

export const encodeEvents = (events: readonly AGUIEvent[]): Buffer =>
  Buffer.from(events.map((each) => `data: ${stringifyExact(each)}\n\n`).join(''))

/** Units of work [MEUP-7.6] per envelope that a run folds, and bytes per additional unit. */
const cost = { envelope: 16, bytesPerUnit: 128 }

/** Charges the caller for following a turn, because each run folds all envelopes of the space. */
export interface WorkAccount {
  /** Masks a text; withholds it if the envelope has already cost too much. */
  readonly guard: Guard
  /** Whether the client may do, and so approve, what a proposal asks for. */
  mayApprove(proposal: Envelope): boolean
  mayReject(proposal: Envelope): boolean
  /** Charges for a folded envelope of this size. Returns the milliseconds until all debt is paid. */
  settle(bytes: number): number
}

/** The account of the caller. */
export function createWorkAccount({ space, participant, rateLimitKey }: Caller): WorkAccount {
  const newMeter = () => new WorkMeter(space.config.limits.work)
  let meter = newMeter()
  const maySend = (envelope: Subject): boolean => {
    try {
      return checkMetered(meter, (budget) => space.state.participants.allows(participant, envelope, budget))
    } catch (error) {
      if (error instanceof WorkError) return false
      throw error
    }
  }
  return {
    guard: (text) => space.safety.guard(text, meter),
    mayApprove: (proposal) => maySend({ ...proposal, kind: Kind.mcpRequest }),
    mayReject: ({ from }) => maySend({ kind: Kind.mcpReject, to: [from], payload: {} }),
    settle(bytes) {
      const now = space.clock.now()
      space.rates.charge(rateLimitKey, 'work', meter.spent + cost.envelope + bytes / cost.bytesPerUnit, now)
      meter = newMeter()
      return space.rates.wait(rateLimitKey, 'work', now)
    },
  }
}

/** Envelopes read before their cost is settled. */
const maxPageRows = 64

interface TurnPlace {
  readonly visitor: Caller
  /** Id of the asking chat, and the asked agent. */
  readonly question: { readonly id: string; readonly agent: string }
  /** Seq after which the turn may begin. */
  readonly after: number
}

interface FollowOptions extends TurnPlace {
  readonly grant: ConnectionGrant
  /** Resolves when the client is gone, or has received everything. */
  readonly ended: Promise<void>
}

/** Feeds a turn from the log, then live. */
export async function follow(feed: RunFeed, { grant, ended, ...turn }: FollowOptions): Promise<void> {
  let isGone = false
  let connection: ConnectionHandle | undefined
  const { space } = turn.visitor
  const leave = (): void => {
    isGone = true
    connection?.closed()
  }
  ended.then(leave).catch((err: unknown) => space.logger.error({ err }, 'a run of AG-UI did not end'))
  const place = await readTurn(turn, async (message) => {
    if (isGone) return false
    feed.replay([message])
    await feed.drained()
    return true
  })
  if (place === undefined) return
  feed.pause()
  if (isGone) return
  connection = await grant.watch(feed, { after: place }, selectTurn(turn.question))
  if (isGone) connection.closed()
}

/** Whether a turn is over: answered, cancelled or given up. */
export async function isTurnOver(turn: TurnPlace, { guard, settle }: WorkAccount): Promise<boolean> {
  const { question, visitor } = turn
  const stream = new TurnStream({ ...question, from: visitor.participant }, { guard })
  await readTurn(turn, ({ text }) => {
    stream.apply(parseExact(Buffer.from(text).toString()) as Envelope)
    settle(text.length)
    return stream.end === undefined || stream.end.givenUp !== null
  })
  return stream.end !== undefined
}

/** Reads the messages of a turn until `onMessage` returns false. Returns the seq up to which it has read. */
async function readTurn(
  { visitor, question, after }: TurnPlace,
  onMessage: (message: Message) => Promise<boolean> | boolean,
): Promise<number | undefined> {
  const { space } = visitor
  const { includes } = selectTurn(question)
  let isStopped = false
  let place = after
  for (let isAll = false; !isAll; ) {
    const reader = {
      ...space.getReader(visitor),
      rateLimitKey: visitor.rateLimitKey,
      isGone: () => isStopped,
    }
    const { messages, head, next } = await readHistory(reader, space, {
      after: place,
      before: Number.POSITIVE_INFINITY,
      limit: maxPageRows,
      order: 'asc',
      filter: {},
      reasoning: 'full',
      includes,
    })
    for (const message of messages) {
      isStopped = !(await onMessage(message))
      if (isStopped) return undefined
      await yieldNow() // Folding may take long.
    }
    isAll = next === undefined
    place = next ?? head
  }
  return place
}

const namespaces = new Set(['chat', 'mcp', 'reasoning'])
/** Further kinds; decisions include refused calls. */
const kinds: ReadonlySet<string> = new Set([...proposalKinds, Kind.systemDecision])

/** The envelopes of turns, and the deltas of one answer. */
const selectTurn = ({ id, agent }: TurnPlace['question']): Selection => ({
  key: `turn ${agent} ${id}`,
  includes: ({ kind, from, correlationId }) =>
    kind === Kind.chatDelta
      ? from === agent && correlationId === id
      : namespaces.has(namespaceOf(kind)) || kinds.has(kind),
  includesCall: () => false,
})
