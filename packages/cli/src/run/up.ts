import type { Logger } from '@meup/gateway'
import type { Config } from '../config/config.js'
import { startProgram } from './programs.js'
import { type RunningGateway, startGateway } from './start-gateway.js'

export interface RunningSpaces extends RunningGateway {
  /** Participants that are programs, by space. They join by themselves, soon after this is known. */
  readonly programs: Readonly<Record<string, readonly string[]>>
}

/** Runs the gateway of a configuration and every program in it. Rejects when one cannot be started. */
export async function up(config: Config, logger: Logger): Promise<RunningSpaces> {
  const gateway = await startGateway(config, logger)
  const { url, tokens } = gateway
  const started = config.spaces.flatMap(({ config: { name }, programs }) =>
    Object.entries(programs).map(([participant, program]) => {
      const token = tokens[name]?.[participant] ?? ''
      return startProgram(program, {
        url,
        space: name,
        participant,
        token,
        directory: config.directory,
        logger,
      })
    }),
  )
  const close = async (): Promise<void> => {
    await Promise.all(started.map((program) => program.close()))
    await gateway.close()
  }
  try {
    await Promise.all(started.map((program) => program.started))
  } catch (error) {
    await close()
    throw error
  }
  const programs = config.spaces.map((space) => [space.config.name, Object.keys(space.programs)])
  return { ...gateway, programs: Object.fromEntries(programs), close }
}
