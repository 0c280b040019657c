import { Crowd, type CrowdOptions } from '../load/crowd.js'
import { meup } from '../load/dialects.js'
import type { Options } from '../load/options.js'
import { pause, until } from '../load/waiting.js'
import { type Contender, chosen, type Running } from '../peers/contenders.js'
import { median } from '../report/section.js'

/** A combination of parameters that is measured. */
export interface Cell extends CrowdOptions {
  /** Messages that each sender keeps in flight. */
  readonly window: number
}

/** Results of one contender in one round. */
interface Round {
  /** Messages per second that all receivers together got. */
  readonly deliveries: number
  readonly messages: number
  /** Microseconds of the server's processor time per message. */
  readonly cpuPerMessage: number
  /** Share of its core that the load generator was busy. Near 1, the generator limits the result, not the server. */
  readonly generator: number
}

/** Medians of the rounds. Ratios compare the rates of the same round. */
interface Figure extends Round {
  readonly key: string
  readonly name: string
  /** Ratio of its rate to that of the simplest relay, contender (a); `undefined` = (a) was not measured. */
  readonly ratio: number | undefined
  /** Ratios of a gateway's rate to those of nats-server (d) and the bare pipeline of `ws-full.ts` (e), if measured, by key. */
  readonly ratios?: Readonly<Record<string, number>>
}

/**
 * Contenders that a gateway should come close to, in addition to the relays: nats-server (d), and the bare pipeline of
 * `ws-full.ts` (e).
 */
const goals = ['d', 'e']

export interface CellFigures {
  readonly cell: Cell
  readonly figures: readonly Figure[]
}

type CellOptions = Pick<Options, 'only' | 'rounds' | 'ms' | 'warmMs' | 'verify' | 'smoke'>

/** Measures all contenders alternately, so that other load on the machine affects all of them alike. */
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

/** Divides the message rate of one contender by that of another, round by round. */
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

/**
 * Milliseconds between two checks, longer than the gateway defers work; maximum processor time of an idle gateway in between,
 * in milliseconds; and maximum number of checks.
 */
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

/** Minimum number of messages of a measurement. */
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
  // On a busy machine, fewer messages may have returned by now: wait for them.
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
