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

/** Envelopes between two looks at the clock, and how many times as many are counted at once. */
const [envelopesPerCheck, maxChecksAtOnce] = [64, 64]

/** Decides which envelopes of a log the reader sees, and counts the others. */
export class LogFilter {
  readonly viewFilter: ViewFilter
  readonly #log: Log
  /** Envelopes that were counted, and how many of them do not pass. */
  #counted = 0
  #dropped = 0

  constructor(viewFilter: ViewFilter, log: Log) {
    this.viewFilter = viewFilter
    this.#log = log
  }

  filter(filter: Filter): void {
    this.viewFilter.filter = filter
    this.#recount()
  }

  /** Other envelopes than before. */
  reset(): void {
    this.#recount()
  }

  isShown(envelope: Envelope): boolean {
    const { filter, detail } = this.viewFilter
    return isShown(detail, envelope) && matchesFilter(envelope, filter)
  }

  /** Whether the heading of a run is asked for by name. */
  isHeadingOf(root: string): boolean {
    const { context } = this.viewFilter.filter
    return context !== undefined && contextRoot(context) === root
  }

  /** Envelopes that the filter keeps from the reader, of those that were counted. */
  get dropped(): number {
    let left = maxChecksAtOnce
    this.count(() => left-- === 0)
    return this.#dropped
  }

  /** Whether envelopes are still to be counted. */
  get isBehind(): boolean {
    return isFiltering(this.viewFilter.filter) && this.#counted < this.#log.envelopes.length
  }

  /** Counts what the filter keeps from the reader until its time is up. Whether that is through. */
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

/** What a reader has chosen to see, in the present and in the past. */
export class ViewFilter {
  /** Those whose thoughts are not shown. */
  readonly muted = new Set<string>()
  filter: Filter = everything
  /** How much reasoning, also of what was loaded before. */
  detail: Detail = 'full'
}

/** What lines are about. */
export const sorts = ['chat', 'thoughts', 'tools', 'proposals', 'events'] as const
export type Sort = (typeof sorts)[number]

/** What a reader wants to see. What waits for a decision shows in any case. */
export interface Filter {
  /** Those alone; none = everybody. */
  readonly from: readonly string[]
  /** These alone; none = all. */
  readonly sorts: readonly Sort[]
  /** This context and what is below it alone. */
  readonly context: string | undefined
}

export const everything: Filter = { from: [], sorts: [], context: undefined }

export const isSort = (word: string): word is Sort => (sorts as readonly string[]).includes(word)

export const isFiltering = ({ from, sorts, context }: Filter): boolean =>
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

/** The kinds of each sort, as far as the protocol knows them. */
const kindsOf = (sort: Sort): readonly string[] =>
  Object.values(Kind).filter((kind) => getSort({ kind }) === sort)

export const sortKinds: Readonly<Record<Sort, readonly string[]>> = {
  chat: kindsOf('chat'),
  thoughts: kindsOf('thoughts'),
  tools: kindsOf('tools'),
  proposals: kindsOf('proposals'),
  events: kindsOf('events'),
}

/** Whether it passes. */
function matchesFilter(envelope: Envelope, { from, sorts, context }: Filter): boolean {
  if (sorts.length > 0 && !sorts.includes(getSort(envelope))) return false
  if (from.length > 0 && !getParticipants(envelope).some((id) => from.includes(id))) return false
  return context === undefined || isInside(context, getContext(envelope))
}

/** Whose envelope it is; of what the gateway says, whom it is about. */
function getParticipants({ from, to, kind, payload }: Envelope): readonly string[] {
  if (from !== GATEWAY) return [from]
  const { participant } = payload as Partial<PresencePayload>
  return [from, ...(to ?? []), ...(kind === Kind.systemPresence && participant ? [participant.id] : [])]
}

/** The context that it opens or stands in, or that the gateway decided something about. */
export function getContext(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope)
  const about = kind === Kind.systemDecision ? payload.context : context
  return typeof about === 'string' ? about : undefined
}
