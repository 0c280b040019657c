import { contextDepth, contextParent, type Envelope, isThought } from '@meup/protocol'
import type { Block, BlockEntry, ContextBlock } from './blocks.js'
import type { LogRow, Slot, Sources } from './row.js'
import { arrivalsText, countParts, isCarriedOut, isPressing } from './row-content.js'

/** Maximum lines of a run that is neither folded nor fully unfolded: while it is open, and after its end. */
const latest = { live: 6, over: 10 }

/** Estimated heights in pixels. */
const likelyHeight: Readonly<Record<LogRow['type'], number>> = {
  message: 54,
  heading: 36,
  said: 22,
  call: 26,
  batch: 60,
  proposal: 210,
  end: 26,
  more: 24,
}

type Unplaced = Omit<Slot, 'key' | 'envelope' | 'height' | 'origin' | 'calls' | 'row'> & {
  readonly key?: string
}

/** The measured height of a row in pixels, if known. */
type GetHeight = (key: string) => number | undefined

/** Creates the rows of a block: of a message, a run with its nested contexts, or an event. */
export function createSlots(block: Block, sources: Sources, getHeight: GetHeight): readonly Slot[] {
  const slots = slotsOf(block, sources, getHeight)
  const origin = slots.length === 0 ? undefined : getOrigin(block, sources)
  for (const slot of slots) slot.origin = origin
  return slots
}

/** Id of the question or run that ultimately caused a block; computed once, because it never changes. */
export function getOrigin(block: Block, sources: Sources): string | undefined {
  if (block.origin === null) block.origin = sources.getOrigin(block.envelope)
  return block.origin
}

function slotsOf(block: Block, sources: Sources, getHeight: GetHeight): readonly Slot[] {
  if (block.type === 'context') return contextSlots(block, sources, getHeight)
  if (!isShown(block, sources)) return []
  if (block.type === 'event')
    return isCarriedOut(block.entry, sources) ? [] : [entrySlot(block.entry, sources, getHeight)]
  if (block.type === 'arrivals') return [place({ type: 'said', of: block, depth: 0 }, getHeight)]
  const { envelope } = block
  return Array.from({ length: countParts(envelope) }, (_, part) => {
    return place({ type: 'message', of: block, depth: 0, part, key: getPartKey(envelope, part) }, getHeight)
  })
}

/** Key of the row that shows this part of a long message, which has several rows. */
export const getPartKey = ({ id }: Envelope, part: number): string => (part === 0 ? id : `${id}:${part}`)

function contextSlots(block: ContextBlock, sources: Sources, getHeight: GetHeight): readonly Slot[] {
  const { root, envelope, entries } = block
  const { folding, getContext } = sources
  const show = (some: readonly BlockEntry[]): Slot[] =>
    some.map((entry) => entrySlot(entry, sources, getHeight))
  const view = getContext(root)
  if (view === undefined) return show(entries)
  const heading = place({ type: 'heading', of: block, depth: 0, context: root }, getHeight)
  const { pressing, lines, isEmpty } = select(entries, root, sources)
  if (isEmpty && !sources.logFilter.isShown(envelope) && !sources.logFilter.isHeadingOf(root)) return []
  const level = folding.getLevel(root)
  if (level === 'closed') return [heading, ...show(pressing)]
  const maxLines = level === 'all' ? lines.length : view.state === 'open' ? latest.live : latest.over
  const count = Math.max(lines.length - maxLines, 0)
  if (count === 0) return [heading, ...show(lines)]
  const cut = new Set(lines.slice(0, count))
  const key = `${envelope.id}:more`
  const more = place({ type: 'more', of: block, depth: 1, context: root, count, key }, getHeight)
  const stay = pressing.filter((entry) => cut.has(entry))
  return [heading, more, ...show(stay), ...show(lines.slice(count))]
}

/**
 * Whether a message or event is shown: it passes the filter, or is a proposal or elicitation that waits for a decision or
 * answer.
 */
