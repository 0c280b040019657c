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

/** Envelopes between two checks of the time, and number of such spans that a read of `dropped` examines at most. */
const [envelopesPerCheck, maxChecksAtOnce] = [64, 64]

/** Decides which envelopes the reader sees, and counts those that are filtered out. */
export class LogFilter {
  readonly viewFilter: TimelineFilter
  readonly #log: Log
  /** Number of envelopes examined so far; `#dropped`: number of those that are filtered out. */
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

  /** Counts again, because the envelopes have changed. */
  reset(): void {
    this.#recount()
  }

  isShown(envelope: Envelope): boolean {
    const { filter, detail } = this.viewFilter
    return isShown(detail, envelope) && matchesFilter(envelope, filter)
  }

  /** Whether the filter selects this run or a context in it: then the run's heading is shown. */
  isHeadingOf(root: string): boolean {
    const { context } = this.viewFilter.filter
    return context !== undefined && contextRoot(context) === root
  }

  /** Number of envelopes filtered out so far. */
  get dropped(): number {
    let left = maxChecksAtOnce
    this.count(() => left-- === 0)
    return this.#dropped
  }

  /** Whether some envelopes have not been examined yet. */
  get isBehind(): boolean {
    return isFiltering(this.viewFilter.filter) && this.#counted < this.#log.envelopes.length
  }

  /** Continues counting until done or out of time; returns `true` if done. */
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

/** The reader's filter, which applies in the present and the past. */
export class TimelineFilter {
  /** Participants whose thoughts are hidden. */
  readonly muted = new Set<string>()
  filter: ReaderFilter = everything
  /** How much reasoning is shown. */
  detail: Detail = 'full'
}

/** Categories of lines. */
export const sorts = ['chat', 'thoughts', 'tools', 'proposals', 'events'] as const
export type Sort = (typeof sorts)[number]

/** A filter on lines. Proposals that wait for a decision are shown regardless. */
export interface ReaderFilter {
  /** Shows only lines of these participants; empty = everyone. */
  readonly from: readonly string[]
  /** Shows only these categories; empty = all. */
  readonly sorts: readonly Sort[]
  /** Shows only this context, and contexts nested in it. */
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

/** Envelope kinds of a category. */
const kindsOf = (sort: Sort): readonly string[] =>
  Object.values(Kind).filter((kind) => getSort({ kind }) === sort)

export const sortKinds: Readonly<Record<Sort, readonly string[]>> = {
  chat: kindsOf('chat'),
  thoughts: kindsOf('thoughts'),
  tools: kindsOf('tools'),
  proposals: kindsOf('proposals'),
  events: kindsOf('events'),
}

function matchesFilter(envelope: Envelope, { from, sorts, context }: ReaderFilter): boolean {
  if (sorts.length > 0 && !sorts.includes(getSort(envelope))) return false
  if (from.length > 0 && !getParticipants(envelope).some((id) => from.includes(id))) return false
  return context === undefined || isInside(context, getEnvelopeContext(envelope))
}

/** Participants that an envelope is attributed to: its sender; for the gateway's envelopes also addressees and subject. */
function getParticipants({ from, to, kind, payload }: Envelope): readonly string[] {
  if (from !== GATEWAY) return [from]
  const { participant } = payload as Partial<PresencePayload>
  return [from, ...(to ?? []), ...(kind === Kind.systemPresence && participant ? [participant.id] : [])]
}

/** The context that an envelope opens, is in, or decides about. */
export function getEnvelopeContext(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope)
  const about = kind === Kind.systemDecision ? payload.context : context
  return typeof about === 'string' ? about : undefined
}
