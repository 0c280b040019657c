import { correlations, Kind, namespaceOf } from '@meup/protocol'
import type { Entry } from '../ports/envelope-log.js'

export interface Reader {
  readonly participant: string
  readonly readsTargeted: boolean
}

/** Who may read an envelope: `undefined` = everyone in the space. */
export type Audience = ReadonlySet<string> | undefined

export interface AudienceRules {
  readonly mcpVisibility: 'everyone' | 'addressees'
  /** Who sent an admitted envelope, and of which kind it is. */
  originOf(id: string): Pick<Entry, 'from' | 'kind'> | undefined
}

/** What decides who may read an envelope. */
type Addressed = Pick<Entry, 'from' | 'kind' | 'to' | 'correlationId'>

/** Decided once per envelope, for all readers alike [MEUP-8.1]. */
export function audienceOf(entry: Addressed, rules: AudienceRules): Audience {
  if (namespaceOf(entry.kind) === 'mcp') return mcpAudience(entry, rules)
  return entry.to && new Set([...entry.to, entry.from])
}

/** What a request fulfils, and what a response answers: their senders read along. */
const answered: Partial<Record<string, string>> = {
  [Kind.mcpRequest]: Kind.mcpProposal,
  [Kind.mcpResponse]: Kind.mcpRequest,
}

/** `to` names who must act; with `addressees` a request and its responses are theirs and the asker's alone. */
function mcpAudience(entry: Addressed, { mcpVisibility, originOf }: AudienceRules): Audience {
  if (mcpVisibility === 'everyone') return undefined
  if (entry.kind !== Kind.mcpRequest && entry.kind !== Kind.mcpResponse) return undefined
  if (entry.kind === Kind.mcpRequest && entry.to === undefined) return undefined
  const audience = new Set([...(entry.to ?? []), entry.from])
  for (const id of correlations(entry)) {
    const origin = originOf(id)
    if (origin?.kind === answered[entry.kind]) audience.add(origin?.from ?? '')
  }
  return audience
}

/** The one predicate: live delivery, replay and every view ask it and nothing else [MEUP-8.1]. */
export function mayRead(reader: Reader, audience: Audience): boolean {
  return audience === undefined || reader.readsTargeted || audience.has(reader.participant)
}
