import { Kind, namespaceOf } from '@meup/protocol'
import { readHistory } from '../../core/delivery/history.js'
import { turn } from '../../core/delivery/log-reads.js'
import type { Selection } from '../../core/delivery/selection.js'
import type { ConnectionHandle } from '../../host/connection-handle.js'
import type { Caller, ConnectionGrant } from '../../host/gateway.js'
import type { RunFeed } from './feed.js'

/** Envelopes of the log, before what they have cost is paid. */
const mostAtOnce = 64

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
    const reader = { ...space.readerOf(visitor), rateLimitKey: visitor.rateLimitKey, isGone: () => isGone }
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