function isShown(
  block: Exclude<Block, ContextBlock>,
  { logFilter, getProposal, isOpenElicitation }: Sources,
): boolean {
  const { envelope } = block
  if (block.type === 'arrivals')
    return block.envelopes.some((each) => logFilter.isShown(each)) && arrivalsText(block.envelopes) !== ''
  return (
    logFilter.isShown(envelope) ||
    getProposal(envelope.id)?.state === 'open' ||
    isOpenElicitation(envelope.id)
  )
}

/** Selects the entries of a run: those that it shows unfolded, and those that it shows even when it is folded. */
function select(entries: readonly BlockEntry[], root: string, sources: Sources) {
  const { folding, isMuted, getProposal, isOpenElicitation, logFilter } = sources
  const isOpen = (path: string): boolean => {
    for (let at: string | undefined = path; at !== undefined && at !== root; at = contextParent(at)) {
      if (folding.getLevel(at) === 'closed') return false
    }
    return true
  }
  const isWaiting = ({ type, envelope }: BlockEntry): boolean =>
    (type === 'proposal' && getProposal(envelope.id)?.state === 'open') || isOpenElicitation(envelope.id)
  const heard = entries.filter(
    (entry) =>
      !(isThought(entry.envelope.kind) && isMuted(entry.envelope.from)) &&
      (logFilter.isShown(entry.envelope) || isWaiting(entry)) &&
      !isCarriedOut(entry, sources),
  )
  const pressing = heard.filter((entry) => isPressing(entry, { getProposal, isOpenElicitation }))
  const always = new Set(pressing)
  const lines = heard.filter((entry) => always.has(entry) || isOpen(entry.envelope.context ?? root))
  return { pressing, lines, isEmpty: heard.length === 0 }
}

function entrySlot(entry: BlockEntry, sources: Sources, getHeight: GetHeight): Slot {
  const { context } = entry.envelope
  const type = getRowType(entry, sources)
  const opens = type === 'heading' && entry.type === 'nested' ? entry.context : undefined
  const depth = context === undefined ? 0 : contextDepth(context)
  return place({ type, of: entry, depth, context: opens }, getHeight)
}

function getRowType(entry: BlockEntry, { getContext, getProposal }: Sources): LogRow['type'] {
  const { id, context = '' } = entry.envelope
  if (entry.type === 'call') return 'call'
  if (entry.type === 'proposal' && getProposal(id) !== undefined) return 'proposal'
  if (entry.type === 'nested' && getContext(entry.context) !== undefined) return 'heading'
  return getContext(context)?.ending?.source.id === id ? 'end' : 'said'
}

/** Creates a slot, a row that is not drawn yet. All slots have the same fields in the same order, which saves memory. */
function place({ type, of, depth, context, count, part, key }: Unplaced, getHeight: GetHeight): Slot {
  const { envelope } = of
  const known = key ?? envelope.id
  const height = getHeight(known) ?? likelyHeight[type]
  return {
    type,
    key: known,
    envelope,
    depth,
    height,
    origin: undefined,
    of,
    context,
    calls: undefined,
    count,
    part,
    row: undefined,
  }
}

/** Like `createSlots`, but calls that were sent together share a row. */
export const createSlotsInBatches: typeof createSlots = (block, sources, getHeight) => {
  const slots = createSlots(block, sources, getHeight)
  if (!slots.some(({ envelope }) => envelope.parallelGroup !== undefined)) return slots
  const arranged: Slot[] = []
  for (const slot of slots) {
    const last = arranged.at(-1)
    if (last === undefined || !isTogether(last, slot)) arranged.push(slot)
    else
      arranged[arranged.length - 1] = {
        ...last,
        type: 'batch',
        height: getHeight(last.key) ?? likelyHeight.batch,
        calls: [...(last.calls ?? [last]), slot],
      }
  }
  return arranged
}

function isTogether({ type, envelope }: Slot, next: Slot): boolean {
  if ((type !== 'call' && type !== 'batch') || next.type !== 'call') return false
  const { parallelGroup, context } = envelope
  return (
    parallelGroup !== undefined &&
    parallelGroup === next.envelope.parallelGroup &&
    context === next.envelope.context
  )
}
