import type { ProfileNode, ThreadProfile } from '../load/inspector.js'
import { type Times, timesOf } from './self-times.js'

const steps = 'identify|deduplicate|limit|authorize|guard|invite|sequence'

/**
 * Patterns of a file and function, with the stage of the matching calls. The innermost call that matches decides for a sample.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  [/gateway\/dist\/core\/admission\/rights\//, 'authorize'],
  [/gateway\/dist\/core\/admission\/validate\.js (decode|read|parse|checkSize)$/, 'decode'],
  [/gateway\/dist\/core\/admission\/validate\.js/, 'validate'],
  [new RegExp(`gateway/dist/core/admission/\\w+\\.js (${steps})$`), '$1'],
  [/protocol\/dist\/safety\/|safety\/dist\//, 'guard'],
  [/gateway\/dist\/transport\/ws-connection/, 'write to the sockets'],
  [/gateway\/dist\/core\/delivery\//, 'broadcast'],
  [/gateway\/dist\/(core\/group-commit|storage\/(sqlite|memory)|log\/)/, 'ids, hashes, SQL of the log'],
  [/gateway\/dist\//, 'the rest of the gateway'],
  [/ws\/lib\//, 'read frames'],
]
/** Stages of samples in the runtime rather than in a file of `rules`: the garbage collector, the kernel, Node.js itself. */
const runtime: readonly (readonly [RegExp, string])[] = [
  [/\(garbage collector\)/, 'collect garbage'],
  [/\(program\)/, 'kernel and event loop, outside JavaScript'],
  [/node:/, 'sockets and timers of Node.js'],
]

export interface Stage {
  readonly thread: string
  readonly stage: string
  /** Processor time of the server per message in this stage. */
  readonly microseconds: number
}

/** Processor time of a server per message. */
export interface Whole {
  /** Microseconds per message: of the main thread, and of all threads. */
  readonly main: number
  readonly all: number
}

/**
 * Divides the processor time of a message among the stages, by their shares of the profiles, so that they add up to the whole.
 * The system measures the time of the main thread and that of all others together; the others share theirs by how busy each
 * was.
 */
export function stagesOf(profiles: readonly ThreadProfile[], { main, all }: Whole): Stage[] {
  const threads = profiles.map(({ thread, profile }) => ({ thread, times: timesOf(profile) }))
  const others = threads.filter(({ thread }) => thread !== 'main')
  const busy = others.reduce((sum, { times }) => sum + times.busy, 0)
  const stages = threads
    .flatMap(({ thread, times }) => {
      const share = thread === 'main' ? main : ((all - main) * times.busy) / busy
      return [...partsOf(times, thread)].map(([stage, part]) => ({
        thread,
        stage,
        microseconds: share * part,
      }))
    })
    .filter(({ microseconds }) => microseconds > 0)
  if (busy > 0) return stages
  return [...stages, { thread: 'V8', stage: 'compile, collect garbage', microseconds: all - main }]
}

function partsOf({ self, parents, busy }: Times, thread: string): Map<string, number> {
  const parts = new Map<string, number>()
  for (const [node, time] of self) {
    const stage = thread === 'main' ? stageOf(node, parents) : workOf(node, thread)
    parts.set(stage, (parts.get(stage) ?? 0) + time / busy)
  }
  return new Map([...parts].sort(([, one], [, other]) => other - one))
}

function stageOf(node: ProfileNode, parents: ReadonlyMap<ProfileNode, ProfileNode>): string {
  for (const list of [rules, runtime]) {
    for (let at: ProfileNode | undefined = node; at !== undefined; at = parents.get(at)) {
      const { url, functionName } = at.callFrame
      const place = `${url} ${functionName}`
      for (const [pattern, name] of list) {
        const found = pattern.exec(place)
        if (found) return name.replace('$1', found[1] ?? '')
      }
    }
  }
  return 'else'
}

/** The task of each worker thread; every one has a single task. */
const tasks: Readonly<Record<string, string>> = {
  'writer-worker.js': 'hashes, SQL, checkpoints of the log',
  'reader-worker.js': 'reading the log',
}

function workOf({ callFrame: { functionName } }: ProfileNode, thread: string): string {
  const own = runtime.find(([pattern]) => pattern.test(functionName))?.[1]
  return own ?? tasks[thread] ?? 'its own work'
}
