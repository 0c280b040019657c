import { contextRoot } from '@meup/protocol/context'
import { nanoid } from 'nanoid'
import { bytesBefore, genesis, sealDraft } from '../log/chain.js'
import { createDraftEntry, createRow, eraseRow, isErased, matches, toFields } from '../log/entries.js'
import { checkpointError, closedError, duplicateIdError, gapError, rangeError } from '../log/error.js'
import type {
  Checkpoint,
  DraftEntry,
  EnvelopeLog,
  LogStore,
  Query,
  Row,
  Snapshot,
} from '../ports/envelope-log.js'
import { logStore } from './log-store.js'

interface Space {
  readonly name: string
  readonly epoch: string
  readonly rows: Row[]
  readonly ids: Map<string, Row>
  /** Number of rows per root context, including those below it. */
  readonly contexts: Map<string, number>
  snapshot: Snapshot | undefined
  checkpoint: Checkpoint | undefined
}

/** The content of a memory store; passed to the next store, it acts like a disk that survives a restart. */
type MemorySpaces = Map<string, Space>

/** Logs that live as long as `spaces`, for tests and temporary spaces. */
export const memoryStore = (spaces: MemorySpaces = new Map()): LogStore =>
  logStore({
    open: async (name, onClose) => {
      const space = spaces.get(name) ?? newSpace(name)
      spaces.set(name, space)
      return memoryLog(space, onClose)
    },
    stop: async () => {},
  })

const newSpace = (name: string): Space => ({
  name,
  epoch: nanoid(),
  rows: [],
  ids: new Map(),
  contexts: new Map(),
  snapshot: undefined,
  checkpoint: undefined,
})

function memoryLog(space: Space, onClose: () => void): EnvelopeLog {
  let closed = false
  const refuseIfClosed = () => {
    if (closed) throw closedError('log')
  }

  const log: EnvelopeLog = {
    epoch: space.epoch,
    get head() {
      return getHead(space)
    },
    get oldest() {
      return prunedThrough(space) + 1
    },
    get snapshot() {
      return space.snapshot
    },
    async append(batch) {
      refuseIfClosed()
      const drafts = batch.map(copyDraft)
      await laterThisTurn()
      commit(space, drafts)
    },
    async read(query) {
      refuseIfClosed()
      return select(space, query)
    },
    find(id) {
      refuseIfClosed()
      return space.ids.get(id)
    },
    heading(id) {
      refuseIfClosed()
      return space.ids.get(id)
    },
    headingsFrom(start, after, limit) {
      refuseIfClosed()
      const ids = [...space.ids.keys()].filter((id) => id.startsWith(start) && id > after)
      return ids
        .sort()
        .slice(0, limit)
        .flatMap((id) => space.ids.get(id) ?? [])
    },
    hasContext(root) {
      refuseIfClosed()
      return space.contexts.has(root)
    },
    async prune(through, snapshot) {
      refuseIfClosed()
      const bytes = Buffer.from(snapshot)
      await laterThisTurn()
      prune(space, through, bytes)
    },
    async erase(seqs) {
      refuseIfClosed()
      await laterThisTurn()
      return erase(space, seqs)
    },
    async keep({ bytes, ...checkpoint }) {
      refuseIfClosed()
      const kept = { ...checkpoint, bytes: Buffer.from(bytes) }
      await laterThisTurn()
      keep(space, kept)
    },
    async checkpoint() {
      refuseIfClosed()
      return space.checkpoint
    },
    async recover() {
      refuseIfClosed()
    },
    async close() {
      if (!closed) onClose()
      closed = true
      await laterThisTurn()
    },
  }
  return log
}

/**
 * Copies the bytes of a draft, because the caller may reuse them. The content is mostly the end of the body, and then shares
 * the copy.
 */
function copyDraft(draft: DraftEntry): DraftEntry {
  const body = Buffer.from(draft.body)
  const before = bytesBefore(draft.content, draft.body)
  const content = before === undefined ? Buffer.from(draft.content) : body.subarray(before)
  return createDraftEntry(toFields(draft), body, content)
}

