import { type AskedRuns, getOutcome, isNotification, type TranscriptMessage } from '@meup/folds'
import {
  contextRoot,
  correlations,
  type DecisionPayload,
  type Envelope,
  Kind,
  openedContext,
} from '@meup/protocol'
import { getEnvelopeContext } from '../filter/log-filter.js'
import { hasNoLine } from '../log/lines.js'

/** A part of a block (message, run or event) that can have a row; in log order. */
export type BlockEntry = SaidEntry | NestedEntry | CallEntry | ProposalEntry

/** A thought, a chat or decision in a context, or another envelope with its own line. */
interface SaidEntry {
  readonly type: 'said'
  readonly envelope: Envelope
}

/** A start that opens a nested context. */
interface NestedEntry {
  readonly type: 'nested'
  readonly envelope: Envelope
  readonly context: string
}

/** A request and its response. */
export interface CallEntry {
  readonly type: 'call'
  readonly envelope: Envelope
  response?: Envelope
  /** Whether the call failed. */
  isError?: boolean
}

interface ProposalEntry {
  readonly type: 'proposal'
  readonly envelope: Envelope
}

/** An item of the stream: a message, a whole run, or a single event outside of runs. */
export type Block = MessageBlock | ContextBlock | EventBlock | ArrivalsBlock

interface Placed {
  /** First envelope of the block. */
  readonly envelope: Envelope
  /** Index in `Blocks.list`. */
  index: number
  /** Id of the question or run that ultimately caused the block, see `findOrigin`; `null` until computed. */
  origin: string | undefined | null
}

interface MessageBlock extends Placed {
  readonly type: 'message'
  message: TranscriptMessage
}

/** A run with its nested contexts, or a free path: a context that no run has opened. */
export interface ContextBlock extends Placed {
  readonly type: 'context'
  readonly root: string
  readonly entries: BlockEntry[]
}

interface EventBlock extends Placed {
  readonly type: 'event'
  readonly entry: BlockEntry
}

/** Consecutive joins and leaves, shown on one line. */
interface ArrivalsBlock extends Placed {
  readonly type: 'arrivals'
  readonly envelopes: Envelope[]
}

/** Maximum joins and leaves per line. */
const maxArrivalsPerBlock = 20

/** Groups envelopes into blocks: a message, a run with its nested contexts, or a single event. */
export class Blocks {
  #blocks: Block[] = []
  readonly #contexts = new Map<string, ContextBlock>()
  readonly #messages = new Map<string, MessageBlock>()
  /** Calls without a response, by id. */
  readonly #calls = new Map<string, { readonly block: Block; readonly entry: CallEntry }>()
  readonly #getRuns: () => Pick<AskedRuns, 'find'>
  /** Block of each proposal, by id. */
  readonly #proposals = new Map<string, Block>()
  readonly #different = new Set<Block>()

  /** `getRuns`: finds the run of a refused envelope, whose own context is unknown. */
  constructor(getRuns: () => Pick<AskedRuns, 'find'>) {
    this.#getRuns = getRuns
  }

  /** All blocks, in the order of their first envelopes. */
  get list(): readonly Block[] {
    return this.#blocks
  }

