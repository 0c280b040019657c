import { nanoid } from 'nanoid'
import { genesis, seal } from '../log/chain.js'
import { closedError, duplicateIdError, gapError } from '../log/error.js'
import { draftOf, fieldsOf, rowOf } from '../log/fields.js'
import type { Draft, EnvelopeLog, LogStore, Query, Row } from '../ports/envelope-log.js'

interface Space {
  readonly epoch: string
  readonly rows: Row[]
  readonly ids: Map<string, Row>
}

/** What a memory store holds; handed to the next store, it stands for a disk that outlives a restart. */
export type MemorySpaces = Map<string, Space>

/** Logs that live as long as `spaces` does: for tests and throw-away spaces. */
export function memoryStore(spaces: MemorySpaces = new Map()): LogStore {
  const logs = new Map<string, EnvelopeLog>()
  let closed = false

  return {
    async open(name) {
      if (closed) throw closedError('store')
      const known = logs.get(name)
      if (known) return known
      const space = spaces.get(name) ?? { epoch: nanoid(), rows: [], ids: new Map() }
      spaces.set(name, space)
      const log = memoryLog(space, () => logs.delete(name))
      logs.set(name, log)
      return log
    },
    async close() {
      closed = true
      await Promise.all([...logs.values()].map((log) => log.close()))
    },
  }
}

function memoryLog(space: Space, onClose: () => void): EnvelopeLog {
  const { epoch, rows, ids } = space
  let closed = false
  const refuseIfClosed = () => {
    if (closed) throw closedError('log')
  }

  return {
    epoch,
    get head() {
      return rows.length
    },
    async append(batch) {
      refuseIfClosed()
      // The caller may use its bytes again: the log keeps its own.
      const drafts = batch.map((draft) =>
        draftOf(fieldsOf(draft), Buffer.from(draft.body), Buffer.from(draft.content)),
      )
      await laterThisTurn()
      commit(space, drafts)
    },
    async read(query) {
      refuseIfClosed()
      return select(rows, query)
    },
    find(id) {
      refuseIfClosed()
      return ids.get(id)
    },
    async close() {
      if (!closed) onClose()
      closed = true
      await laterThisTurn()
    },
  }
}

/** Commits in the order of the calls, but after the caller has gone on: as a disk does. */
async function laterThisTurn(): Promise<void> {}

function commit({ epoch, rows, ids }: Space, batch: readonly Draft[]): void {
  const sealed: Row[] = []
  const fresh = new Set<string>()
  let hash = rows.at(-1)?.hash ?? genesis(epoch)
  for (const draft of batch) {
    const expected = rows.length + sealed.length + 1
    if (draft.seq !== expected) throw gapError(expected, draft.seq)
    if (ids.has(draft.id) || fresh.has(draft.id)) throw duplicateIdError(draft.id)
    const row = rowOf(fieldsOf(draft), draft.body, seal(draft, hash))
    hash = row.hash
    fresh.add(row.id)
    sealed.push(row)
  }
  for (const row of sealed) {
    rows.push(row)
    ids.set(row.id, row)
  }
}

/** Row `seq` is at index `seq - 1`. */
function select(rows: readonly Row[], { after = 0, before = Infinity, limit, order }: Query): Row[] {
  const end = Math.max(0, Math.min(before - 1, rows.length))
  if (order === 'desc') return rows.slice(Math.max(after, end - limit), Math.max(after, end)).reverse()
  return rows.slice(after, Math.min(after + limit, end))
}
