import type { Envelope, OrPropose } from '@meup/protocol'
import { isContextAncestor, openedContext } from '@meup/protocol/context'
import { type Erasure, erasedMethod, findErasure } from '@meup/protocol/erasure'
import { parseExact } from '@meup/protocol/exact-json'
import { correlations, Kind } from '@meup/protocol/kinds'
import { PROTOCOL } from '@meup/protocol/names'
import type { DraftEntry, Entry, Filter, Heading, Row } from '../ports/envelope-log.js'
import type { Seal } from './chain.js'
import { LogError, logTexts } from './error.js'

/** The bytes of an envelope. */
export interface Encoded {
  /** The accepted envelope's exact bytes without `seq` [MEUP-10.1]. */
  readonly body: Uint8Array
  /** The content that a retry must repeat: everything sent except `protocol`, `ts` and `from`, before masking [MEUP-1.12]. */
  readonly content: Uint8Array
}

const closing = 0x7d

/**
 * Builds the bytes of an envelope once, with the payload as sent. `orPropose`, the wish to have a refused call proposed
 * instead, is not logged, so it is part of the content only.
 */
export function encode(envelope: Envelope, payload: Uint8Array, orPropose?: OrPropose): Encoded {
  const head = encodeHead(envelope)
  const fields = head + encodeFields(envelope)
  // All other fields are ASCII by their patterns, or the envelope is refused.
  const isAscii = envelope.context === undefined && envelope.rationale === undefined
  const start = isAscii ? fields.length : Buffer.byteLength(fields)
  const body = Buffer.allocUnsafe(start + payload.length + 1)
  body.write(fields, isAscii ? 'latin1' : 'utf8')
  body.set(payload, start)
  body[body.length - 1] = closing
  const content = body.subarray(head.length)
  if (orPropose === undefined) return { body, content }
  return { body, content: Buffer.concat([Buffer.from(`"orPropose":${JSON.stringify(orPropose)},`), content]) }
}

/** Encodes the part of a body before its content: `protocol`, `ts`, `from`, and the fields that the gateway adds. */
export function encodeHead({
  ts,
  from,
  allowedBy,
  session,
}: Pick<Envelope, 'ts' | 'from' | 'allowedBy' | 'session'>): string {
  let text = `{"protocol":"${PROTOCOL}","ts":"${ts}","from":"${from}",`
  if (allowedBy !== undefined) text += `"allowedBy":"${allowedBy}",`
  if (session !== undefined) text += `"session":"${session}",`
  return text
}

export function toDraft(envelope: Envelope, seq: number, { body, content }: Encoded): DraftEntry {
  const { id, ts, from, kind, to, context, correlationId } = envelope
  return createDraftEntry([seq, id, ts, from, kind, to, context, correlationId], body, content)
}

function encodeFields(envelope: Envelope): string {
  const { id, to, kind, correlationId, context, rationale, parallelGroup } = envelope
  let text = `"id":"${id}"`
  if (to !== undefined) text += `,"to":${JSON.stringify(to)}`
  text += `,"kind":"${kind}"`
  if (correlationId !== undefined) text += `,"correlationId":${JSON.stringify(correlationId)}`
  if (context !== undefined) text += `,"context":${JSON.stringify(context)}`
  if (rationale !== undefined) text += `,"rationale":${JSON.stringify(rationale)}`
  if (parallelGroup !== undefined) text += `,"parallelGroup":${parallelGroup}`
  return `${text},"payload":`
}

/** An entry without its body as a tuple, the cheapest form to store and to send. */
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

export function createDraftEntry(fields: Fields, body: Uint8Array, content: Uint8Array): DraftEntry {
  const [seq, id, ts, from, kind] = fields
  return withOptional({ seq, id, ts, from, kind, body, content }, fields)
}

export function createRow(fields: Fields, body: Uint8Array, { salt, leaf, hash, digest }: Seal): Row {
  const [seq, id, ts, from, kind] = fields
  return withOptional({ seq, id, ts, from, kind, body, salt, leaf, hash, digest }, fields)
}

/** Leaves absent fields absent. Sets fields one by one, because spreading an object of this size costs more than hashing it. */
function withOptional<Kind extends Heading>(entry: Kind, fields: Fields): Kind {
  const [, , , , , to, context, correlationId] = fields
  const target: { -readonly [Key in keyof Heading]: Heading[Key] } = entry
  if (to !== undefined) target.to = to
  if (context !== undefined) target.context = context
  if (correlationId !== undefined) target.correlationId = correlationId
  return entry
}

/** Whether the filter selects an entry. */
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

/** Whether this start opened the context. */
const opens = (wanted: string, { kind, id, context }: Partial<Entry>): boolean =>
  kind === Kind.reasoningStart &&
  id !== undefined &&
  openedContext({ id, ...(context && { context }) }) === wanted

const nothing = new Uint8Array(0)

/** Whether a row was erased: it was read with its body, and has none [MEUP-10.10]. */
export const isErased = ({ body, salt }: Pick<Row, 'body' | 'salt'>): boolean =>
  body.length === 0 && salt.length === 0

/** Erases a row: removes body, salt and digest, and keeps leaf and hash, which the chain needs. */
export const eraseRow = (row: Row): Row =>
  createRow(toFields(row), nothing, { salt: nothing, leaf: row.leaf, hash: row.hash, digest: nothing })

/** The erasure that an entry records; `undefined` = it is not such a record. */
export const readErasure = ({ kind, body }: Entry): Erasure | undefined =>
  kind === Kind.systemSpace ? findErasure(Buffer.from(body).toString()) : undefined

const decoder = new TextDecoder()

/** A payload that folds get in place of an erased one; it has the fields that folds read, for any kind. It is never shown. */
const erasedPayload = { message: 'erased', method: erasedMethod, reason: 'erased', result: {} }

/** Throws a `LogError` with code `corrupt` if the row is damaged. Returns the remaining fields of an erased envelope [MEUP-10.10]. */
export function parseEnvelope(entry: Entry): Envelope {
  const { seq, body } = entry
  if (body.length === 0) return withoutBody(entry)
  try {
    const envelope = parseExact(decoder.decode(body)) as Envelope
    envelope.seq = seq // Spreading costs more than parsing, and creates another hidden class.
    return envelope
  } catch (cause) {
    throw new LogError('corrupt', logTexts.damagedRow, { seq }, { cause })
  }
}

function withoutBody({ seq, id, ts, from, kind, to, context, correlationId }: Entry): Envelope {
  return {
    ...{ protocol: PROTOCOL, seq, id, ts, from, kind, payload: erasedPayload },
    ...(to && { to: [...to] }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
  } as Envelope
}
