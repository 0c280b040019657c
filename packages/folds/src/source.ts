import type { Envelope } from '@meup/protocol'

/** The envelope of a part of a view, with the fields that decide who may read it. */
export type Source = Pick<Envelope, 'id' | 'from' | 'kind' | 'to' | 'correlationId' | 'context'> & {
  readonly seq: number
}

/** Whether the reader of a view may read an envelope [MEUP-8.1]. */
export type MayRead = (source: Source) => boolean

/** Permits everything. */
export const mayReadAll: MayRead = () => true

/** A text of a view. `null` = withheld. */
export interface Quoted {
  readonly source: Source
  readonly text: string | null
}

export function getSource({ id, seq = 0, from, kind, to, correlationId, context }: Envelope): Source {
  return {
    id,
    seq,
    from,
    kind,
    ...(to && { to }),
    ...(correlationId !== undefined && { correlationId }),
    ...(context !== undefined && { context }),
  }
}
