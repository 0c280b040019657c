import type { Config } from '../config/config.js'
import { Failure } from '../failure/failure.js'
import { requestControl } from '../lib/control-client.js'
import type { OperatorLog } from '../lib/logger.js'
import { findGatewayProcess } from '../lib/running-gateway.js'
import { createControlRequests } from './control-requests.js'
import { ControlInUseError, type ControlServer, serveControl } from './control-server.js'
import { ProgramLogs } from './program-logs.js'
import { type RunningGateway, type StartOptions, startGateway } from './start-gateway.js'
import type { ProgramListener, Supervisor } from './supervisor.js'

/** A gateway and its programs. */
export interface RunningSpaces extends RunningGateway {
  /** Starts the configured programs without waiting for them; the listener receives their events. */
  start(onEvent?: ProgramListener): Promise<void>
}

/**
 * Starts the gateway and its programs; takes the next free port if the configured one is in use. Resolves when the gateway
 * listens. Programs that fail are logged and restarted; they do not affect the gateway.
 */
export async function up(config: Config, log: OperatorLog): Promise<RunningGateway> {
  const running = await launch(config, log, { mayMove: true })
  await running.start()
  return running
}

/** Starts the gateway; the programs start later, with `start`. */
export async function launch(
  config: Config,
  operatorLog: OperatorLog,
  options: StartOptions,
): Promise<RunningSpaces> {
  const logs = new ProgramLogs()
  const log = logs.tee(operatorLog)
  let gateway: RunningGateway | undefined
  let supervisor: Supervisor | undefined
  let isClosing = false
  const control = await openControl()
  const started = await startGateway(config, log, options).catch(async (error: unknown) => {
    await control?.close()
    throw error
  })
  gateway = started
  if (control !== undefined) started.announceControl(control.path)
  const loading = import('./supervisor.js')

  /** Opens the control socket, before the gateway starts: if two processes start in one folder, only the first continues. */
  async function openControl(): Promise<ControlServer | undefined> {
    try {
      const requests = createControlRequests({
        getSupervisor: () => supervisor,
        getConfig: () => gateway?.config ?? config,
        logs,
      })
      return await serveControl(config.directory, requests)
    } catch (err) {
      if (err instanceof ControlInUseError) throw await explainRunning(config.directory, err)
      log.warn(
        { err },
        'meup restart, logs and down cannot reach this space, because its socket could not be opened',
      )
      return undefined
    }
  }

  return {
    ...started,
    get config() {
      return started.config
    },
    get tokens() {
      return started.tokens
    },
    get jwt() {
      return started.jwt
    },
    async start(onEvent) {
      const { listAssignments, Supervisor } = await loading
      if (isClosing) return
      warnAboutRevokedTokens(started, log)
      supervisor = new Supervisor({ spaces: started, log, ...(onEvent && { onEvent }) })
      supervisor.start(listAssignments(started, log))
      started.warmUp()
    },
    async reload(next) {
      const { listAssignments } = await loading
      // Programs that the new configuration lacks are stopped first: otherwise they would report as a failure that the gateway
      // closes their connection.
      supervisor?.stopOthers(listAssignments({ ...started, config: next }, log))
      try {
        return await started.reload(next)
      } finally {
        warnAboutRevokedTokens(started, log)
        const now = listAssignments(started, log)
        supervisor?.stopOthers(now)
        if (!isClosing) supervisor?.start(now)
      }
    },
    async close() {
      isClosing = true
      await control?.close()
      await supervisor?.close()
      await started.close()
    },
  }
}

/** An error that names the `meup up` that is running or starting in the folder. */
async function explainRunning(directory: string, cause: Error): Promise<Failure> {
  const { pid } = await requestControl(directory, 'programs', {}).catch(() => ({ pid: undefined }))
  const file = findGatewayProcess(directory)
  const url = file?.pid === pid && file !== undefined ? file.url : 'an address that is not known yet'
  return new Failure('already_running', { url, pid: String(pid ?? 'unknown') }, { cause })
}

/** Warns about programs that are not started because their token is revoked. */
function warnAboutRevokedTokens({ config, tokens }: RunningGateway, log: OperatorLog): void {
  for (const { config: space, programs } of config.spaces) {
    for (const name of Object.keys(programs)) {
      if (tokens[space.name]?.[name] !== undefined) continue
      log.warn({}, `${name} is not started: its token is revoked; meup token create gives it a new one`)
    }
  }
}
