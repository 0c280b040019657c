import type { Logger } from '@meup/gateway'
import type { Config } from '../config/config.js'
import { type Assignment, assignmentsOf, Fleet } from './fleet.js'
import { type RunningGateway, startGateway } from './start-gateway.js'

/**
 * Runs the gateway of a configuration and every program in it; they join by themselves, soon afterwards. Rejects when
 * one cannot be started. One that a reload cannot start is logged, and tried again at the next.
 */
export async function up(config: Config, logger: Logger): Promise<RunningGateway> {
  const gateway = await startGateway(config, logger)
  const fleet = new Fleet(logger)
  const wanted = (): Assignment[] => {
    for (const name of seatless(gateway)) {
      logger.warn({}, `${name} is not started: its token is revoked; meup token create gives it a new one`)
    }
    return assignmentsOf(gateway, logger)
  }
  const close = async (): Promise<void> => {
    await fleet.close()
    await gateway.close()
  }
  try {
    await Promise.all(fleet.start(wanted()))
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: gateway.url,
    spaces: gateway.spaces,
    get config() {
      return gateway.config
    },
    get tokens() {
      return gateway.tokens
    },
    get jwt() {
      return gateway.jwt
    },
    async reload(next) {
      // First, so that a program which is to go does not see its connection closed and call that a failure.
      fleet.stopOthers(assignmentsOf({ ...gateway, config: next }, logger))
      try {
        return await gateway.reload(next)
      } finally {
        const now = wanted()
        fleet.stopOthers(now)
        for (const started of fleet.start(now)) {
          started.catch((err: unknown) => logger.error({ err }, 'a program could not be started'))
        }
      }
    },
    close,
  }
}

/** Participants that are programs, but have no token. */
const seatless = ({ config, tokens }: RunningGateway): string[] =>
  config.spaces.flatMap(({ config: { name }, programs }) =>
    Object.keys(programs).filter((participant) => tokens[name]?.[participant] === undefined),
  )
