import { type Erasure, findErasure } from '@meup/protocol/erasure'
import { Kind } from '@meup/protocol/kinds'
import type { Entry, Row } from '../ports/envelope-log.js'
import { createRow, toFields } from './fields.js'

const nothing = new Uint8Array(0)

/** Whether a row that was read with its body has been erased: then it has none [MEUP-10.10]. */
export const isErased = ({ body, salt }: Pick<Row, 'body' | 'salt'>): boolean =>
  body.length === 0 && salt.length === 0

/** What stays of a row that is erased. */
export const eraseRow = (row: Row): Row =>
  createRow(toFields(row), nothing, { salt: nothing, leaf: row.leaf, hash: row.hash, digest: nothing })

/** The erasure that an entry records. */
export const readErasure = ({ kind, body }: Entry): Erasure | undefined =>
  kind === Kind.systemSpace ? findErasure(Buffer.from(body).toString()) : undefined
