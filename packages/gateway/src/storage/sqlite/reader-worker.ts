import { workerData } from 'node:worker_threads'
import { portOfThread, type ReaderCalls, reply, type ThreadCall, type WriterOptions } from './calls.js'
import { readCheckpoint } from './checkpoint-table.js'
import { openForReading } from './files.js'
import { createPageReader } from './pages.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: Pick<WriterOptions, 'path'>): void {
  const db = openForReading(path)
  const read = createPageReader(db)
  const checkpoint = db.transaction((space: number) => readCheckpoint(db, space))
  const handOver: ArrayBuffer[] = []
  const perform = (call: ThreadCall<ReaderCalls>): unknown => {
    if (call.name === 'close') return void db.close()
    if (call.name === 'checkpoint') return checkpoint(...call.args)
    const page = read(call.args[0])
    handOver.push(page.bytes.buffer)
    return page
  }
  port.on('message', (call: ThreadCall<ReaderCalls>) => {
    const answered = reply(call.id, () => perform(call))
    port.postMessage([answered], handOver.splice(0))
  })
}
