import type { Config } from '../config/config.js'
import type { OperatorLog } from '../lib/logger.js'
import { createControlRequests } from './control-requests.js'
import { type ControlServer, serveControl } from './control-server.js'
import { type RunningGateway, type StartOptions, startGateway } from './start-gateway.js'
import type { ProgramListener, Supervisor } from './supervisor.js'

/** A gateway and its programs. */
export interface RunningSpaces extends RunningGateway {
  /** Starts the programs of the configuration. Resolves at once; what becomes of them is reported to the listener. */
  start(onEvent?: ProgramListener): Promise<void>
}

/**
 * Runs the gateway of a configuration and its programs, on the next free port if the configured one is in use. Resolves when the
 * gateway listens. A program that does not start, or ends, is logged and tried again; it ends nothing else.
 */
export async function up(config: Config, log: OperatorLog): Promise<RunningGateway> {
  const running = await launch(config, log, { mayMove: true })
  await running.start()
  return running
}

/** The same, but starts no program yet. */
export async function launch(
  config: Config,
  log: OperatorLog,
  options: StartOptions,
): Promise<RunningSpaces> {
  const gateway = await startGateway(config, log, options)
  const loading = import('./supervisor.js')
  let supervisor: Supervisor | undefined
  let isClosing = false
  const control = await openControl()

  async function openControl(): Promise<ControlServer | undefined> {
    try {
      const requests = createControlRequests({
        getSupervisor: () => supervisor,
        getConfig: () => gateway.config,
      })
      const server = await serveControl(config.directory, requests)
      gateway.announceControl(server.path)
      return server
    } catch (err) {
      log.warn({ err }, 'meup restart cannot reach this space, because its socket could not be opened')
      return undefined
    }
  }

  return {
    ...gateway,
    get config() {
      return gateway.config
    },
    get tokens() {
      return gateway.tokens
    },
    get jwt() {
      return gateway.jwt
    },
    async start(onEvent) {
      const { listAssignments, Supervisor } = await loading
      if (isClosing) return
      warnAboutRevokedTokens(gateway, log)
      supervisor = new Supervisor({ spaces: gateway, log, ...(onEvent && { onEvent }) })
      supervisor.start(listAssignments(gateway, log))
      gateway.warmUp()
    },
    async reload(next) {
      const { listAssignments } = await loading
      // First, so that a removed program does not see its connection closed and report a failure.
      supervisor?.stopOthers(listAssignments({ ...gateway, config: next }, log))
      try {
        return await gateway.reload(next)
      } finally {
        warnAboutRevokedTokens(gateway, log)
        const now = listAssignments(gateway, log)
        supervisor?.stopOthers(now)
        if (!isClosing) supervisor?.start(now)
      }
    },
    async close() {
      isClosing = true
      await control?.close()
      await supervisor?.close()
      await gateway.close()
    },
  }
}

/** Programs without a token cannot connect. */
function warnAboutRevokedTokens({ config, tokens }: RunningGateway, log: OperatorLog): void {
  for (const { config: space, programs } of config.spaces) {
    for (const name of Object.keys(programs)) {
      if (tokens[space.name]?.[name] !== undefined) continue
      log.warn({}, `${name} is not started: its token is revoked; meup token create gives it a new one`)
    }
  }
}
