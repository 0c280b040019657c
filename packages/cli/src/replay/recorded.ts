import type { ImportedRow } from '@meup/gateway'
import type { AnyEnvelope, ExportVerdict } from '@meup/protocol'

/** A line of a recording. */
export type Item =
  /** `row` = as a log has it; absent for what is in none, such as an error. */
  | { readonly envelope: AnyEnvelope; readonly row?: ImportedRow }
  /** Seq of an envelope that whoever exported this may not read. */
  | { readonly withheld: number }

/** What a recording has that is whole. */
export interface Extent {
  readonly ok: true
  /** First and last seq; 0 = it has none. */
  readonly first: number
  readonly head: number
  /** Envelopes that whoever exported it may not read. */
  readonly withheld: number
  /** Of plain envelopes: the first seq from 1 on that is missing, though later ones are there. */
  readonly gap?: number
  /** Of an export. Nothing proves that plain envelopes are whole. */
  readonly proof?: { readonly epoch: string; readonly hash: string }
}

export type Damage = Extract<ExportVerdict, { ok: false }>
