import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { parseListen } from '../config/notation.js'
import { UsageError } from '../exit.js'
import { operatorLog } from '../logger.js'
import { print, tell } from '../output.js'
import type { RunningGateway } from '../run/start-gateway.js'
import { startGateway } from '../run/start-gateway.js'
import { untilSignal } from '../run/until-signal.js'
import { up } from '../run/up.js'

interface RunFlags {
  readonly config: string
  readonly listen?: string
  readonly json?: boolean
  readonly verbose?: boolean
}

/** `meup gateway` and `meup up`. */
export function addRunCommands(program: Command): void {
  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option('--config <file>', 'configuration', 'space.yaml')
      .option('--listen <host:port>', 'address to listen on instead of the configured one')
      .option('--json', 'print one JSON line when listening')
      .option('--verbose', 'log everything, not only what goes wrong')
  command('gateway', 'run the gateway alone').action((flags: RunFlags) => run(flags, startGateway))
  command('up', 'run the gateway, its tool servers and its programs').action((flags: RunFlags) =>
    run(flags, up),
  )
}

async function run(flags: RunFlags, start: typeof startGateway): Promise<void> {
  const config = withListen(loadConfig(resolve(flags.config)), flags.listen)
  const running = await start(config, operatorLog(flags.verbose ? 'info' : 'warn'))
  announce(running, flags.json)
  await untilSignal(running.close)
}

function withListen(config: Config, listen: string | undefined): Config {
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
    tell('join it from this folder in another terminal: meup join · watch it: meup watch --from 1')
  }
}
