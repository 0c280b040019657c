import type { Row } from '../../ports/envelope-log.js'
import { columns, fromStored, type StoredRow } from './columns.js'
import { asLogError } from './failure.js'
import { openForReading } from './files.js'

/**
 * Finds rows by id, on the calling thread. To begin a read costs as much as to look up an id, so the look-ups of one
 * turn of the event loop, where there are more than one, share one view of the file.
 */
export interface Lookup {
  find(space: number, id: string): Row | undefined
  /** Lets the next look-up see what has been committed since. */
  refresh(): void
  close(): void
}

export function lookupIn(path: string): Lookup {
  const db = openForReading(path)
  const begin = db.prepare('BEGIN')
  const end = db.prepare('COMMIT')
  const select = db
    .prepare<[space: number, id: string], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND id = ?`,
    )
    .raw()

  let isFirst = true
  const refresh = () => {
    if (db.inTransaction) end.run()
  }
  const endTurn = () => {
    isFirst = true
    refresh()
  }
  return {
    find(space, id) {
      try {
        if (isFirst) {
          isFirst = false
          // A view that were kept would keep the write-ahead log from being folded into the file.
          setImmediate(endTurn)
        } else if (!db.inTransaction) begin.run()
        const stored = select.get(space, id)
        return stored && fromStored(stored)
      } catch (error) {
        throw asLogError(error)
      }
    },
    refresh,
    close() {
      db.close()
    },
  }
}
