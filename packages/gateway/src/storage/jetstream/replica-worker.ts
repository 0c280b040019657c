import { workerData } from 'node:worker_threads'
import type { Call } from '../sqlite/calls.js'
import { keepCheckpoint } from '../sqlite/checkpoints.js'
import { lock } from '../sqlite/files.js'
import { LogFile } from '../sqlite/log-file.js'
import { unpackPage } from '../sqlite/pack.js'
import { rewriteVersion } from '../sqlite/schema.js'
import { portOfThread, reply } from '../sqlite/thread.js'
import { tidierOf } from '../sqlite/tidier.js'
import type { ReplicaCalls, ReplicaOptions } from './replica-calls.js'
import { establishSpace, headOf, spaceIn, takeRows } from './replica-file.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReplicaOptions): void {
  const holder = lock(path)
  const file = new LogFile({ path, durability: 'process' })
  const tidy = tidierOf(file)

  const perform = (call: Call<ReplicaCalls>) => {
    switch (call.name) {
      case 'look':
        return file.use(({ db }) => spaceIn(db, ...call.args))
      case 'open':
        return file.use(({ db }) => {
          rewriteVersion(db)
          return establishSpace(db, ...call.args)
        })
      case 'take': {
        const [space, rows, snapshot] = call.args
        return file.use(({ db }) => takeRows(db, space, unpackPage(rows), snapshot))
      }
      case 'prune': {
        const [space, through, snapshot] = call.args
        return file.use(({ db, pruning }) => pruning.prune(space, through, snapshot, headOf(db, space)))
      }
      case 'keep': {
        const [space, checkpoint] = call.args
        return file.use(({ db }) => keepCheckpoint(db, space, checkpoint, headOf(db, space)))
      }
      case 'close':
        file.close()
        return holder.close()
    }
  }
  port.on('message', (call: Call<ReplicaCalls>) => {
    port.postMessage([reply(call.id, () => perform(call))])
    tidy()
  })
  tidy()
}
