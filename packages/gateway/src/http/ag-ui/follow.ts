import { Kind, namespaceOf } from '@meup/protocol'
import type { Caller, Ticket } from '../../gateway/gateway.js'
import type { Line } from '../../gateway/line.js'
import { readHistory } from '../../outbox/history.js'
import { turn } from '../../space/log-reads.js'
import type { Selection } from '../../space/selection.js'
import type { RunFeed } from './feed.js'

/** Envelopes of the log, before what they have cost is paid. */
const mostAtOnce = 64

interface Course {
  readonly visitor: Caller
  readonly ticket: Ticket
  /** Seq after which the turn may begin. */
  readonly after: number
  /** Resolves when the client is gone, or has everything. */
  readonly ended: Promise<void>
}

/** Shows what there is of a turn in the log, then what comes. */
export async function follow(feed: RunFeed, { visitor, ticket, after, ended }: Course): Promise<void> {
  let isGone = false
  let line: Line | undefined
  void ended.then(() => {
    isGone = true
    line?.closed()
  })
  const { space } = visitor
  let place = after
  for (let isAll = false; !isAll && !isGone; ) {
    const reader = { ...space.readerOf(visitor), payer: visitor.payer, isGone: () => isGone }
    const { messages, head, next } = await readHistory(reader, space, {
      after: place,
      before: Number.POSITIVE_INFINITY,
      limit: mostAtOnce,
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
  line = await ticket.watch(feed, { after: place }, ofTurns)
  if (isGone) line.closed()
}

const namespaces = new Set(['chat', 'mcp', 'reasoning'])

/** What turns are made of. */
const ofTurns: Selection = {
  key: 'turns',
  includes: ({ kind }) => namespaces.has(namespaceOf(kind)) || kind === Kind.systemDecision,
  includesCall: () => false,
}
