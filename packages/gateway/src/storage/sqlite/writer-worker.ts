import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import {
  portOfThread,
  type Reply,
  refusal,
  reply,
  type ThreadCall,
  type WriterCalls,
  type WriterOptions,
} from './calls.js'
import { keepCheckpoint, readCheckpoint } from './checkpoint-table.js'
import { eraseRows } from './erasing.js'
import { emptyWal, foldWal, lock } from './files.js'
import { createTidier, LogFile } from './log-file.js'
import { rowsIn, unpackBatch } from './pack.js'
import { createPageReader } from './pages.js'
import { rewriteVersion } from './schema.js'
import { asLogError } from './sqlite-error.js'

type WriterCall = ThreadCall<WriterCalls>
type Append = Extract<WriterCall, { name: 'append' }>

/** Number of rows at which no further batches are added to a transaction, so that the first callers do not wait longer. */
const MAX_ROWS = 2048

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start(options: WriterOptions): void {
  const holder = lock(options.path)
  const file = new LogFile(options)
  file.use(({ db }) => emptyWal(db)) // The write-ahead log of a killed process may contain erased bytes.
  const tidy = createTidier(file)

  const perform = (call: Exclude<WriterCall, Append>) => {
    switch (call.name) {
      case 'open':
        return file.use(({ chainWriter }) => chainWriter.open(...call.args))
      case 'recover':
        file.close() // Another process may have changed the file, so nothing cached about it is used.
        return file.use(({ db, chainWriter }) => {
          rewriteVersion(db)
          return chainWriter.open(...call.args)
        })
      case 'prune':
        return file.use(({ chainWriter, pruning }) =>
          pruning.prune(...call.args, chainWriter.getHead(call.args[0])),
        )
      case 'erase':
        return file.use(({ db }) => eraseRows(db, ...call.args))
      case 'emptyWal':
        return file.use(({ db }) => emptyWal(db))
      case 'keep':
        return file.use(({ db, chainWriter }) =>
          keepCheckpoint(db, ...call.args, chainWriter.getHead(call.args[0])),
        )
      case 'read':
        return file.use(({ db }) => createPageReader(db)(...call.args))
      case 'checkpoint':
        return file.use(({ db }) => readCheckpoint(db, ...call.args))
      case 'fold':
        return file.use(({ db }) => foldWal(db))
      case 'close':
        file.close()
        return holder.close()
    }
  }
  port.on('message', (first: WriterCall) => {
    const calls = gather(first)
    const appends = calls.filter(isAppend)
    const others = calls.filter((call) => !isAppend(call))
    const committed = appends.length > 0 ? commit(file, appends) : []
    port.postMessage([...committed, ...others.map((call) => reply(call.id, () => perform(call)))])
    tidy()
  })
  tidy()
}

/** Collects the calls that were queued during the last transaction, so that they share the next one. */
function gather(first: WriterCall): WriterCall[] {
  const calls = [first]
  let rows = countRows(first)
  while (rows < MAX_ROWS) {
    const next: { message: WriterCall } | undefined = receiveMessageOnPort(port)
    if (next === undefined) break
    calls.push(next.message)
    rows += countRows(next.message)
  }
  return calls
}

function commit(file: LogFile, appends: readonly Append[]): Reply[] {
  try {
    const submissions = appends.map(({ args: [space, batch] }) => ({ space, drafts: unpackBatch(batch) }))
    const outcomes = file.use(({ chainWriter }) => chainWriter.append(submissions))
    return appends.map(({ id }, i) => (outcomes[i] ? refusal(id, outcomes[i]) : { id }))
  } catch (error) {
    const reason = asLogError(error)
    return appends.map(({ id }) => refusal(id, reason))
  }
}

function isAppend(call: WriterCall): call is Append {
  return call.name === 'append'
}

function countRows(call: WriterCall): number {
  return isAppend(call) ? rowsIn(call.args[1]) : 0
}
