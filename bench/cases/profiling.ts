import { Crowd } from '../load/crowd.js'
import { inspectable, profiled, type ThreadProfile } from '../load/inspector.js'
import type { Options } from '../load/options.js'
import { pause } from '../load/waiting.js'
import { chosen } from '../peers/contenders.js'
import type { Whole } from '../report/stages.js'
import type { Cell } from './measure.js'

/** Loads that can be profiled. */
export const shapes: Readonly<Record<string, Cell>> = {
  fanout: { receivers: 50, senders: 1, size: 300, window: 256 },
  publish: { receivers: 0, senders: 1, size: 300, window: 256 },
  thoughts: { receivers: 50, senders: 1, size: 300, window: 256, thoughts: true, texts: 'mixture' },
  single: { receivers: 50, senders: 1, size: 300, window: 1 },
}

export interface Profiled {
  readonly cell: Cell
  readonly contender: string
  readonly profiles: readonly ThreadProfile[]
  readonly whole: Whole
}

/** Measures the processor time of a message without the profiler, then with the profiler which functions take it. */
export async function profileOf(shape: string, options: Options): Promise<Profiled> {
  const usual = shapes[shape]
  if (usual === undefined)
    throw new Error(`there is ${Object.keys(shapes).join(', ')} to profile, and no ${shape}`)
  const { receivers, senders, sizes, windows, texts, ms, warmMs, only = ['sqlite'] } = options
  const cell: Cell = {
    ...usual,
    receivers: receivers?.[0] ?? usual.receivers,
    senders: senders?.[0] ?? usual.senders,
    size: sizes?.[0] ?? usual.size,
    window: windows?.[0] ?? usual.window,
    ...(texts?.[0] && { texts: texts[0] }),
  }
  const [contender] = chosen(only)
  if (contender === undefined) throw new Error('nobody is to be profiled')
  const seats = { ...cell, senderKind: cell.thoughts ? 'agent' : 'human' } as const
  const server = await contender.start(seats, { nodeArgs: inspectable })
  try {
    const crowd = await Crowd.gather(server, cell)
    crowd.keep(cell.window)
    await crowd.within(pause(warmMs * 4))
    const begin = { messages: crowd.echoed, main: server.cpuOfMain(), all: server.cpu() }
    await crowd.within(pause(ms * 2))
    const messages = crowd.echoed - begin.messages
    const perMessage = (from: number, to: number): number => ((to - from) * 1000) / messages
    const whole = {
      main: perMessage(begin.main, server.cpuOfMain()),
      all: perMessage(begin.all, server.cpu()),
    }
    const profiles = await profiled(server.said, () => crowd.within(pause(ms * 3)))
    await crowd.drain()
    await crowd.close()
    return { cell, contender: contender.name, profiles, whole }
  } finally {
    await server.stop()
  }
}
