import { type ContextView, isLate, isWithheld, type ProposalView, printable } from '@meup/folds'
import { contextRoot, type Envelope } from '@meup/protocol'
import type { Block, Entry } from './entry.js'
import { arrivalsText } from './event-text.js'
import type { Folding } from './folding.js'
import { headingOf } from './heading.js'
import { callLine, saidLine } from './line.js'
import type { Heading, Row } from './row.js'
import type { Sieve } from './sieve.js'
import type { Slot } from './slot.js'
import { textOf } from './text.js'

/** What rows are made from. */
export interface Sources {
  readonly folding: Folding
  contextOf(context: string): ContextView | undefined
  proposalOf(id: string): ProposalView | undefined
  /** Whether this reader does not want to see what a participant thinks. */
  isMuted(participant: string): boolean
  /** What of the log this reader wants to see. */
  readonly sieve: Pick<Sieve, 'isShown' | 'isSought' | 'leadsTo'>
}

type Content = Row extends infer Each ? (Each extends Row ? Omit<Each, keyof Placed> : never) : never
type Placed = Pick<Row, 'key' | 'envelope' | 'depth' | 'height'>

/** What a row shows, at this moment. */
export function rowOf(slot: Slot, sources: Sources): Row {
  const { key, envelope, depth, height, calls } = slot
  if (calls !== undefined) {
    const rows = calls.map((call) => rowOf(call, sources)).filter((row) => row.type === 'call')
    return { type: 'batch', calls: rows, key, envelope, depth, height }
  }
  return { ...contentOf(slot, sources), key, envelope, depth, height } as Row
}

function contentOf(slot: Slot, sources: Sources): Content {
  const { type, of, envelope, context = '' } = slot
  const { contextOf, proposalOf, isMuted } = sources
  if (type === 'more') return { type, context, count: slot.count ?? 0 }
  if (type === 'heading') {
    const view = contextOf(context)
    if (view !== undefined) return { type, ...headingFor(view, sources) }
  }
  if (type === 'proposal') {
    const proposal = proposalOf(envelope.id)
    if (proposal !== undefined) return { type, proposal }
  }
  if (type === 'end') {
    const view = contextOf(envelope.context ?? '')
    if (view !== undefined) return { type, text: textOfEnd(view), isCancelled: view.state === 'cancelled' }
  }
  if (of.type === 'call') return callLine(of, proposalOf, isMuted(envelope.from))
  if (of.type === 'message') {
    const text = isWithheld(envelope.payload) ? '' : textOf(envelope)
    return { type: 'message', message: of.message, text }
  }
  return saidBy(of, envelope, sources)
}

function saidBy(of: Block | Entry, envelope: Envelope, { contextOf }: Sources): Content {
  if (of.type === 'arrivals') {
    return {
      type: 'said',
      name: '',
      text: arrivalsText(of.envelopes),
      tone: 'event',
      isByAnother: false,
      isLate: false,
    }
  }
  const { context } = envelope
  if (context === undefined) return saidLine(envelope, null, false)
  return saidLine(envelope, contextOf(contextRoot(context))?.owner ?? null, isLate(envelope, contextOf))
}

const headingFor = (view: ContextView, { folding, isMuted }: Sources): Heading =>
  headingOf(view, folding.levelOf(view.context), isMuted(view.owner ?? ''))

const textOfEnd = ({ ending }: ContextView): string => printable(ending?.text ?? '')
