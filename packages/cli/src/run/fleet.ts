import type { Program } from '../config/config.js'
import type { OperatorLog } from '../logger.js'
import { type Seat, startProgram } from './programs.js'
import type { RunningGateway } from './start-gateway.js'

/** A program and the seat it takes in its space. */
export interface Assignment {
  readonly program: Program
  readonly seat: Seat
}

interface Runner {
  readonly orders: string
  close(): Promise<void>
}

/** The programs that run beside a gateway. */
export class Fleet {
  readonly #log: OperatorLog
  readonly #runners = new Map<string, Runner>()
  /** When the last one to leave a seat is gone. */
  readonly #left = new Map<string, Promise<void>>()

  constructor(log: OperatorLog) {
    this.#log = log
  }

  /** Stops what is no longer wanted, or not in the way that it runs. */
  stopOthers(wanted: readonly Assignment[]): void {
    const orders = new Map(wanted.map((each) => [placeOf(each.seat), ordersOf(each)]))
    for (const [place, runner] of this.#runners) {
      if (orders.get(place) === runner.orders) continue
      this.#runners.delete(place)
      const left = runner.close().catch((err: unknown) => {
        this.#log.error({ place, err }, `${place} could not be stopped`)
      })
      this.#left.set(place, left)
    }
  }

  /** Starts what does not run yet, where need be after its predecessor has left. A promise for each. */
  start(wanted: readonly Assignment[]): Promise<void>[] {
    const missing = wanted.filter(({ seat }) => !this.#runners.has(placeOf(seat)))
    return missing.map(async (assignment) => {
      const { program, seat } = assignment
      const place = placeOf(seat)
      const { started, close } = startProgram(program, seat, this.#left.get(place))
      const runner = { orders: ordersOf(assignment), close }
      this.#runners.set(place, runner)
      try {
        await started
      } catch (error) {
        if (this.#runners.get(place) === runner) this.#runners.delete(place)
        throw error
      }
    })
  }

  async close(): Promise<void> {
    this.stopOthers([])
    await Promise.all(this.#left.values())
  }
}

/** What is to run beside a gateway. Whoever has no token, because it was revoked, cannot take its seat. */
export function assignmentsOf(
  { config, tokens, url }: Pick<RunningGateway, 'config' | 'tokens' | 'url'>,
  log: OperatorLog,
): Assignment[] {
  const { directory } = config
  return config.spaces.flatMap(({ config: { name: space }, programs }) =>
    Object.entries(programs).flatMap(([participant, program]) => {
      const token = tokens[space]?.[participant]
      if (token === undefined) return []
      return [{ program, seat: { url, space, participant, token, directory, log } }]
    }),
  )
}

const placeOf = ({ space, participant }: Seat): string => `${space}/${participant}`
const ordersOf = ({ program, seat }: Assignment): string => JSON.stringify([program, seat.token])
