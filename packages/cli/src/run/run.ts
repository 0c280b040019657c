import { resolve } from 'node:path'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { parseListen } from '../config/notation.js'
import { UsageError } from '../exit.js'
import { type LogLevel, type OperatorLog, operatorLog } from '../logger.js'
import { tellListening, tellStarting } from './announce.js'
import { reloadOnDemand } from './reload-on-demand.js'
import { startGateway } from './start-gateway.js'
import { endHungUp, findTerminal } from './terminal.js'
import { untilSignal } from './until-signal.js'
import { launch } from './up.js'

export interface RunFlags {
  readonly config: string
  readonly listen?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly watch?: boolean
}

/** Runs the gateway, alone or with everything in its configuration, until a signal ends it. */
export async function run(command: 'gateway' | 'up', flags: RunFlags): Promise<void> {
  const { json = false } = flags
  const file = resolve(flags.config)
  const read = (): Config => withListen(loadConfig(file), flags.listen)
  const terminal = findTerminal()
  const config = read()
  const log = await logFor(config, flags)
  const launching = command === 'up' ? launch(config, log) : undefined
  const starting = launching ?? startGateway(config, log)
  const reloading = reloadOnDemand(starting, read, { json, terminal })
  const running = await starting
  const stopping = new AbortController()
  const close = async (): Promise<void> => {
    stopping.abort()
    await reloading.stop()
    await running.close()
  }
  const ended = untilSignal(close)
  if (flags.watch) await reloading.watch(running.config)
  tellListening(running, json) // A reader of this line may end the process at once.
  const spaces = await launching
  if (spaces === undefined) running.warmUp()
  else {
    try {
      await tellStarting(spaces, { json, signal: stopping.signal })
    } catch (error) {
      await close()
      throw error
    }
  }
  await ended
  if (terminal.isGone) endHungUp()
}

async function logFor(config: Config, { json, verbose }: RunFlags): Promise<OperatorLog> {
  const level: LogLevel = verbose ? 'info' : 'warn'
  if (json) {
    const { jsonLog } = await import('../json-log.js')
    return jsonLog(level)
  }
  const names = config.spaces.flatMap(({ programs }) => Object.keys(programs))
  return operatorLog(level, { output: 'all', nameWidth: Math.max(0, ...names.map(({ length }) => length)) })
}

export function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  try {
    return { ...config, gateway: { ...config.gateway, ...parseListen(listen) } }
  } catch (error) {
    throw new UsageError(`--listen: ${error instanceof Error ? error.message : String(error)}`)
  }
}
