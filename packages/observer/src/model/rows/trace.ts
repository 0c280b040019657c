import type { ProposalView } from '@meup/folds'
import { type Envelope, isThought } from '@meup/protocol'
import type { Log } from '../log/log.js'
import type { Block, BlockEntry } from './blocks.js'
import type { Level } from './folding.js'
import type { HeadingRow, LogRow, Slot, Sources } from './row.js'
import { createSlots } from './slots.js'

/** Height of a row with a bar, in pixels. */
const height = 28

/** Whether an entry has a duration: contexts, calls and proposals. */
const isTimed = (entry: BlockEntry): boolean => entry.type !== 'said'

/**
 * Creates the rows of a block (message, run or event) in a trace: only contexts, calls and proposals, which have a duration.
 */
export function createTimedSlots(
  block: Block,
  sources: Sources,
  getHeight: (key: string) => number | undefined,
): readonly Slot[] {
  const known = (key: string): number => getHeight(key) ?? height
  if (block.type === 'event') return isTimed(block.entry) ? createSlots(block, sources, known) : []
  if (block.type !== 'context') return []
  return createSlots({ ...block, entries: block.entries.filter(isTimed) }, withOpenContexts(sources), known)
}

/** The same sources with every context unfolded, except those that the reader has folded. */
export function withOpenContexts(sources: Sources): Sources {
  const { folding } = sources
  const getLevel = (context: string): Level => (folding.choices.get(context) === 'closed' ? 'closed' : 'all')
  return { ...sources, folding: { getLevel, choices: folding.choices } }
}

/** Start and end, in ms of gateway time; no end while open. */
export interface TraceBar {
  readonly from: number
  readonly to: number | undefined
}

/** Start and end of a row's activity; `undefined` if it has no duration. */
export function getSpan(row: LogRow): TraceBar | undefined {
  const from = Date.parse(row.type === 'heading' ? row.startedAt : row.envelope.ts)
  switch (row.type) {
    case 'heading':
      return { from, to: row.isLive ? undefined : from + (row.duration ?? 0) }
    case 'call':
      return { from, to: row.answeredAt === null ? undefined : Date.parse(row.answeredAt) }
    case 'proposal':
      return { from, to: decidedAt(row.proposal) }
    default:
      return undefined
  }
}

/** Time of a proposal's outcome; `undefined` while it is open. */
export function decidedAt(proposal: ProposalView): number | undefined {
  const { state, fulfilments, rejections, withdrawal, expiresAt, proposedAt } = proposal
  if (state === 'open') return undefined
  const by = {
    fulfilled: fulfilments.at(-1)?.ts,
    rejected: rejections.at(-1)?.ts,
    withdrawn: withdrawal?.ts,
    expired: expiresAt,
  }[state]
  return Date.parse(by ?? proposedAt)
}

/** Maximum number of thoughts marked on a context's bar. */
const maxThoughts = 200

/** The latest thoughts of a context, without those of nested contexts. */
export function listThoughts(
  log: Pick<Log, 'envelopes' | 'countThrough' | 'get'>,
  { context, envelope, end }: HeadingRow,
): readonly Envelope[] {
  const last = end === null ? undefined : log.get(end)?.seq
  const count = last === undefined ? log.envelopes.length : log.countThrough(last)
  return log.envelopes
    .slice(log.countThrough(envelope.seq ?? 0), count)
    .filter((each) => each.context === context && isThought(each.kind))
    .slice(-maxThoughts)
}