const prunedThrough = ({ snapshot }: Space): number => snapshot?.through ?? 0
const getHead = (space: Space): number => prunedThrough(space) + space.rows.length

/** Lets the caller continue first: commits happen later, in the order of the calls, as with a disk. */
async function laterThisTurn(): Promise<void> {}

function commit(space: Space, batch: readonly DraftEntry[]): void {
  const { epoch, rows, ids } = space
  const sealed: Row[] = []
  const fresh = new Set<string>()
  let hash = rows.at(-1)?.hash ?? genesis(epoch)
  for (const draft of batch) {
    const expected = getHead(space) + sealed.length + 1
    if (draft.seq !== expected) throw gapError(expected, draft.seq)
    if (ids.has(draft.id) || fresh.has(draft.id)) throw duplicateIdError(draft.id)
    const row = createRow(toFields(draft), draft.body, sealDraft(draft, hash))
    hash = row.hash
    fresh.add(row.id)
    sealed.push(row)
  }
  for (const row of sealed) {
    rows.push(row)
    ids.set(row.id, row)
    countContext(space, row, 1)
  }
}

function countContext({ contexts }: Space, { context }: Row, change: 1 | -1): void {
  if (context === undefined) return
  const root = contextRoot(context)
  const rows = (contexts.get(root) ?? 0) + change
  if (rows > 0) contexts.set(root, rows)
  else contexts.delete(root)
}

function prune(space: Space, through: number, bytes: Uint8Array): void {
  const gone = prunedThrough(space)
  const last = space.rows[through - gone - 1]
  const head = getHead(space)
  if (last === undefined || through === head) throw rangeError(through, gone + 1, head)
  for (const row of space.rows.splice(0, through - gone)) {
    space.ids.delete(row.id)
    countContext(space, row, -1)
  }
  space.snapshot = { through, hash: last.hash, bytes }
  if (space.checkpoint !== undefined && space.checkpoint.through <= through) space.checkpoint = undefined
}

function erase(space: Space, seqs: readonly number[]): boolean {
  const gone = prunedThrough(space)
  const found = seqs.flatMap((seq) => space.rows[seq - gone - 1] ?? []).filter((row) => !isErased(row))
  for (const row of found.map(eraseRow)) {
    space.rows[row.seq - gone - 1] = row
    space.ids.set(row.id, row)
  }
  if (found.length > 0) space.checkpoint = undefined
  return found.length > 0
}

function keep(space: Space, checkpoint: Checkpoint): void {
  const { through } = checkpoint
  const [oldest, head] = [prunedThrough(space) + 1, getHead(space)]
  const isThere = Number.isInteger(through) && through >= oldest && through <= head
  if (!isThere) throw checkpointError(through, oldest, head)
  space.checkpoint = checkpoint
}

/** Row `seq` is at index `seq - 1`, minus the pruned rows. */
function select(
  space: Space,
  { after = 0, before = Infinity, limit, maxBytes = Infinity, order, filter, only }: Query,
): Row[] {
  const gone = prunedThrough(space)
  // Looks up requested seqs by index.
  const rows = filter?.seqs?.flatMap((seq) => space.rows[seq - gone - 1] ?? []) ?? space.rows
  const isAll = rows === space.rows
  const start = isAll ? Math.max(0, after - gone) : 0
  const end = isAll ? Math.max(0, Math.min(before - 1 - gone, rows.length)) : rows.length
  const step = order === 'desc' ? -1 : 1
  const found: Row[] = []
  let bytes = 0
  for (let at = step === 1 ? start : end - 1; at >= start && at < end && found.length < limit; at += step) {
    const row = rows[at]
    if (row === undefined || row.seq <= after || row.seq >= before) continue
    if (filter !== undefined && !matches(filter, row)) continue
    const part = only === 'headings' || only === 'proofs' ? withoutBody(row) : row
    found.push(part)
    bytes += part.body.length
    if (bytes >= maxBytes) break
  }
  return found
}

const withoutBody = (row: Row): Row => createRow(toFields(row), new Uint8Array(0), row)
