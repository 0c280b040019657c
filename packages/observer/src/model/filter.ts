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

function sortOf({ kind }: Pick<Envelope, 'kind'>): Sort {
  if (proposals.has(kind)) return 'proposals'
  const namespace = namespaceOf(kind)
  if (namespace === 'mcp') return 'tools'
  if (namespace === 'reasoning') return 'thoughts'
  return namespace === 'chat' ? 'chat' : 'events'
}

/** Whether it passes; what was searched for is another matter. */
export function passes(envelope: Envelope, { from, sorts, context }: Filter): boolean {
  if (sorts.length > 0 && !sorts.includes(sortOf(envelope))) return false
  if (from.length > 0 && !concerns(envelope).some((id) => from.includes(id))) return false
  return context === undefined || isUnder(contextOf(envelope), context)
}

/** Whose envelope it is; of what the gateway says, whom it is about. */
function concerns({ from, to, kind, payload }: Envelope): readonly string[] {
  if (from !== GATEWAY) return [from]
  const { participant } = payload as Partial<PresencePayload>
  return [from, ...(to ?? []), ...(kind === Kind.systemPresence && participant ? [participant.id] : [])]
}

/** The context that it opens or stands in, or that the gateway decided something about. */
function contextOf(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  if (kind === Kind.reasoningStart) return openedContext(envelope)
  const about = kind === Kind.systemDecision ? payload.context : context
  return typeof about === 'string' ? about : undefined
}

function isUnder(path: string | undefined, context: string): boolean {
  for (let at = path; at !== undefined; at = contextParent(at)) if (at === context) return true
  return false
}

/** Whether the heading of a run stands above something that passes, or above what is asked for. */
export const leadsTo = (root: string, { context }: Filter): boolean =>
  context !== undefined && contextRoot(context) === root
