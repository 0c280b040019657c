import { workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { Call, Range, ReaderCalls, ReaderOptions } from './calls.js'
import { checkpointOf } from './checkpoints.js'
import { fromStored, type StoredRow } from './columns.js'
import { openForReading } from './files.js'
import { type Packed, packPage } from './pack.js'
import { ProjectionQueries } from './projection-queries.js'
import { selectOf } from './select.js'
import { portOfThread, reply } from './thread.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReaderOptions): void {
  const db = openForReading(path)
  const read = pagesOf(db)
  const projected = new ProjectionQueries(db)
  /** What it reads is as of one moment. */
  const atOnce = db.transaction((call: Exclude<Call<ReaderCalls>, { name: 'read' | 'close' }>): unknown => {
    switch (call.name) {
      case 'checkpoint':
        return checkpointOf(db, ...call.args)
      case 'ends':
        return projected.ends(...call.args)
      case 'turns':
        return projected.turns(...call.args)
      case 'trail':
        return projected.trail(...call.args)
      case 'steps':
        return projected.steps(...call.args)
      case 'stepsOf':
        return projected.stepsOf(...call.args)
      case 'older':
        return projected.older(...call.args)
    }
  })

  port.on('message', (call: Call<ReaderCalls>) => {
    const handOver: ArrayBuffer[] = []
    const answer = reply(call.id, () => {
      if (call.name === 'close') return void db.close()
      if (call.name !== 'read') return atOnce(call)
      const page = read(call.args[0])
      handOver.push(page.bytes.buffer)
      return page
    })
    port.postMessage([answer], handOver)
  })
}

function pagesOf(db: Database.Database): (range: Range) => Packed {
  const prepared = new Map<string, Database.Statement<(string | number)[], StoredRow>>()
  return (range) => {
    const { sql, values } = selectOf(range)
    const statement = prepared.get(sql) ?? db.prepare<(string | number)[], StoredRow>(sql).raw()
    prepared.set(sql, statement)
    return packPage(statement.all(...values).map(fromStored))
  }
}