  /** Applies an envelope. `messages`: messages of the main conversation that it changed. */
  apply(envelope: Envelope, messages: readonly TranscriptMessage[]): void {
    for (const message of messages) this.#placeMessage(envelope, message)
    if (messages.length > 0 || hasNoLine(envelope)) return
    if (envelope.kind === Kind.systemPresence) {
      this.#placeArrival(envelope)
      return
    }
    if (envelope.kind === Kind.mcpResponse && this.#placeResponse(envelope)) return
    const entry = createEntry(envelope)
    const block = this.#place(envelope, entry)
    if (entry.type === 'call') this.#calls.set(envelope.id, { block, entry })
    if (entry.type === 'proposal') this.#proposals.set(envelope.id, block)
  }

  /** Marks the block that shows a proposal as changed, so that `flush` returns it. */
  touchProposal(id: string): void {
    const block = this.#proposals.get(id)
    if (block !== undefined) this.#different.add(block)
  }

  /** Marks the block that shows a call without a response as changed, so that `flush` returns it. */
  touchCall(id: string): void {
    const call = this.#calls.get(id)
    if (call !== undefined) this.#different.add(call.block)
  }

  /** Marks the block that shows a context as changed, so that `flush` returns it. */
  touchContext(context: string): void {
    const block = this.#contexts.get(contextRoot(context))
    if (block !== undefined) this.#different.add(block)
  }

  /** Whether there is a block for a run, or for a path that no run has opened. */
  has(root: string): boolean {
    return this.#contexts.has(root)
  }

  /** Returns the blocks that have changed since the last call. */
  flush(): readonly Block[] {
    const different = [...this.#different]
    this.#different.clear()
    return different
  }

  /** Drops blocks that began before this seq, except those that `isNeeded` selects. */
  forget(seq: number, isNeeded: (block: Block) => boolean): void {
    this.#blocks = this.#blocks.filter((block) => (block.envelope.seq ?? 0) >= seq || isNeeded(block))
    for (const [index, block] of this.#blocks.entries()) block.index = index
    const kept = new Set(this.#blocks)
    for (const known of [this.#contexts, this.#messages, this.#proposals]) {
      for (const [key, block] of known) if (!kept.has(block)) known.delete(key)
    }
    for (const [key, { block }] of this.#calls) if (!kept.has(block)) this.#calls.delete(key)
  }

  /** Ids of the proposals that blocks show. */
  get proposals(): Iterable<string> {
    return this.#proposals.keys()
  }

  /** Drops everything after this seq. `messages`: the messages of the conversation as of this seq, if still kept. */
  rewind(seq: number, messages: ReadonlyMap<string, TranscriptMessage>): void {
    while ((this.#blocks.at(-1)?.envelope.seq ?? 0) > seq) this.#blocks.pop()
    const { length } = this.#blocks
    for (const known of [this.#contexts, this.#messages, this.#proposals]) {
      for (const [key, { index }] of known) if (index >= length) known.delete(key)
    }
    this.#calls.clear()
    for (const block of this.#blocks) if (this.#shorten(block, seq, messages)) this.#different.add(block)
  }

  /** Shortens a block to the envelopes up to this seq; returns `true` if it changed. */
  #shorten(block: Block, seq: number, messages: ReadonlyMap<string, TranscriptMessage>): boolean {
    if (block.type === 'message') {
      const message = messages.get(block.envelope.id) ?? block.message
      const isOther = message !== block.message
      block.message = message
      return isOther
    }
    if (block.type === 'arrivals') return truncateFrom(block.envelopes, ({ seq: at = 0 }) => at > seq)
    const entries = block.type === 'event' ? [block.entry] : block.entries
    const isShorter =
      block.type === 'context' && truncateFrom(block.entries, ({ envelope }) => (envelope.seq ?? 0) > seq)
    let isOther = false
    for (const entry of entries)
      if (entry.type === 'call' && this.#unanswer(block, entry, seq)) isOther = true
    return isShorter || isOther
  }

  /** Removes a response that came after this seq, so that the call is pending again. */
  #unanswer(block: Block, entry: CallEntry, seq: number): boolean {
    if (entry.response !== undefined && (entry.response.seq ?? 0) <= seq) return false
    this.#calls.set(entry.envelope.id, { block, entry })
    if (entry.response === undefined) return false
    delete entry.response
    delete entry.isError
    return true
  }

  #placeMessage(envelope: Envelope, message: TranscriptMessage): void {
    const known = this.#messages.get(message.source.id)
    if (known !== undefined) known.message = message
    const block =
      known ?? this.#add<MessageBlock>({ type: 'message', envelope, index: 0, origin: null, message })
    this.#messages.set(message.source.id, block)
    this.#different.add(block)
  }

  #placeArrival(envelope: Envelope): void {
    const last = this.#blocks.at(-1)
    if (last?.type !== 'arrivals' || last.envelopes.length >= maxArrivalsPerBlock) {
      this.#add<ArrivalsBlock>({ type: 'arrivals', envelope, index: 0, origin: null, envelopes: [envelope] })
      return
    }
    last.envelopes.push(envelope)
    this.#different.add(last)
  }

  #placeResponse(response: Envelope): boolean {
    const answered = correlations(response).flatMap((id) => this.#calls.get(id) ?? [])
    for (const { block, entry } of answered) {
      entry.response = response
      entry.isError = getOutcome(response.payload) === 'error'
      this.#calls.delete(entry.envelope.id)
      this.#different.add(block)
    }
    return answered.length > 0
  }

  #place(envelope: Envelope, entry: BlockEntry): Block {
    const root = getRoot(envelope) ?? this.#findRun(envelope)
    if (root === undefined) return this.#add({ type: 'event', envelope, index: 0, origin: null, entry })
    const known = this.#contexts.get(root)
    const block =
      known ??
      this.#add<ContextBlock>({ type: 'context', envelope, index: 0, origin: null, root, entries: [] })
    this.#contexts.set(root, block)
    if (!isHeading(envelope, block)) block.entries.push(entry)
    this.#different.add(block)
    return block
  }

  /** The run to which a refused envelope belonged. */
  #findRun({ kind, to = [], payload }: Envelope): string | undefined {
    if (kind !== Kind.systemDecision) return undefined
    const { attemptedCorrelation } = payload as Partial<DecisionPayload>
    const causes = correlations(
      attemptedCorrelation === undefined ? {} : { correlationId: attemptedCorrelation },
    )
    const root = causes.flatMap((cause) => this.#getRuns().find(to[0] ?? '', cause)).at(-1)
    return root !== undefined && this.#contexts.has(root) ? root : undefined
  }

  #add<Kept extends Block>(block: Kept): Kept {
    block.index = this.#blocks.push(block) - 1
    this.#different.add(block)
    return block
  }
}

/** Truncates a list at the first match; returns `true` if there was one. */
function truncateFrom<Each>(list: Each[], isBehind: (each: Each) => boolean): boolean {
  const first = list.findIndex(isBehind)
  if (first !== -1) list.length = first
  return first !== -1
}

function createEntry(envelope: Envelope): BlockEntry {
  const { kind, context, payload } = envelope
  if (kind === Kind.mcpRequest && !isNotification(payload)) return { type: 'call', envelope }
  if (kind === Kind.mcpProposal) return { type: 'proposal', envelope }
  if (kind === Kind.reasoningStart && context !== undefined) {
    return { type: 'nested', envelope, context: openedContext(envelope) }
  }
  return { type: 'said', envelope }
}

/** The run that an envelope is in or decides about. */
const getRoot = (envelope: Envelope): string | undefined => {
  const context = getEnvelopeContext(envelope)
  return context === undefined ? undefined : contextRoot(context)
}

/** The start of a run is shown as its block's heading, not as an entry. */
const isHeading = (envelope: Envelope, block: Block): boolean =>
  envelope.kind === Kind.reasoningStart && envelope === block.envelope
