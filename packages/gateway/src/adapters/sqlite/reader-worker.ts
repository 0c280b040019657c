import { workerData } from 'node:worker_threads'
import type { Call, Range, ReaderCalls, ReaderOptions } from './calls.js'
import { columns, fromStored, type StoredRow } from './columns.js'
import { openForReading } from './files.js'
import { packPage } from './pack.js'
import { portOfThread, reply } from './thread.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReaderOptions): void {
  const db = openForReading(path)
  const select = (order: Range['order']) =>
    db
      .prepare<number[], StoredRow>(
        `SELECT ${columns} FROM envelopes WHERE space = ? AND seq > ? AND seq < ? ORDER BY seq ${order} LIMIT ?`,
      )
      .raw()
  const selects = { asc: select('asc'), desc: select('desc') }

  port.on('message', (call: Call<ReaderCalls>) => {
    const handOver: ArrayBuffer[] = []
    const answer = reply(call.id, () => {
      if (call.name === 'close') return void db.close()
      const [{ space, after, before, limit, order }] = call.args
      const page = packPage(selects[order].all(space, after, before, limit).map(fromStored))
      handOver.push(page.bytes.buffer)
      return page
    })
    port.postMessage([answer], handOver)
  })
}
