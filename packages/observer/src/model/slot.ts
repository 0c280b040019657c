import type { Envelope } from '@meup/protocol'
import type { Block, Entry } from './entry.js'
import type { Row } from './row.js'

/** A row before anybody has looked at it: where it stands and about how high it is. `rowOf` says what it shows. */
export interface Slot {
  readonly type: Row['type']
  /** The same for as long as the row is there. */
  readonly key: string
  /** What is looked at when the row is chosen. */
  readonly envelope: Envelope
  /** 0 for what stands in no run. */
  readonly depth: number
  /** Pixels: what it was measured to be, or about what it will be. */
  height: number
  readonly of: Block | Entry
  /** The context that a heading opens, or of which some lines are not shown. */
  readonly context?: string | undefined
  /** What a batch is made of. */
  readonly calls?: readonly Slot[] | undefined
  /** Lines that are not shown. */
  readonly count?: number | undefined
}
