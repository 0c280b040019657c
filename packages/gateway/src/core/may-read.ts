import { correlations, isThought, Kind, namespaceOf } from '@meup/protocol'
import type { Entry } from '../ports/envelope-log.js'

export interface Reader {
  readonly participant: string
  readonly readsTargeted: boolean
}

/** Who may read an envelope: `undefined` = everyone in the space. */
export type Audience = Readers | undefined

interface Readers {
  readonly participants: ReadonlySet<string>
  /** A thought of a hidden run: not even those read it who read what is addressed to others. */
  readonly isWithheld: boolean
}

export interface AudienceRules {
  readonly mcpVisibility: 'everyone' | 'addressees'
  /** Whether the run that a context belongs to withholds what this participant thinks in it. */
  withholds(context: string, from: string): boolean
  /** Who sent an admitted envelope to whom, of which kind it is, and what it answers. */
  findOrigin(id: string): Origin | undefined
}

type Origin = Pick<Entry, 'from' | 'to' | 'kind' | 'correlationId'>

/** What decides who may read an envelope. */
export type Addressed = Pick<Entry, 'from' | 'kind' | 'to' | 'context' | 'correlationId'>

/** The same of one that the log has. */
export type LoggedAddress = Addressed & Pick<Entry, 'seq'>

/** Who may read what was erased [MEUP-10.11]. */
export const nobody: Audience = { participants: new Set(), isWithheld: true }

/** Decided once per envelope, for all readers alike [MEUP-8.1]. */
export function decideAudience(entry: Addressed, rules: AudienceRules): Audience {
  const { kind, from, to, context } = entry
  if (namespaceOf(kind) === 'mcp') return mcpAudience(entry, rules)
  if (context !== undefined && isThought(kind) && rules.withholds(context, from)) {
    return { participants: new Set([from]), isWithheld: true }
  }
  return to && readers([...to, from])
}

export const readers = (participants: readonly string[]): Readers => ({
  participants: new Set(participants),
  isWithheld: false,
})

/**
 * `to` names who must act; with `addressees` a request, its responses and what is notified are theirs and the askers' alone,
 * save what somebody asks itself [MEUP-8.2].
 */
function mcpAudience(entry: Addressed, { mcpVisibility, findOrigin }: AudienceRules): Audience {
  if (mcpVisibility === 'everyone') return undefined
  const { kind, to } = entry
  if (kind !== Kind.mcpRequest && kind !== Kind.mcpResponse) return undefined
  if (kind === Kind.mcpRequest && (to === undefined || asksItself(entry))) return undefined
  if (kind === Kind.mcpResponse && correlations(entry).every((id) => asksItself(findOrigin(id))))
    return undefined
  return readers([...(to ?? []), ...askers(entry, findOrigin)])
}

const asksItself = (request: Origin | undefined): boolean =>
  request?.kind === Kind.mcpRequest &&
  request.to !== undefined &&
  request.to.every((id) => id === request.from)

/** What a response answers, and what a request fulfils: their senders read along. */
const answered: Partial<Record<string, string>> = {
  [Kind.mcpResponse]: Kind.mcpRequest,
  [Kind.mcpRequest]: Kind.mcpProposal,
}

/** Its sender, that of the request it answers, and that of the proposal which the request fulfils. */
function askers(entry: Origin, findOrigin: AudienceRules['findOrigin']): string[] {
  const kind = answered[entry.kind]
  const ids = kind === undefined ? [] : [...new Set(correlations(entry))]
  const asked = ids.flatMap((id) => findOrigin(id) ?? []).filter((origin) => origin.kind === kind)
  return [entry.from, ...asked.flatMap((origin) => askers(origin, findOrigin))]
}

/** The one predicate: live delivery, replay and every view ask it and nothing else [MEUP-8.1]. */
export const mayRead = (reader: Reader, audience: Audience): boolean =>
  mayAllRead(reader, audience) || audience?.participants.has(reader.participant) === true

/** Whether all with these rights may read it, not only those it is for. */
export const mayAllRead = ({ readsTargeted }: Pick<Reader, 'readsTargeted'>, audience: Audience): boolean =>
  audience === undefined || (readsTargeted && !audience.isWithheld)
