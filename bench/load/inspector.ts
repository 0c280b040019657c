import { WebSocket } from 'ws'
import { until } from './waiting.js'

/** A profile of V8: nodes with their calls, and samples with times. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds since the previous sample, for each sample. */
  readonly timeDeltas: readonly number[]
}

export interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

export interface ThreadProfile {
  /** Name of the thread: `main`, or the file that a worker runs. */
  readonly thread: string
  readonly profile: CpuProfile
}

type Answer = { id?: number; result?: unknown; error?: { message: string } }
type Call = (method: string, params?: object) => Promise<unknown>

/** Microseconds between two samples of a thread. */
const interval = 200

/** Options of Node.js for a server that can be profiled. */
export const inspectable = ['--inspect=127.0.0.1:0', '--inspect-publish-uid=stderr']

/** Profiles all threads of a server during `work`. `said`: lines that the server has written to its standard error. */
export function profiled(said: readonly string[], work: () => Promise<void>): Promise<ThreadProfile[]> {
  return inspected(said, async (threads) => {
    for (const [, call] of threads) {
      await call('Profiler.enable')
      await call('Profiler.setSamplingInterval', { interval })
      await call('Profiler.start')
    }
    await work()
    const profiles: ThreadProfile[] = []
    for (const [thread, call] of threads) {
      const { profile } = (await call('Profiler.stop')) as { profile: CpuProfile }
      profiles.push({ thread, profile })
    }
    return profiles
  })
}

/** Calls of the functions of a script that V8 counted. */
export interface ScriptCalls {
  readonly url: string
  readonly functions: readonly {
    readonly functionName: string
    readonly ranges: readonly { readonly count: number }[]
  }[]
}

/** Counts the function calls in all threads of a server during `work`. */
export function called(said: readonly string[], work: () => Promise<void>): Promise<ScriptCalls[]> {
  return inspected(said, async (threads) => {
    for (const [, call] of threads) {
      await call('Profiler.enable')
      await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
      await call('Profiler.takePreciseCoverage')
    }
    await work()
    const scripts: ScriptCalls[] = []
    for (const [, call] of threads) {
      scripts.push(...((await call('Profiler.takePreciseCoverage')) as { result: ScriptCalls[] }).result)
    }
    return scripts
  })
}

async function inspected<Result>(
  said: readonly string[],
  inspect: (threads: [string, Call][]) => Promise<Result>,
): Promise<Result> {
  const addressIn = (): string | undefined => /ws:\/\/\S+/.exec(said.join('\n'))?.[0]
  await until(() => addressIn() !== undefined, 'the server says where it can be looked into')
  const socket = new WebSocket(addressIn() ?? '', { perMessageDeflate: false, maxPayload: 2 ** 30 })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  try {
    return await inspect(await threadsOf(socket))
  } finally {
    socket.close()
  }
}

/** Returns a function for each thread that calls methods of its inspector. */
async function threadsOf(socket: WebSocket): Promise<[string, Call][]> {
  const main = asking((text) => socket.send(text))
  const workers = new Map<string, ReturnType<typeof asking>>()
  const threads: [string, Call][] = [['main', main.call]]
  socket.on('message', (data) => {
    const { method, params, ...answer } = JSON.parse(String(data)) as Answer & {
      method?: string
      params?: { sessionId: string; message: string; workerInfo: { url: string } }
    }
    if (method === undefined) return main.answered(answer)
    if (params === undefined) return
    const { sessionId } = params
    if (method === 'NodeWorker.receivedMessageFromWorker') {
      workers.get(sessionId)?.answered(JSON.parse(params.message) as Answer)
    } else if (method === 'NodeWorker.attachedToWorker') {
      const worker = asking(
        (message) => void main.call('NodeWorker.sendMessageToWorker', { sessionId, message }),
      )
      workers.set(sessionId, worker)
      threads.push([params.workerInfo.url.split('/').at(-1) ?? sessionId, worker.call])
    }
  })
  await main.call('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return threads
}

function asking(send: (text: string) => void): { call: Call; answered(answer: Answer): void } {
  const waiting = new Map<number, (answer: Answer) => void>()
  let last = 0
  return {
    call: (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, ({ result, error }) =>
          error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result),
        )
        send(JSON.stringify({ id, method, params }))
      }),
    answered: (answer) => {
      if (answer.id === undefined) return
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    },
  }
}
