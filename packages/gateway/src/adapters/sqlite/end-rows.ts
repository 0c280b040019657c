import { digestOf } from './row-digest.js'

/** A row of `batch_ends` without its digest. */
export interface EndRow {
  readonly space: number
  /** Of the envelope that ended the batch. */
  readonly seq: number
  /** From 0 among those that ended with the same envelope. */
  readonly number: number
  readonly turn_id: string
  /** JSON; of the turn, as it was then. */
  readonly narrative: string
  readonly created_at: string
  /** Key of the one before it in the space. */
  readonly previous: string | null
}

export const endDigest = (row: EndRow): string =>
  digestOf('ends', [
    ...[row.space, row.seq, row.number, row.turn_id],
    ...[row.narrative, row.created_at, row.previous],
  ])

/** By which the next end names it. */
export const endKey = ({ created_at, seq, number }: Pick<EndRow, 'created_at' | 'seq' | 'number'>): string =>
  `${created_at} ${seq} ${number}`

/** When the end with this key was, and its seq. */
export function partsOfKey(key: string): { readonly at: string; readonly seq: number } {
  const [at = '', seq = ''] = key.split(' ')
  return { at, seq: Number(seq) }
}
