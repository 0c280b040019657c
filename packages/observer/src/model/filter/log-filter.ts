import { isInside } from '@meup/folds'
import {
  contextRoot,
  type Detail,
  type Envelope,
  GATEWAY,
  isShown,
  Kind,
  namespaceOf,
  openedContext,
  type PresencePayload,
} from '@meup/protocol'
import type { Log } from '../log/log.js'

/** Envelopes between two checks of the clock, and checks per synchronous count. */
const [envelopesPerCheck, maxChecksAtOnce] = [64, 64]

/** Decides which envelopes the reader sees, and counts the others. */
export class LogFilter {
  readonly viewFilter: TimelineFilter
  readonly #log: Log
  /** Counted envelopes, and those among them that are filtered out. */
  #counted = 0
  #dropped = 0

  constructor(viewFilter: TimelineFilter, log: Log) {
    this.viewFilter = viewFilter
    this.#log = log
  }

  filter(filter: ReaderFilter): void {
    this.viewFilter.filter = filter
    this.#recount()
  }

  /** Restarts, because the envelopes have changed. */
  reset(): void {
    this.#recount()
  }

  isShown(envelope: Envelope): boolean {
    const { filter, detail } = this.viewFilter
    return isShown(detail, envelope) && matchesFilter(envelope, filter)
  }

  /** Whether the heading of a run is requested by name. */
  isHeadingOf(root: string): boolean {
    const { context } = this.viewFilter.filter
    return context !== undefined && contextRoot(context) === root
  }

  /** Counted envelopes that are filtered out. */
  get dropped(): number {
    let left = maxChecksAtOnce
    this.count(() => left-- === 0)
    return this.#dropped
  }

  /** Whether envelopes remain to be counted. */
  get isBehind(): boolean {
    return isFiltering(this.viewFilter.filter) && this.#counted < this.#log.envelopes.length
  }

  /** Counts filtered-out envelopes until the time is up. Returns whether it has finished. */
  count(isTimeUp: () => boolean): boolean {
    const { envelopes } = this.#log
    while (this.isBehind) {
      if (this.#counted % envelopesPerCheck === 0 && isTimeUp()) return false
      const envelope = envelopes[this.#counted++]
      if (envelope !== undefined && !this.isShown(envelope)) this.#dropped++
    }
    return true
  }

  #recount(): void {
    this.#counted = 0
    this.#dropped = 0
  }
}

/** The reader's filter, for present and past. */
export class TimelineFilter {
  /** Participants whose thoughts are not shown. */
  readonly muted = new Set<string>()
  filter: ReaderFilter = everything
  /** Amount of reasoning, including loaded envelopes. */
  detail: Detail = 'full'
}

/** Categories of lines. */
export const sorts = ['chat', 'thoughts', 'tools', 'proposals', 'events'] as const
export type Sort = (typeof sorts)[number]

/** The reader's filter. Lines that wait for a decision are always shown. */
export interface ReaderFilter {
  /** Only these participants; empty = everyone. */
  readonly from: readonly string[]
  /** Only these categories; empty = all. */
  readonly sorts: readonly Sort[]
  /** Only this context and those below. */
  readonly context: string | undefined
}

export const everything: ReaderFilter = { from: [], sorts: [], context: undefined }

export const isSort = (word: string): word is Sort => (sorts as readonly string[]).includes(word)

export const isFiltering = ({ from, sorts, context }: ReaderFilter): boolean =>
  from.length > 0 || sorts.length > 0 || context !== undefined

export const sortNames: Readonly<Record<Sort, string>> = {
  chat: 'messages',
  thoughts: 'thoughts',
  tools: 'tools',
  proposals: 'proposals',
  events: 'events',
}

const proposals: ReadonlySet<string> = new Set([Kind.mcpProposal, Kind.mcpReject, Kind.mcpWithdraw])

function getSort({ kind }: Pick<Envelope, 'kind'>): Sort {
  if (proposals.has(kind)) return 'proposals'
  const namespace = namespaceOf(kind)
  if (namespace === 'mcp') return 'tools'
  if (namespace === 'reasoning') return 'thoughts'
  return namespace === 'chat' ? 'chat' : 'events'
}

/** The known kinds of each category. */
const kindsOf = (sort: Sort): readonly string[] =>
  Object.values(Kind).filter((kind) => getSort({ kind }) === sort)

export const sortKinds: Readonly<Record<Sort, readonly string[]>> = {
  chat: kindsOf('chat'),
  thoughts: kindsOf('thoughts'),
  tools: kindsOf('tools'),
  proposals: kindsOf('proposals'),
  events: kindsOf('events'),
}

/** Whether an envelope passes the filter. */
function matchesFilter(envelope: Envelope, { from, sorts, context }: ReaderFilter): boolean {
  if (sorts.length > 0 && !sorts.includes(getSort(envelope))) return false
  if (from.length > 0 && !getParticipants(envelope).some((id) => from.includes(id))) return false
  return context === undefined || isInside(context, getEnvelopeContext(envelope))
}

/** The participant of an envelope; for the gateway's, its subject. */
function getParticipants({ from, to, kind, payload }: Envelope): readonly string[] {
  if (from !== GATEWAY) return [from]
  const { participant } = payload as Partial<PresencePayload>
  return [from, ...(to ?? []), ...(kind === Kind.systemPresence && participant ? [participant.id] : [])]
}

/** The context that an envelope opens or is in, or that a decision is about. */
export function getEnvelopeContext(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope)
  const about = kind === Kind.systemDecision ? payload.context : context
  return typeof about === 'string' ? about : undefined
}
