import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { exitCodes } from '../failure/exit-codes.js'
import { describeFailure } from '../failure/failure.js'
import { ownCommand } from '../lib/executables.js'
import { type LogLevel, type OperatorLog, operatorLog } from '../lib/logger.js'
import { withListen } from '../lib/options.js'
import { print, printNotice } from '../lib/output.js'
import { endHungUp, findTerminal, reloadOnDemand } from './reload.js'
import { type RunningGateway, startGateway } from './start-gateway.js'
import { launch, type Member, type RunningSpaces } from './up.js'

export interface RunFlags {
  readonly config: string
  readonly listen?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly watch?: boolean
}

/** Runs the gateway, alone or with the programs of its configuration, until a signal ends it. */
export async function run(command: 'gateway' | 'up', flags: RunFlags): Promise<void> {
  const { json = false } = flags
  const read = (): Config => withListen(loadConfig(flags.config), flags.listen)
  const terminal = findTerminal()
  const config = read()
  const log = await logFor(config, flags)
  const launching =
    command === 'up' ? launch(config, log, { mayMove: flags.listen === undefined }) : undefined
  const starting = launching ?? startGateway(config, log, { mayMove: false })
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
  announceListening(running, json) // Readers of this line may end the process at once.
  const spaces = await launching
  if (spaces === undefined) running.warmUp()
  else {
    try {
      await announceStarting(spaces, { json, signal: stopping.signal })
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
    const { jsonLog } = await import('../lib/json-log.js')
    return jsonLog(level)
  }
  const names = config.spaces.flatMap(({ programs }) => Object.keys(programs))
  return operatorLog(level, { output: 'all', nameWidth: Math.max(0, ...names.map(({ length }) => length)) })
}

/** Reports that the gateway listens, as lines for people or as an event on stdout. */
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

/** Milliseconds between checks of who has joined, and until the missing ones are reported. */
const [lookMs, lateMs] = [50, 5000]

/** Reports which programs are starting, and when all have joined. Rejects if one cannot start. */
async function announceStarting(
  { programs, started, isPresent }: RunningSpaces,
  { json, signal }: { readonly json: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const participants = getNames(programs)
  const say = (name: string, text: string): void => {
    if (json) event(name, { participants })
    else if (participants.length > 0) printNotice(text)
  }
  const isMissing = ({ space, participant }: Member): boolean => !isPresent(space, participant)
  const reportMissing = (): void => {
    const names = list(getNames(programs.filter(isMissing)))
    if (!json) printNotice(describeFailure('waiting', { participants: names }))
  }
  say('starting', `starting ${list(participants)}`)
  const late = setTimeout(reportMissing, lateMs)
  await started.finally(() => clearTimeout(late))
  if (signal.aborted) return
  if (json) event('started', { participants })
  const began = Date.now()
  let missing = programs.filter(isMissing)
  while (missing.length > 0 && Date.now() - began < lateMs) {
    await delay(lookMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    missing = missing.filter(isMissing)
  }
  if (missing.length === 0)
    say('ready', `${list(participants)} ${participants.length === 1 ? 'is' : 'are'} up`)
  else reportMissing()
}

const event = (name: string, fields: object): void => void print(JSON.stringify({ event: name, ...fields }))

const getNames = (members: readonly Member[]): string[] => members.map(({ participant }) => participant)

const list = (names: readonly string[]): string => new Intl.ListFormat('en').format(names)

/** Milliseconds that a drain may take before the process ends anyway. */
const drainMs = 4500

/** Waits for SIGINT or SIGTERM, then closes. A second signal ends the process at once. */
export async function untilSignal(close: () => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  })
  const atOnce = (): void => process.exit(exitCodes.interrupted)
  process.once('SIGINT', atOnce).once('SIGTERM', atOnce)
  setTimeout(() => {
    process.stderr.write('the drain took too long; ending without it\n')
    process.exit(exitCodes.error)
  }, drainMs).unref()
  await close()
}
