import { workerData } from 'node:worker_threads'
import type { Call, ProjectionCalls } from './calls.js'
import { ProjectionFile } from './projection-file.js'
import { portOfThread, reply } from './thread.js'

const port = portOfThread()
port.postMessage([reply(0, () => start(new ProjectionFile(workerData)))])

function start(file: ProjectionFile): void {
  const perform = (call: Call<ProjectionCalls>): unknown => {
    switch (call.name) {
      case 'open':
        file.add(...call.args)
        return file.use(call.args[0].space, ({ seq }) => seq)
      case 'configure':
        return file.configure(...call.args)
      case 'advance':
        return file.use(call.args[0], (space) => space.advance(call.args[1]))
      case 'keep':
        return file.use(call.args[0], (space) => space.keep(call.args[1]))
      case 'prune':
        return file.use(call.args[0], (space) => space.prune(call.args[1]))
      case 'clear':
        return file.use(call.args[0], (space) => space.clear())
      case 'release':
        return file.release(...call.args)
      case 'close':
        return file.close()
    }
  }
  port.on('message', (call: Call<ProjectionCalls>) => {
    port.postMessage([reply(call.id, () => perform(call))])
  })
}
