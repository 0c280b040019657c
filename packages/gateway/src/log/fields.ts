import { isContextAncestor, openedContext } from '@meup/protocol/context'
import { Kind } from '@meup/protocol/kinds'
import { correlations } from '@meup/protocol/names'
import type { Draft, Entry, Filter, Heading, Row } from '../ports/envelope-log.js'
import type { Seal } from './chain.js'

/** An entry without its body: the cheapest thing to store and to send. */
export type Fields = readonly [
  seq: number,
  id: string,
  ts: string,
  from: string,
  kind: string,
  to: Entry['to'] | undefined,
  context: string | undefined,
  correlationId: Entry['correlationId'] | undefined,
]

export function toFields({ seq, id, ts, from, kind, to, context, correlationId }: Entry): Fields {
  return [seq, id, ts, from, kind, to, context, correlationId]
}

export function createHeading(fields: Fields): Heading {
  const [seq, id, ts, from, kind] = fields
  return withOptional({ seq, id, ts, from, kind }, fields)
}

export function createDraft(fields: Fields, body: Uint8Array, content: Uint8Array): Draft {
  const [seq, id, ts, from, kind] = fields
  return withOptional({ seq, id, ts, from, kind, body, content }, fields)
}

export function createRow(fields: Fields, body: Uint8Array, { salt, leaf, hash, digest }: Seal): Row {
  const [seq, id, ts, from, kind] = fields
  return withOptional({ seq, id, ts, from, kind, body, salt, leaf, hash, digest }, fields)
}

/** What was absent stays absent. Set one by one: to spread an object of this size costs more than to hash it. */
function withOptional<Kind extends Heading>(entry: Kind, fields: Fields): Kind {
  const [, , , , , to, context, correlationId] = fields
  const target: { -readonly [Key in keyof Heading]: Heading[Key] } = entry
  if (to !== undefined) target.to = to
  if (context !== undefined) target.context = context
  if (correlationId !== undefined) target.correlationId = correlationId
  return entry
}

/** Whether an entry is one of those that the filter selects. */
export function matches(
  { seqs, kinds, from, context, correlationId }: Filter,
  entry: Pick<Entry, 'kind' | 'from' | 'context' | 'correlationId'> & Partial<Pick<Entry, 'id' | 'seq'>>,
): boolean {
  return (
    (seqs === undefined || seqs.includes(entry.seq ?? 0)) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (from === undefined || from.includes(entry.from)) &&
    (context === undefined || isIn(context, entry.context) || opens(context, entry)) &&
    (correlationId === undefined || correlations(entry).includes(correlationId))
  )
}

const isIn = (wanted: string, context: string | undefined): boolean =>
  context !== undefined && (context === wanted || isContextAncestor(wanted, context))

/** Whether this is the start that has opened the context. */
const opens = (wanted: string, { kind, id, context }: Partial<Entry>): boolean =>
  kind === Kind.reasoningStart &&
  id !== undefined &&
  openedContext({ id, ...(context && { context }) }) === wanted
