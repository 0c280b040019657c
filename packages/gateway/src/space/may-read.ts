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
  /** Sender of an admitted envelope. */
  senderOf(id: string): string | undefined
}

/** What decides who may read an envelope. */
type Addressed = Pick<Entry, 'from' | 'kind' | 'to' | 'correlationId'>

/** Decided once per envelope, for all readers alike [MEUP-8.1]. */
export function audienceOf(entry: Addressed, rules: AudienceRules): Audience {
  if (namespaceOf(entry.kind) === 'mcp') return mcpAudience(entry, rules)
  return entry.to && new Set([...entry.to, entry.from])
}

/** `to` names who must act; with `addressees` a request and its responses are theirs and the asker's alone. */
function mcpAudience(entry: Addressed, { mcpVisibility, senderOf }: AudienceRules): Audience {
  if (mcpVisibility === 'everyone') return undefined
  if (entry.kind !== Kind.mcpRequest && entry.kind !== Kind.mcpResponse) return undefined
  if (entry.kind === Kind.mcpRequest && entry.to === undefined) return undefined
  const audience = new Set([...(entry.to ?? []), entry.from])
  for (const id of correlations(entry)) {
    const sender = senderOf(id)
    if (sender !== undefined) audience.add(sender)
  }
  return audience
}

/** The one predicate: live delivery, replay and every view ask it and nothing else [MEUP-8.1]. */
export function mayRead(reader: Reader, audience: Audience): boolean {
  return audience === undefined || reader.readsTargeted || audience.has(reader.participant)
}
