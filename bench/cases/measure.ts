import { Crowd, type CrowdOptions } from '../load/crowd.js'
import { meup } from '../load/dialects.js'
import type { Options } from '../load/options.js'
import { pause, until } from '../load/waiting.js'
import { type Contender, chosen, type Running } from '../peers/contenders.js'
import { median } from '../report/section.js'

/** One combination of what varies. */
export interface Cell extends CrowdOptions {
  /** Messages that each sender has on their way at a time. */
  readonly window: number
}

/** Results of one contender in one round. */
interface Round {
  /** Per second, to all receivers together. */
  readonly deliveries: number
  readonly messages: number
  /** Microseconds of the server's processor time. */
  readonly cpuPerMessage: number
  /** Part of its core that the load generator was busy: near 1, it is what limits. */
  readonly generator: number
}

/** Medians of the rounds. Ratios are those of the rates in the same round. */
interface Figure extends Round {
  readonly key: string
  readonly name: string
  /** To (a); `undefined` = that was not measured. */
  readonly ratio: number | undefined
  /** Ratios of a gateway to contenders (d) and (e), if measured, by key. */
  readonly ratios?: Readonly<Record<string, number>>
}

/** Contenders that a gateway should come close to, in addition to the relays. */
const goals = ['d', 'e']

export interface CellFigures {
  readonly cell: Cell
  readonly figures: readonly Figure[]
}

type CellOptions = Pick<Options, 'only' | 'rounds' | 'ms' | 'warmMs' | 'verify' | 'smoke'>

/** Measures all contenders by turns, so that whatever else the machine does meets all of them alike. */
export async function measureRounds(
  cell: Cell,
  { only, rounds, ms, warmMs, verify, smoke }: CellOptions,
): Promise<{ readonly contender: Contender; readonly found: readonly Round[] }[]> {
  const seats = { ...cell, senderKind: cell.thoughts ? 'agent' : 'human' } as const
  const crowds: { contender: Contender; server: Running; crowd: Crowd; found: Round[] }[] = []
  try {
    for (const contender of chosen(only)) {
      const server = await contender.start(seats)
      const crowd = await Crowd.gather(server, { ...cell, verify }).catch(async (error: unknown) => {
        await server.stop()
        throw new Error(`${contender.name} could not be joined`, { cause: error })
      })
      crowds.push({ contender, server, crowd, found: [] })
    }
    for (let round = 0; round < rounds; round++) {
      for (const { crowd, found, contender, server } of crowds) {
        try {
          found.push(await measure(crowd, cell.window, ms, warmMs))
          if (server.dialect === meup && !smoke) await untilIdle(server)
        } catch (error) {
          throw new Error(`${contender.name} failed in round ${round + 1}`, { cause: error })
        }
      }
    }
  } finally {
    for (const { crowd, server } of crowds) {
      await crowd.close()
      await server.stop()
    }
  }
  return crowds
}

/** The ratios of one contender's rates to another's, each in one round. */
export const ratiosBetween = (found: readonly Round[], unit: readonly Round[]): number[] =>
  found.map(({ messages }, i) => messages / (unit[i]?.messages ?? Number.NaN))

export async function measureCell(cell: Cell, options: CellOptions): Promise<CellFigures> {
  const measured = await measureRounds(cell, options)
  const ratioTo = (unitKey: string, found: readonly Round[]): number | undefined => {
    const unit = measured.find(({ contender: { key } }) => key === unitKey)?.found
    return unit && median(ratiosBetween(found, unit))
  }
  const ratiosOf = (found: readonly Round[]): Record<string, number> =>
    Object.fromEntries(
      goals.flatMap((key) => {
        const ratio = ratioTo(key, found)
        return ratio === undefined ? [] : [[key, ratio]]
      }),
    )
  const figures = measured.map(({ contender: { key, name, dialect }, found }) => ({
    ...{ key, name },
    deliveries: median(found.map(({ deliveries }) => deliveries)),
    messages: median(found.map(({ messages }) => messages)),
    cpuPerMessage: median(found.map(({ cpuPerMessage }) => cpuPerMessage)),
    generator: median(found.map(({ generator }) => generator)),
    ratio: ratioTo('a', found),
    ...(dialect === meup && { ratios: ratiosOf(found) }),
  }))
  return { cell, figures }
}

/** Longer than turns and steps rest, what nothing takes of the processor in that time, and how often that is looked at. */
const [restMs, idleMs, maxChecks] = [1200, 20, 100]

/** Waits until the gateway has finished deferred work. Fails if it does not end. */
export async function untilIdle({ cpu }: Pick<Running, 'cpu'>): Promise<void> {
  let before = cpu()
  for (let looks = 0; looks < maxChecks; looks++) {
    await pause(restMs)
    const now = cpu()
    if (now - before <= idleMs) return
    before = now
  }
  throw new Error(`the server is still busy after ${Math.round((maxChecks * restMs) / 1000)} s without load`)
}

/** Messages of the shortest measurement. */
const fewest = 10

export async function measure(crowd: Crowd, window: number, ms: number, warmMs: number): Promise<Round> {
  crowd.keep(window)
  await crowd.within(pause(warmMs))
  const now = () => ({
    at: performance.now(),
    delivered: crowd.delivered,
    echoed: crowd.echoed,
    server: crowd.server.cpu(),
    generator: process.cpuUsage(),
  })
  const begin = now()
  await crowd.within(pause(ms))
  // On a machine that is too busy nothing may have come back yet.
  await crowd.within(until(() => crowd.echoed >= begin.echoed + fewest))
  const end = now()
  const seconds = (end.at - begin.at) / 1000
  const messages = end.echoed - begin.echoed
  const used = process.cpuUsage(begin.generator)
  await crowd.drain()
  return {
    deliveries: (end.delivered - begin.delivered) / seconds,
    messages: messages / seconds,
    cpuPerMessage: ((end.server - begin.server) * 1000) / messages,
    generator: (used.user + used.system) / 1e6 / seconds,
  }
}
