import { workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { Call, ReaderCalls, ReaderOptions } from './calls.js'
import { checkpointOf } from './checkpoints.js'
import { openForReading } from './files.js'
import { pagesOf } from './pages.js'
import type { ProjectionQueries } from './projection-queries.js'
import { portOfThread, reply } from './thread.js'

type CloseCall = Extract<Call<ReaderCalls>, { name: 'close' }>
type LogCall = Extract<Call<ReaderCalls>, { name: 'read' | 'checkpoint' }>
type ProjectionCall = Exclude<Call<ReaderCalls>, CloseCall | LogCall>

const port = portOfThread()
port.postMessage([reply(0, () => start(workerData))])

function start({ path }: ReaderOptions): void {
  const db = openForReading(path)
  const read = pagesOf(db)
  const checkpoint = db.transaction((space: number) => checkpointOf(db, space))
  /** Loaded when turns or steps are asked for: a start needs none. */
  let projected: Promise<ProjectionQueries> | undefined
  /** What it reads is as of one moment. */
  const queryAtOnce = db.transaction((projected: ProjectionQueries, call: ProjectionCall): unknown => {
    switch (call.name) {
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

  const answer = (call: LogCall): void => {
    const handOver: ArrayBuffer[] = []
    const answered = reply(call.id, () => {
      if (call.name === 'checkpoint') return checkpoint(...call.args)
      const page = read(call.args[0])
      handOver.push(page.bytes.buffer)
      return page
    })
    port.postMessage([answered], handOver)
  }
  const query = async (call: ProjectionCall): Promise<void> => {
    projected ??= loadQueries(db)
    const queries = await projected
    port.postMessage([reply(call.id, () => queryAtOnce(queries, call))])
  }
  const close = async ({ id }: CloseCall): Promise<void> => {
    await projected // What was asked before is answered before.
    port.postMessage([reply(id, () => void db.close())])
  }
  port.on('message', (call: Call<ReaderCalls>) => {
    if (call.name === 'close') void close(call)
    else if (call.name === 'read' || call.name === 'checkpoint') answer(call)
    else void query(call)
  })
}

async function loadQueries(db: Database.Database): Promise<ProjectionQueries> {
  const { ProjectionQueries } = await import('./projection-queries.js')
  return new ProjectionQueries(db)
}
