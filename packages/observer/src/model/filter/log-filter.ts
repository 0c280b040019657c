import {
  contextParent,
  contextRoot,
  type Envelope,
  GATEWAY,
  Kind,
  namespaceOf,
  openedContext,
  type PresencePayload,
} from '@meup/protocol'
import { getLineId } from '../log/lines.js'
import type { Log } from '../log/log.js'
import { Search } from './search.js'

/** Envelopes between two looks at the clock, and how many times as many are counted at once. */
const [envelopesPerCheck, maxChecksAtOnce] = [64, 64]

/** Decides which envelopes of a log the reader sees, and counts the others. */
export class LogFilter {
  readonly viewFilter: ViewFilter
  readonly search = new Search()
  /** Changes whenever a search begins. */
  round = 0
  readonly #log: Log
  /** Envelopes that were counted, and how many of them do not pass. */
  #counted = 0
  #dropped = 0

  constructor(viewFilter: ViewFilter, log: Log) {
    this.viewFilter = viewFilter
    this.#log = log
    this.search.start(viewFilter.query)
  }

  filter(filter: Filter): void {
    this.viewFilter.filter = filter
    this.#recount()
  }

  find(query: string): void {
    this.viewFilter.query = query
    this.search.start(query)
    this.round++
    this.#recount()
  }

  /** Searches new envelopes, if the earlier ones have been searched. */
  onAppend(before: number): void {
    if (this.search.isThrough(before)) this.search.work(this.#log.envelopes)
  }

  /** Continues the search until `until` (`performance.now()`). Returns whether it is complete. */
  work(until: number): boolean {
    const isThrough = this.search.work(this.#log.envelopes, () => performance.now() >= until)
    if (isThrough) this.#recount()
    return isThrough
  }

  /** Other envelopes than before. */
  reset(): void {
    this.search.reset()
    this.round++
    this.#recount()
  }

  isShown(envelope: Envelope): boolean {
    const { filter } = this.viewFilter
    return matchesFilter(envelope, filter) && (!filter.isHitsOnly || this.isSearchHit(envelope))
  }

  /** Whether it is one of the lines that alone are asked for, which then show in folded runs as well. */
  isSearchHit(envelope: Envelope): boolean {
    const { filter } = this.viewFilter
    return filter.isHitsOnly && this.search.isOn && this.search.has(getLineId(envelope) ?? '')
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
  /** What is searched for. */
  query = ''
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
  /** Whether only what was searched for shows. */
  readonly isHitsOnly: boolean
}

export const everything: Filter = { from: [], sorts: [], context: undefined, isHitsOnly: false }

export const isSort = (word: string): word is Sort => (sorts as readonly string[]).includes(word)

export const isFiltering = ({ from, sorts, context, isHitsOnly }: Filter): boolean =>
  from.length > 0 || sorts.length > 0 || context !== undefined || isHitsOnly

const proposals: ReadonlySet<string> = new Set([Kind.mcpProposal, Kind.mcpReject, Kind.mcpWithdraw])

function getSort({ kind }: Pick<Envelope, 'kind'>): Sort {
  if (proposals.has(kind)) return 'proposals'
  const namespace = namespaceOf(kind)
  if (namespace === 'mcp') return 'tools'
  if (namespace === 'reasoning') return 'thoughts'
  return namespace === 'chat' ? 'chat' : 'events'
}

/** Whether it passes; what was searched for is another matter. */
function matchesFilter(envelope: Envelope, { from, sorts, context }: Filter): boolean {
  if (sorts.length > 0 && !sorts.includes(getSort(envelope))) return false
  if (from.length > 0 && !getParticipants(envelope).some((id) => from.includes(id))) return false
  return context === undefined || isUnder(getContext(envelope), context)
}

/** Whose envelope it is; of what the gateway says, whom it is about. */
function getParticipants({ from, to, kind, payload }: Envelope): readonly string[] {
  if (from !== GATEWAY) return [from]
  const { participant } = payload as Partial<PresencePayload>
  return [from, ...(to ?? []), ...(kind === Kind.systemPresence && participant ? [participant.id] : [])]
}

/** The context that it opens or stands in, or that the gateway decided something about. */
function getContext(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope)
  const about = kind === Kind.systemDecision ? payload.context : context
  return typeof about === 'string' ? about : undefined
}

function isUnder(path: string | undefined, context: string): boolean {
  for (let at = path; at !== undefined; at = contextParent(at)) if (at === context) return true
  return false
}
