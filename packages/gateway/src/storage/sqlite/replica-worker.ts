import { workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import { genesis, hashLeaf, link } from '../../log/chain.js'
import { isErased } from '../../log/entries.js'
import { LogError, logTexts } from '../../log/error.js'
import type { Row, Snapshot } from '../../ports/envelope-log.js'
import { portOfThread, reply, type ThreadCall } from './calls.js'
import { keepCheckpoint } from './checkpoint-table.js'
import { eraseRows } from './erasing.js'
import { emptyWal, lock } from './files.js'
import { createTidier, LogFile } from './log-file.js'
import { unpackPage } from './pack.js'
import { readSnapshot } from './pruning.js'
import type { ReplicaCalls, ReplicaOptions, ReplicaSpace } from './replica-file.js'
import { columns, toJsonColumn } from './rows.js'
import { rewriteVersion } from './schema.js'
import { isRepeatedId } from './sqlite-error.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReplicaOptions): void {
  const holder = lock(path)
  const file = new LogFile({ path, durability: 'process' })
  file.use(({ db }) => emptyWal(db)) // The write-ahead log of a killed process may contain erased bytes.
  const tidy = createTidier(file)

  const perform = (call: ThreadCall<ReplicaCalls>) => {
    switch (call.name) {
      case 'findSpace':
        return file.use(({ db }) => spaceIn(db, ...call.args))
      case 'openSpace':
        return file.use(({ db }) => {
          rewriteVersion(db)
          return establishSpace(db, ...call.args)
        })
      case 'append': {
        const [space, rows, snapshot] = call.args
        return file.use(({ db }) => appendRows(db, space, unpackPage(rows), snapshot))
      }
      case 'prune': {
        const [space, through, snapshot] = call.args
        return file.use(({ db, pruning }) => pruning.prune(space, through, snapshot, readHead(db, space)))
      }
      case 'erase':
        return file.use(({ db }) => eraseRows(db, ...call.args))
      case 'emptyWal':
        return file.use(({ db }) => emptyWal(db))
      case 'keep': {
        const [space, checkpoint] = call.args
        return file.use(({ db }) => keepCheckpoint(db, space, checkpoint, readHead(db, space)))
      }
      case 'close':
        file.close()
        return holder.close()
    }
  }
  port.on('message', (call: ThreadCall<ReplicaCalls>) => {
    port.postMessage([reply(call.id, () => perform(call))])
    tidy()
  })
  tidy()
}

interface Known {
  readonly space: number
  readonly epoch: string
}

interface Tip {
  readonly seq: number
  readonly hash: Uint8Array
}

function spaceIn(db: Database.Database, name: string): ReplicaSpace | undefined {
  const known = db.prepare<[string], Known>('SELECT id AS space, epoch FROM spaces WHERE name = ?').get(name)
  if (known === undefined) return undefined
  const { seq: head, hash } = readTip(db, known)
  return { ...known, head, hash, snapshot: readSnapshot(db, known.space) }
}

function establishSpace(db: Database.Database, name: string, epoch: string): ReplicaSpace {
  db.prepare('INSERT INTO spaces (name, epoch) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, epoch)
  const space = spaceIn(db, name)
  if (space === undefined) throw new Error(`the space '${name}' was stored but is not found`)
  return space
}

function readHead(db: Database.Database, space: number): number {
  const last = db.prepare<[number], number>('SELECT max(seq) FROM envelopes WHERE space = ?').pluck()
  return last.get(space) ?? 0
}

/** Stores all rows or none. Throws a `LogError` with code `corrupt` if they do not continue the chain. */
function appendRows(
  db: Database.Database,
  space: number,
  rows: readonly Row[],
  snapshot: Snapshot | undefined,
): void {
  db.transaction(() => {
    const epoch = db.prepare<[number], string>('SELECT epoch FROM spaces WHERE id = ?').pluck().get(space)
    if (epoch === undefined) throw new Error(`there is no space ${space}`)
    let tip = readTip(db, { space, epoch })
    if (snapshot !== undefined) {
      if (tip.seq > 0)
        throw new Error(`space ${space} of the replica has rows; a snapshot has no place in it`)
      adopt(db, space, snapshot)
      tip = { seq: snapshot.through, hash: snapshot.hash }
    }
    const insert = prepareInsert(db, space)
    for (const row of rows) {
      assertLinked(row, tip)
      insert(row)
      tip = row
    }
  }).immediate()
}

function readTip(db: Database.Database, { space, epoch }: Known): Tip {
  const last = db.prepare<[number], Tip>(
    'SELECT seq, hash FROM envelopes WHERE space = ? ORDER BY seq DESC LIMIT 1',
  )
  return last.get(space) ?? { seq: 0, hash: genesis(epoch) }
}

/** Stores a snapshot as the beginning of the log: the rows that it replaces never were in this file. */
function adopt(db: Database.Database, space: number, { through, hash, bytes }: Snapshot): void {
  db.prepare(
    `INSERT INTO pruned (space, through, hash, snapshot, at)
      VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ'))`,
  ).run(space, through, hash, bytes)
}

function assertLinked(row: Row, tip: Tip): void {
  const { seq, salt, body, leaf, hash } = row
  const isWhole = isErased(row) || hashLeaf(salt, body).equals(leaf)
  const isLinked = seq === tip.seq + 1 && isWhole && link(tip.hash, seq, leaf).equals(hash)
  if (!isLinked) throw new LogError('corrupt', logTexts.otherChain, { seq, head: tip.seq })
}

/** Returns a function that stores one row. */
function prepareInsert(db: Database.Database, space: number): (row: Row) => void {
  const values = columns.replaceAll(/[^, ]+/g, '?')
  const statement = db.prepare(`INSERT OR FAIL INTO envelopes (space, ${columns}) VALUES (?, ${values})`)
  const forget = db.prepare(
    `DELETE FROM envelopes WHERE space = ? AND id = ?
      AND seq <= (SELECT through FROM pruned WHERE pruned.space = envelopes.space)`,
  )
  return ({ seq, id, ts, from, kind, to, context, correlationId, body, salt, leaf, hash, digest }) => {
    const [toText, answers] = [toJsonColumn(to), toJsonColumn(correlationId)]
    const fields = [seq, id, ts, from, kind, toText, context ?? null, answers, body]
    const stored = [space, ...fields, salt, leaf, hash, digest]
    try {
      statement.run(...stored)
    } catch (error) {
      // The id of a pruned row that is not removed yet may be used again: removes the row.
      if (!isRepeatedId(error) || forget.run(space, id).changes === 0) throw error
      statement.run(...stored)
    }
  }
}
