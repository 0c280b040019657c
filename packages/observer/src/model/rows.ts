import { contextDepth, contextParent, type Envelope, isThought } from '@meup/protocol'
import { type ContextView, isWithheld, type ProposalView, printable } from '@meup/views'
import type { Block, ContextBlock, Entry } from './entry.js'
import { arrivalsText } from './event-text.js'
import type { Folding } from './folding.js'
import { headingOf } from './heading.js'
import { callLine, isPressing, saidLine } from './line.js'
import type { Heading, Row } from './row.js'
import { textOf } from './text.js'

/** What rows are made from. */
export interface Sources {
  readonly folding: Folding
  contextOf(context: string): ContextView | undefined
  proposalOf(id: string): ProposalView | undefined
  /** Whether this reader does not want to see what a participant thinks. */
  isMuted(participant: string): boolean
  /** Pixels, where a row was measured already. */
  heightOf(key: string): number | undefined
}

/** Lines of a context that are shown while it is live, and when it is opened. */
const latest = { live: 6, over: 10 }

/** Pixels, until it is measured. */
const likelyHeight: Readonly<Record<Row['type'], number>> = {
  message: 44,
  heading: 30,
  said: 26,
  call: 26,
  proposal: 210,
  end: 26,
  more: 24,
}

type Unplaced = Row extends infer Each ? (Each extends Row ? Omit<Each, keyof Placed> : never) : never
type Placed = Pick<Row, 'key' | 'envelope' | 'depth' | 'height'>

export function rowsOf(block: Block, sources: Sources): readonly Row[] {
  if (block.type === 'context') return contextRows(block, sources)
  if (block.type === 'event') return [entryRow(block.entry, null, sources)]
  const { envelope } = block
  if (block.type === 'arrivals') {
    const text = arrivalsText(block.envelopes)
    return [place({ type: 'said', text, tone: 'event', isByAnother: false }, envelope, 0, sources)]
  }
  const text = isWithheld(envelope.payload) ? '' : textOf(envelope)
  return [place({ type: 'message', message: block.message, text }, envelope, 0, sources)]
}

function contextRows({ root, envelope, entries }: ContextBlock, sources: Sources): readonly Row[] {
  const { folding, contextOf } = sources
  const view = contextOf(root)
  if (view === undefined) return entries.map((entry) => entryRow(entry, null, sources))
  const heading = place({ type: 'heading', ...headingFor(view, sources) }, envelope, 0, sources)
  const { pressing, lines } = select(entries, root, sources)
  const show = (some: readonly Entry[]): Row[] => some.map((entry) => entryRow(entry, view.owner, sources))
  const level = folding.levelOf(root)
  if (level === 'closed') return [heading, ...show(pressing)]
  const most = level === 'all' ? lines.length : view.state === 'open' ? latest.live : latest.over
  const count = Math.max(lines.length - most, 0)
  if (count === 0) return [heading, ...show(lines)]
  const cut = new Set(lines.slice(0, count))
  const more = place({ type: 'more', context: root, count }, envelope, 1, sources, ':more')
  const stay = pressing.filter((entry) => cut.has(entry))
  return [heading, more, ...show(stay), ...show(lines.slice(count))]
}

/** The entries that show in an open run, and those that show in any case. */
function select(entries: readonly Entry[], root: string, { folding, isMuted, proposalOf }: Sources) {
  const isOpen = (path: string): boolean => {
    for (let at: string | undefined = path; at !== undefined && at !== root; at = contextParent(at)) {
      if (folding.levelOf(at) === 'closed') return false
    }
    return true
  }
  const heard = entries.filter(({ envelope }) => !(isThought(envelope.kind) && isMuted(envelope.from)))
  const pressing = heard.filter((entry) => isPressing(entry, proposalOf))
  const always = new Set(pressing)
  const lines = heard.filter((entry) => always.has(entry) || isOpen(entry.envelope.context ?? root))
  return { pressing, lines }
}

function entryRow(entry: Entry, owner: string | null, sources: Sources): Row {
  const { envelope } = entry
  const { contextOf, proposalOf, isMuted } = sources
  const within = contextOf(envelope.context ?? '')
  const depth = envelope.context === undefined ? 0 : contextDepth(envelope.context)
  const put = (row: Unplaced): Row => place(row, envelope, depth, sources)
  if (entry.type === 'call') return put(callLine(entry, proposalOf, isMuted(envelope.from)))
  if (entry.type === 'proposal') {
    const proposal = proposalOf(envelope.id)
    if (proposal !== undefined) return put({ type: 'proposal', proposal })
  }
  if (entry.type === 'nested') {
    const view = contextOf(entry.context)
    if (view !== undefined) return put({ type: 'heading', ...headingFor(view, sources) })
  }
  if (within?.ending?.source.id === envelope.id) {
    return put({ type: 'end', text: textOfEnd(within), isCancelled: within.state === 'cancelled' })
  }
  return put(saidLine(envelope, owner))
}

const headingFor = (view: ContextView, { folding, isMuted }: Sources): Heading =>
  headingOf(view, folding.levelOf(view.context), isMuted(view.owner ?? ''))

const textOfEnd = ({ ending }: ContextView): string => printable(ending?.text ?? '')

function place(row: Unplaced, envelope: Envelope, depth: number, { heightOf }: Sources, suffix = ''): Row {
  const key = `${envelope.id}${suffix}`
  return { ...row, key, envelope, depth, height: heightOf(key) ?? likelyHeight[row.type] } as Row
}
