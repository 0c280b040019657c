import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { exitCodes } from '../failure/exit-codes.js'
import { onReaderGone } from '../lib/closed-output.js'
import { UsageError } from '../lib/exit.js'
import { type LogLevel, type OperatorLog, operatorLog } from '../lib/logger.js'
import { withListen } from '../lib/options.js'
import { printNotice } from '../lib/output.js'
import { ownCommand } from '../lib/own-command.js'
import { unknownNameError } from '../lib/unknown-name.js'
import { isProgramNamed, listPrograms } from './list-programs.js'
import { endHungUp, findTerminal, reloadOnDemand } from './reload.js'
import { type RunningGateway, startGateway } from './start-gateway.js'
import { event, StartReport } from './start-report.js'
import { launch } from './up.js'

export interface RunFlags {
  readonly config: string
  readonly listen?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly watch?: boolean
  /** Programs that must start, otherwise `meup up` exits: `participant` or `space/participant`. */
  readonly require?: readonly string[]
}

/** Runs the gateway, alone or with the programs of its configuration, until a signal ends it. */
export async function run(command: 'gateway' | 'up', flags: RunFlags): Promise<void> {
  const { json = false } = flags
  const read = (): Config => withListen(loadConfig(flags.config), flags.listen)
  const terminal = findTerminal()
  const config = read()
  const required = findRequired(flags.require ?? [], config)
  const log = await logFor(config, flags)
  const launching =
    command === 'up' ? launch(config, log, { mayMove: flags.listen === undefined }) : undefined
  const starting = launching ?? startGateway(config, log, { mayMove: false })
  const reloading = reloadOnDemand(starting, read, { json, terminal })
  const running = await starting
  const { logUnhandledRejections } = await import('@meup/gateway/server') // Imported lazily, with the gateway.
  logUnhandledRejections(log)
  const started = listStarted(running)
  const report = launching && new StartReport(started, { json, required })
  const close = async (): Promise<void> => {
    report?.close()
    await reloading.stop()
    await running.close()
  }
  const ended = untilSignal(close, { isQuiet: json })
  if (flags.watch) reloading.watch(running.config)
  announceListening(running, json) // Scripts that read this line may stop the process immediately.
  if (!flags.watch && !json) reloading.announceEdits(running.config)
  const spaces = await launching
  if (spaces === undefined || report === undefined) running.warmUp()
  else {
    report.begin()
    await spaces.start(report.onEvent)
    try {
      mustStart([...required.keys()], started)
      await Promise.race([ended, report.required])
    } catch (error) {
      await close()
      throw error
    }
  }
  await ended
  if (terminal.isGone) endHungUp()
}

/** Labels of the programs that are started: those with a valid token. */
const listStarted = ({ config, tokens }: RunningGateway): string[] =>
  listPrograms(config).flatMap(({ space, participant, label }) =>
    tokens[space]?.[participant] === undefined ? [] : [label],
  )

function mustStart(required: readonly string[], started: readonly string[]): void {
  const label = required.find((each) => !started.includes(each))
  if (label !== undefined) throw new UsageError('token_missing', { participant: label, state: 'revoked' })
}

/** Milliseconds that a required program has to join if it has no `startTimeout`. */
const requiredMs = 120_000

/** Labels of the required programs, with the time for each to join. Throws `UsageError` for an unknown name. */
function findRequired(names: readonly string[], config: Config): Map<string, number> {
  const programs = listPrograms(config)
  return new Map(
    names.flatMap((name) => {
      const meant = programs.filter((each) => isProgramNamed(name, each))
      if (meant.length > 0)
        return meant.map(({ label, program }) => [label, program.startTimeoutMs ?? requiredMs] as const)
      const labels = programs.map(({ label }) => label)
      throw unknownNameError('program', name, labels)
    }),
  )
}

async function logFor(config: Config, { json, verbose }: RunFlags): Promise<OperatorLog> {
  const level: LogLevel = verbose ? 'info' : 'warn'
  if (json) {
    const { jsonLog } = await import('../lib/json-log.js')
    return jsonLog(level)
  }
  const names = config.spaces.flatMap(({ programs }) => Object.keys(programs))
  return operatorLog(level, { output: 'all', nameWidth: Math.max(0, ...names.map(({ length }) => length)) })
}

/** Prints that the gateway is listening: lines, or an event on stdout. */
function announceListening({ url, spaces }: RunningGateway, json: boolean): void {
  if (json) {
    event('listening', { url, spaces, pid: process.pid })
    return
  }
  printNotice(`listening on ${url} · ${spaces.length === 1 ? 'space' : 'spaces'} ${spaces.join(', ')}`)
  const meup = ownCommand(process.cwd(), process.env.PATH ?? '')
  const ways = [`${meup} join`, `see it: ${meup} open`, `watch it: ${meup} watch --from 1`]
  printNotice(`join it from this folder in another terminal: ${ways.join(' · ')}`)
}

/** Maximum duration of the shutdown. */
const drainMs = 4500

/**
 * Waits for SIGINT or SIGTERM, or until stdout is closed, then shuts down, and prints that unless `isQuiet`. A second signal
 * exits immediately.
 */
export async function untilSignal(
  close: () => Promise<void>,
  { isQuiet = false }: { isQuiet?: boolean } = {},
): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
    onReaderGone(resolve)
  })
  if (!isQuiet) printNotice('ending; a second Ctrl+C ends at once')
  const atOnce = (): void => process.exit(exitCodes.interrupted)
  process.once('SIGINT', atOnce).once('SIGTERM', atOnce)
  setTimeout(() => {
    process.stderr.write('the drain took too long; ending without it\n')
    process.exit(exitCodes.error)
  }, drainMs).unref()
  await close()
}
