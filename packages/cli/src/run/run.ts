import { resolve } from 'node:path'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { parseListen } from '../config/notation.js'
import { UsageError } from '../exit.js'
import { operatorLog } from '../logger.js'
import { print, tell } from '../output.js'
import { ownCommand } from './own-command.js'
import { reloadOnDemand } from './reload-on-demand.js'
import { type RunningGateway, startGateway } from './start-gateway.js'
import { endHungUp, findTerminal } from './terminal.js'
import { untilSignal } from './until-signal.js'
import { up } from './up.js'

export interface RunFlags {
  readonly config: string
  readonly listen?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly watch?: boolean
}

/** Runs the gateway, alone or with everything in its configuration, until a signal ends it. */
export async function run(command: 'gateway' | 'up', flags: RunFlags): Promise<void> {
  const file = resolve(flags.config)
  const read = (): Config => withListen(loadConfig(file), flags.listen)
  const terminal = findTerminal()
  const start = command === 'up' ? up : startGateway
  const starting = start(read(), operatorLog(flags.verbose ? 'info' : 'warn'))
  const reloading = reloadOnDemand(starting, read, { json: flags.json ?? false, terminal })
  const running = await starting
  if (flags.watch) await reloading.watch(running.config)
  const ended = untilSignal(async () => {
    await reloading.stop()
    await running.close()
  })
  announce(running, flags.json) // Whoever waits for this line may end it at once.
  await ended
  if (terminal.isGone) endHungUp()
}

export function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  try {
    return { ...config, gateway: { ...config.gateway, ...parseListen(listen) } }
  } catch (error) {
    throw new UsageError(`--listen: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function announce({ url, spaces }: RunningGateway, json: boolean | undefined): void {
  if (json) print(JSON.stringify({ event: 'listening', url, spaces, pid: process.pid }))
  else {
    tell(`listening on ${url} · ${spaces.length === 1 ? 'space' : 'spaces'} ${spaces.join(', ')}`)
    const meup = ownCommand(process.cwd(), process.env.PATH ?? '')
    const ways = [`${meup} join`, `see it: ${meup} open`, `watch it: ${meup} watch --from 1`]
    tell(`join it from this folder in another terminal: ${ways.join(' · ')}`)
  }
}
