import type { AGUIEvent } from '@ag-ui/core'
import { type Guard, Participants, proposalKinds, TurnStream } from '@meup/folds'
import type { ConnectionGrant, ConnectionHandle, Feed, Message, OutboundBatch } from '@meup/gateway'
import {
  type Caller,
  participantsIn,
  readHistory,
  type Selection,
  type SseFeed,
  yieldNow,
} from '@meup/gateway/routes'
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
import { runTexts } from './errors.js'
import type { AgUiRun } from './run.js'

/** Maximum milliseconds that a client needs to pay its debt to the rate limit for work; with a larger debt, its run ends. */
const maxDebtMs = 5000

/** Writes the events of a run to a server-sent event stream, and closes the stream when the run ends. */
export class RunFeed implements Feed {
  readonly #run: AgUiRun
  readonly #events: SseFeed
  readonly #account: Pick<WorkAccount, 'settle'>
  readonly #onOver: () => void
  #owesMs = 0

  /** `onOver`: called when the last event was written. */
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

  /** Handles messages from the log. `pause` must be called after the last one. */
  replay(messages: readonly Message[]): void {
    this.#send(this.#toEvents(messages))
  }

  pause(): void {
    this.#send(this.#run.pause())
  }

  /** Handles live messages, or a delta of the answer. */
  send({ messages }: OutboundBatch): void {
    this.#send([...this.#toEvents(messages), ...this.#run.pause()])
    // Reading the log pauses until the debt is paid; live envelopes cannot wait, so the run ends.
    if (this.#owesMs > maxDebtMs) {
      this.fail('rate_limited', runTexts.busy)
    }
  }

  lost(): void {
    this.fail('lost', runTexts.replaced)
  }

  close(code: number, reason: string): void {
    this.fail(`${code}`, reason)
  }

  fail(code: string, message: string): void {
    this.#send(this.#run.fail(code, message))
  }

  /** Converts messages to events; skips messages that are not envelopes, such as welcomes and errors. */
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

/**
 * Cost in units of work [MEUP-7.6]: `envelope` for each applied envelope, and one more unit for each `bytesPerUnit` of its
 * bytes.
 */
const cost = { envelope: 16, bytesPerUnit: 128 }

/** Charges a client for following a turn, because each run applies all envelopes of the space's turns. */
export interface WorkAccount {
  /** Masks secrets in a text; withholds the text if the envelope's budget for masking is exhausted. */
  readonly guard: Guard
  /** Whether the client may make the proposed call, and so may approve it. */
  mayApprove(proposal: Envelope): boolean
  mayReject(proposal: Envelope): boolean
  /**
   * Charges the client's rate limit for an applied envelope with this many bytes. Returns the milliseconds until the debt is
   * paid.
   */
  settle(bytes: number): number
}

/** Creates the account of the participant that posted the request. */
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

/** Maximum envelopes per read of the log: their cost is charged only after the read. */
const maxPageRows = 64

interface TurnPlace {
  readonly visitor: Caller
  /** The id of the chat with the question, and the asked agent. */
  readonly question: { readonly id: string; readonly agent: string }
  /** A seq before the turn's first envelope: reading starts after it. */
  readonly after: number
}

interface FollowOptions extends TurnPlace {
  readonly grant: ConnectionGrant
  /** Resolves when the client has disconnected, or the run is over. */
  readonly ended: Promise<void>
}

/** Feeds the turn from the log, then live envelopes. */
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

/** The participants of the caller's space, as of the latest envelope. */
export function listParticipants({ space }: Caller): Participants {
  const { config, log, delivered: head, state, clock } = space
  const participants = new Participants()
  participants.onWelcome({
    participants: participantsIn(state, clock.now()),
    space: { id: config.name, epoch: log.epoch, head },
  })
  return participants
}

/** Whether the turn has ended: answered, cancelled or given up. */
export async function isTurnOver(turn: TurnPlace, { guard, settle }: WorkAccount): Promise<boolean> {
  const { question, visitor } = turn
  const participants = listParticipants(visitor)
  const stream = new TurnStream({ ...question, from: visitor.participant }, { guard, participants })
  await readTurn(turn, ({ text }) => {
    stream.apply(parseExact(Buffer.from(text).toString()) as Envelope)
    settle(text.length)
    return stream.end === undefined || stream.end.givenUp !== null
  })
  return stream.end !== undefined
}

/**
 * Reads the turn from the log, until `onMessage` returns `false`. Returns the seq up to which it has read; `undefined` if
 * `onMessage` has stopped it.
 */
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
      await yieldNow() // Lets other requests run: applying envelopes may take long.
    }
    isAll = next === undefined
    place = next ?? head
  }
  return place
}

const namespaces = new Set(['chat', 'mcp', 'reasoning'])
/** Selected kinds outside of `namespaces`: proposals, refused calls, and the ends of programs. */
const kinds: ReadonlySet<string> = new Set([...proposalKinds, Kind.systemDecision, Kind.systemPresence])

/** Selects the envelopes of turns, and the deltas of this question's answer. */
const selectTurn = ({ id, agent }: TurnPlace['question']): Selection => ({
  key: `turn ${agent} ${id}`,
  includes: ({ kind, from, correlationId }) =>
    kind === Kind.chatDelta
      ? from === agent && correlationId === id
      : namespaces.has(namespaceOf(kind)) || kinds.has(kind),
  includesCall: () => false,
})
