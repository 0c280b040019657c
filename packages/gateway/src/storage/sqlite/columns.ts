import { LogError } from '../../log/error.js'
import { createHeading, createRow, type Fields } from '../../log/fields.js'
import type { Draft, Entry, Heading, Row } from '../../ports/envelope-log.js'

/** The columns of a `StoredRow`, in its order. */
export const columns =
  'seq, id, ts, "from", kind, "to", context, correlationId, body, salt, leaf, hash, digest'

/** The first of them: what stands behind a large body is as far away as its end. */
export const headingColumns = 'seq, id, ts, "from", kind, "to", context, correlationId'

/** Those with which a row is read, but not proved. */
export const bodyColumns = `${headingColumns}, body`

export type StoredHeading = [
  seq: number,
  id: string,
  ts: string,
  from: string,
  kind: string,
  to: string | null,
  context: string | null,
  correlationId: string | null,
]

export type StoredRow = [
  ...StoredHeading,
  body: Uint8Array,
  salt?: Uint8Array,
  leaf?: Uint8Array,
  hash?: Uint8Array,
  digest?: Uint8Array,
]

/** A draft as it is stored, but for what seals it. `to` and `correlationId` are JSON; `null` = absent. */
export interface Storable extends Pick<Draft, 'seq' | 'id' | 'ts' | 'from' | 'kind' | 'body' | 'content'> {
  readonly to: string | null
  readonly context: string | null
  readonly correlationId: string | null
  /** Of what was logged elsewhere before; absent = a fresh one. */
  readonly salt?: Uint8Array
}

/** Field by field: an object that is spread takes longer than to hash it, and gets a shape of its own, which outlives it. */
export function storable(draft: Draft & { readonly salt?: Uint8Array }): Storable {
  const { seq, id, ts, from, kind, to, context = null, correlationId, body, content, salt } = draft
  const [receivers, answered] = [toJson(to), toJson(correlationId)]
  const sent = { seq, id, ts, from, kind, to: receivers, context, correlationId: answered, body, content }
  return salt === undefined ? sent : { ...sent, salt }
}

const none = new Uint8Array(0)

export function fromStored(stored: StoredRow): Row {
  const [, , , , , , , , body, salt = none, leaf = none, hash = none, digest = none] = stored
  return createRow(fieldsFrom(stored), body, { salt, leaf, hash, digest })
}

export const headingFrom = (stored: StoredHeading): Heading => createHeading(fieldsFrom(stored))

/** Of a whole row as well. */
export function fieldsFrom([seq, id, ts, from, kind, to, context, correlationId]:
  | StoredHeading
  | StoredRow): Fields {
  return [
    seq,
    id,
    ts,
    from,
    kind,
    fromJson<Entry['to']>(to, seq, 'to'),
    context ?? undefined,
    fromJson<Entry['correlationId']>(correlationId, seq, 'correlationId'),
  ]
}

export function toJson(value: Entry['to'] | Entry['correlationId']): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

function fromJson<Value>(json: string | null, seq: number, column: string): Value | undefined {
  try {
    return json === null ? undefined : JSON.parse(json)
  } catch (cause) {
    throw new LogError('corrupt', `Column ${column} of row ${seq} is damaged. Verify the log.`, { cause })
  }
}
