import type { AGUIEvent } from '@ag-ui/core'
import { type Guard, proposalKinds } from '@meup/folds'
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
import type { Run } from './run.js'

/** A run that owes more work than this is ended [milliseconds]. */
const maxDebtMs = 5000

/** Writes the events of a run to a server-sent event stream, in place of envelopes, and closes the stream with the run. */
export class RunFeed implements Feed {
  readonly #run: Run
  readonly #events: SseFeed
  readonly #account: Pick<WorkAccount, 'settle'>
  #owesMs = 0

  constructor(run: Run, events: SseFeed, account: Pick<WorkAccount, 'settle'>) {
    this.#run = run
    this.#events = events
    this.#account = account
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

  /** Feeds messages that are in the log already. Call `pause` after the last of them. */
  replay(messages: readonly Message[]): void {
    this.#send(this.#toEvents(messages))
  }

  pause(): void {
    this.#send(this.#run.pause())
  }

  /** Messages of the log, or a delta of the answer. */
  send({ messages }: OutboundBatch): void {
    this.#send([...this.#toEvents(messages), ...this.#run.pause()])
    // Live messages cannot be delayed until the work is paid, so the run ends instead.
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
    const event = Buffer.from(events.map((each) => `data: ${stringifyExact(each)}\n\n`).join(''))
    if (this.#run.isOver) this.#events.end(event)
    else this.#events.send({ messages: [], event })
  }
}

/** Units of work [MEUP-7.6] for each envelope that a run folds, and bytes of it that cost one more. */
const cost = { envelope: 16, bytesPerUnit: 128 }

/** Charges the caller for following a turn: each run folds everything that is said in the space. */
export interface WorkAccount {
  /** Redacts a text; withholds it if the envelope has cost too much already. */
  readonly guard: Guard
  /** Whether the client may do what a proposal asks for, and so approve it. */
  mayApprove(proposal: Envelope): boolean
  mayReject(proposal: Envelope): boolean
  /** Charges for a folded envelope of so many bytes. Returns the milliseconds until everything is paid. */
  settle(bytes: number): number
}

/** The account of the caller. */
export function createWorkAccount({ space, participant, rateLimitKey }: Caller): WorkAccount {
  const newMeter = () => new WorkMeter(space.config.limits.work)
  let meter = newMeter()
  const maySend = (envelope: Subject): boolean => {
    try {
      return checkMetered(meter, () => space.state.participants.allows(participant, envelope))
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

/** Envelopes that are read before their cost is settled. */
const maxPageRows = 64

interface FollowOptions {
  readonly visitor: Caller
  /** Id of the chat that asks, and who answers it. */
  readonly question: { readonly id: string; readonly agent: string }
  readonly grant: ConnectionGrant
  /** Seq after which the turn may begin. */
  readonly after: number
  /** Resolves when the client is gone, or has everything. */
  readonly ended: Promise<void>
}

/** Feeds a turn from the log, then live. */
export async function follow(
  feed: RunFeed,
  { visitor, question, grant, after, ended }: FollowOptions,
): Promise<void> {
  const selection = selectTurn(question)
  let isGone = false
  let connection: ConnectionHandle | undefined
  const { space } = visitor
  const leave = (): void => {
    isGone = true
    connection?.closed()
  }
  ended.then(leave).catch((err: unknown) => space.logger.error({ err }, 'a run of AG-UI did not end'))
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
      includes: selection.includes,
    })
    for (const message of messages) {
      if (isGone) return
      feed.replay([message])
      await feed.drained()
      await yieldNow() // Folding an envelope may take long.
    }
    isAll = next === undefined
    place = next ?? head
  }
  feed.pause()
  if (isGone) return
  connection = await grant.watch(feed, { after: place }, selection)
  if (isGone) connection.closed()
}

const namespaces = new Set(['chat', 'mcp', 'reasoning'])
/** Further kinds; decisions tell of what was refused. */
const kinds: ReadonlySet<string> = new Set([...proposalKinds, Kind.systemDecision])

/** The envelopes that turns consist of, and of what is not logged the deltas of one answer. */
const selectTurn = ({ id, agent }: FollowOptions['question']): Selection => ({
  key: `turn ${agent} ${id}`,
  includes: ({ kind, from, correlationId }) =>
    kind === Kind.chatDelta
      ? from === agent && correlationId === id
      : namespaces.has(namespaceOf(kind)) || kinds.has(kind),
  includesCall: () => false,
})
