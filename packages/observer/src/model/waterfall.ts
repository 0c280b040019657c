import type { Block, Entry } from './entry.js'
import type { Row } from './row.js'
import type { Sources } from './rows.js'
import type { Slot } from './slot.js'
import { slotsOf } from './slots.js'

/** Pixels of a row with a bar. */
const height = 28

/** What of an entry has a beginning and an end: contexts, calls, and proposals, which wait for a decision. */
const isTimed = (entry: Entry): boolean => entry.type !== 'said'

/** The rows of a block in which something takes time. */
export function timedSlotsOf(
  block: Block,
  sources: Sources,
  heightOf: (key: string) => number | undefined,
): readonly Slot[] {
  const known = (key: string): number => heightOf(key) ?? height
  if (block.type === 'event') return isTimed(block.entry) ? slotsOf(block, sources, known) : []
  if (block.type !== 'context') return []
  return slotsOf({ ...block, entries: block.entries.filter(isTimed) }, sources, known)
}

/** When something began and ended, in milliseconds by the gateway's clock; no end: it goes on. */
export interface Span {
  readonly from: number
  readonly to: number | undefined
}

/** `undefined`: the row stands for nothing that takes time. */
export function spanOf(row: Row): Span | undefined {
  const from = Date.parse(row.type === 'heading' ? row.startedAt : row.envelope.ts)
  switch (row.type) {
    case 'heading':
      return { from, to: row.isLive ? undefined : from + (row.duration ?? 0) }
    case 'call':
      return { from, to: row.answeredAt === null ? undefined : Date.parse(row.answeredAt) }
    case 'proposal':
      return { from, to: row.proposal.state === 'open' ? undefined : decidedAt(row) }
    default:
      return undefined
  }
}

function decidedAt({ proposal }: Extract<Row, { type: 'proposal' }>): number {
  const { state, fulfilments, rejections, withdrawal, expiresAt, proposedAt } = proposal
  const by = {
    fulfilled: fulfilments.at(-1)?.ts,
    rejected: rejections.at(-1)?.ts,
    withdrawn: withdrawal?.ts,
    expired: expiresAt,
    open: undefined,
  }[state]
  return Date.parse(by ?? proposedAt)
}
