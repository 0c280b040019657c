import { workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { Call, ReaderCalls, ReaderOptions } from './calls.js'
import { fromStored, type StoredRow } from './columns.js'
import { openForReading } from './files.js'
import { packPage } from './pack.js'
import { selectOf } from './select.js'
import { portOfThread, reply } from './thread.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReaderOptions): void {
  const db = openForReading(path)
  const prepared = new Map<string, Database.Statement<(string | number)[], StoredRow>>()
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? db.prepare<(string | number)[], StoredRow>(sql).raw()
    prepared.set(sql, statement)
    return statement
  }

  port.on('message', (call: Call<ReaderCalls>) => {
    const handOver: ArrayBuffer[] = []
    const answer = reply(call.id, () => {
      if (call.name === 'close') return void db.close()
      const { sql, values } = selectOf(call.args[0])
      const page = packPage(
        prepare(sql)
          .all(...values)
          .map(fromStored),
      )
      handOver.push(page.bytes.buffer)
      return page
    })
    port.postMessage([answer], handOver)
  })
}
