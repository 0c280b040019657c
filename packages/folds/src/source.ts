import type { Envelope } from '@meup/protocol'

/** The envelope that a part of a view was made from, with the fields that decide who may read it. */
export type Source = Pick<Envelope, 'id' | 'from' | 'kind' | 'to' | 'correlationId' | 'context'> & {
  readonly seq: number
}

/** Whether the reader of a view may read an envelope [MEUP-8.1]. */
export type MayRead = (source: Source) => boolean

/** Permits the reading of every envelope. */
export const mayReadAll: MayRead = () => true

/** A text of a view with its envelope. `text`: `null` if the reader may not read it. */
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
