import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Call, Reply, WriterCalls, WriterOptions } from './calls.js'
import { asLogError, isPassing } from './failure.js'
import { lock, openForWriting } from './files.js'
import { Ledger } from './ledger.js'
import { unpackBatch } from './pack.js'
import { portOfThread, refusal, reply } from './thread.js'

type WriterCall = Call<WriterCalls>
type Append = Extract<WriterCall, { name: 'append' }>

/** Past so many rows a transaction takes in no more batches: those who wait for the first are not kept longer. */
const MAX_ROWS = 2048

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path, durability }: WriterOptions): void {
  const holder = lock(path)
  const db = openForWriting(path, durability)
  const ledger = new Ledger(db)

  const perform = (call: Exclude<WriterCall, Append>) => {
    if (call.name === 'open') return ledger.open(...call.args)
    db.close()
    holder.close()
  }
  port.on('message', (first: WriterCall) => {
    const calls = gather(first)
    const appends = calls.filter(isAppend)
    const others = calls.filter((call) => !isAppend(call))
    const committed = appends.length > 0 ? commit(ledger, appends) : []
    port.postMessage([...committed, ...others.map((call) => reply(call.id, () => perform(call)))])
  })
}

/** The calls that gathered in the queue during the last transaction. */
function gather(first: WriterCall): WriterCall[] {
  const calls = [first]
  let rows = rowsOf(first)
  while (rows < MAX_ROWS) {
    const next: { message: WriterCall } | undefined = receiveMessageOnPort(port)
    if (next === undefined) break
    calls.push(next.message)
    rows += rowsOf(next.message)
  }
  return calls
}

function commit(ledger: Ledger, appends: readonly Append[]): Reply[] {
  try {
    const submissions = appends.map(({ args: [space, batch] }) => ({ space, drafts: unpackBatch(batch) }))
    const outcomes = ledger.append(submissions)
    return appends.map(({ id }, i) => (outcomes[i] ? refusal(id, outcomes[i]) : { id }))
  } catch (error) {
    const reason = asLogError(error)
    // Ends this thread: after such a failure it is uncertain what the disk holds, and only a restart finds out.
    if (!isPassing(error)) throw reason
    return appends.map(({ id }) => refusal(id, reason))
  }
}

function isAppend(call: WriterCall): call is Append {
  return call.name === 'append'
}

function rowsOf(call: WriterCall): number {
  return isAppend(call) ? call.args[1].rows.length : 0
}
