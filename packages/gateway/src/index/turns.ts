import type { Space } from '../core/space.js'
import { FoldedTurns } from './folded-turns.js'
import type { IndexFile } from './index-file.js'
import { Indexer } from './indexer.js'

/** The turns of a space: where they are in the log, and what they come to. */
export interface Turns {
  readonly indexer: Indexer
  readonly folded: FoldedTurns
}

export const turnsOf = (space: Space, file: IndexFile): Turns => ({
  indexer: new Indexer(space, file),
  folded: new FoldedTurns(space),
})
