import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspectLog, LogError, type LogReport } from '@meup/gateway'
import { loadSqlite } from '@meup/gateway/sqlite'
import { type Check, fail, pass } from '../config/check.js'
import type { Config } from '../config/config.js'
import { logPath } from '../config/storage.js'
import { isOpenToOthers, readTokenFile } from '../config/tokens.js'
import { getRemedy } from '../failure/failure.js'
import { isClockWrong } from '../lib/clock.js'
import { findCommand } from '../lib/executables.js'
import { tryToListen } from '../lib/ports.js'
import { acceptsToken, fetchHealth, type GatewayFile } from '../lib/running-gateway.js'
import type { Address } from './settings.js'
import { formatListen } from './settings.js'
import { type TokenEntry, tokenEntries } from './tokens.js'

/** Checks that the gateway that commands would use answers and accepts the token. `time`: its clock, in milliseconds. */
export async function gatewayChecks(
  { url, space, participant, token }: Address,
  recorded: GatewayFile | undefined,
): Promise<{ checks: Check[]; time?: number }> {
  if (url.value === undefined) {
    return { checks: [pass('gateway', 'none runs here; meup up starts one')] }
  }
  const health = await fetchHealth(url.value)
  if (health instanceof Error) {
    const isRecorded = recorded?.url === url.value
    const advice = isRecorded
      ? 'it was killed; start it again with meup up'
      : `is it running, and is this its address? (${url.from})`
    return { checks: [fail('gateway', `nothing answers at ${url.value}: ${health.message}`, advice)] }
  }
  if (!health.ok) {
    const detail = `${url.value}/healthz says ${health.status}`
    return { checks: [fail('gateway', detail, `is this the address of a gateway? (${url.from})`)] }
  }
  const date = Date.parse(health.headers.get('date') ?? '')
  const checks = [pass('gateway', `${url.value} answers`)]
  if (space.value !== undefined && token.value !== undefined) {
    const who = participant.value ?? 'whoever has the token'
    const isIn = await acceptsToken(url.value, space.value, token.value)
    const refused = `the token of ${who} does not open the space ${space.value} (${token.from})`
    const advice = 'check the space and the token; meup token list shows what is here'
    checks.push(isIn ? pass('entry', `${who} may enter ${space.value}`) : fail('entry', refused, advice))
  }
  return { checks, ...(!Number.isNaN(date) && { time: date }) }
}

/** Checks that the log or its replica can be used, and who has locked it. `newest`: time of its newest envelope (milliseconds). */
export function logCheck(
  { storage }: Config,
  running: GatewayFile | undefined,
): { check: Check; newest?: number } {
  const path = logPath(storage)
  if (path === undefined) return { check: pass('log', 'is kept in memory: it ends with the gateway') }
  try {
    loadSqlite() // Also if there is no file yet.
    const report = inspectLog(path)
    if (report === undefined) return { check: pass('log', `${path} is made at the first start`) }
    accessSync(path, constants.R_OK | constants.W_OK)
    const newest = Math.max(...report.spaces.map(({ newest }) => Date.parse(newest ?? '') || 0))
    return { check: lockCheck(path, report, running), ...(newest > 0 && { newest }) }
  } catch (error) {
    // The message contains the remedy.
    if (error instanceof LogError) return { check: fail('log', error.message, 'see above') }
    return { check: fail('log', `${path}: ${String(error)}`, 'make it readable and writable for this user') }
  }
}

function lockCheck(path: string, report: LogReport, running: GatewayFile | undefined): Check {
  const spaces = report.spaces.map(({ name, head }) => `${name} ${head}`).join(', ')
  const upgrade =
    report.schema < report.currentSchema ? `; the next start brings it to ${report.currentSchema}` : ''
  const content = `${path} (schema ${report.schema}${upgrade}; envelopes: ${spaces || 'none'})`
  if (!report.isLocked) return pass('log', `${content} is free`)
  const holder = findLockHolder(`${path}.lock`) ?? running?.pid
  if (holder !== undefined && holder === running?.pid) {
    return pass('log', `${content} is held by the gateway that runs here (pid ${holder})`)
  }
  const who = holder === undefined ? 'another program' : `another program, pid ${holder}`
  return fail('log', `${content} is held by ${who}`, 'stop it, or give the gateway another storage.path')
}

/** Returns the process that holds the lock of a file. Linux only. */
function findLockHolder(file: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  const place = new RegExp(`POSIX +ADVISORY +WRITE +(\\d+) +[0-9a-f]+:[0-9a-f]+:${statSync(file).ino} `)
  const [, pid] = place.exec(readFileSync('/proc/locks', 'utf8')) ?? []
  return pid === undefined ? undefined : Number(pid)
}

/** As in `engines` of package.json. */
export const oldestNode = '20.19'

export function nodeCheck(version: string): Check {
  const isEnough = version.localeCompare(oldestNode, 'en', { numeric: true }) >= 0
  return isEnough
    ? pass('node', version)
    : fail('node', `${version} is too old`, `install Node ${oldestNode} or newer`)
}

/** Milliseconds that two clocks may differ; HTTP dates have whole seconds. */
const tolerance = 5000

/**
 * Checks the clock of this machine: it must not be before the times in `past`, and agree with `present`. All in milliseconds
 * since the epoch.
 */
export function clockCheck(
  now: number,
  { present, past }: { present: number | undefined; past: number | undefined },
): Check {
  const advice = getRemedy('wrong_clock')
  const time = (at: number): string => new Date(at).toISOString()
  if (present !== undefined && Math.abs(now - present) > tolerance) {
    return fail('clock', `it is ${time(now)} here, and ${time(present)} at the gateway`, advice)
  }
  if (past !== undefined && past - now > tolerance) {
    return fail('clock', `it is ${time(now)} here, but the log has something of ${time(past)}`, advice)
  }
  if (isClockWrong(now)) return fail('clock', `it is ${time(now)} here`, advice)
  return pass('clock', time(now))
}

/** Checks that `.meup` and the log are readable by their owner only. */
export function modeChecks(directory: string, logFile: string | undefined): Check[] {
  const folder = join(directory, '.meup')
  const log = logFile === undefined ? [] : ['', '-wal', '-shm', '.lock'].map((end) => `${logFile}${end}`)
  const private_ = [...new Set([...filesIn(folder), ...log])].filter((file) => existsSync(file))
  const open = private_.filter(isOpenToOthers)
  if (open.length === 0) {
    return [
      pass('modes', private_.length === 0 ? `${folder} is made at the first start` : 'nobody else can read'),
    ]
  }
  return open.map((file) => {
    const mode = (statSync(file).mode & 0o777).toString(8)
    const right = statSync(file).isDirectory() ? '700' : '600'
    return fail('modes', `others on this machine may use ${file} (mode ${mode})`, `chmod ${right} ${file}`)
  })
}

/** The folder and all files below it, without `.gitignore`, which has no secret. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const below = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = below.map((entry) => join(entry.parentPath, entry.name))
  return [folder, ...files.filter((file) => file !== join(folder, '.gitignore'))]
}

/** Checks that the gateway can listen at its address, or does already. */
export async function portCheck(config: Config, running: GatewayFile | undefined): Promise<Check> {
  const { host, port } = config.gateway
  const address = formatListen(config)
  if (running !== undefined && Number(new URL(running.url).port) === port) {
    return pass('port', `${address} is held by the gateway that runs here (pid ${running.pid})`)
  }
  const error = await tryToListen(host, port)
  if (error === undefined) return pass('port', port === 0 ? `${address}: any free one` : `${address} is free`)
  const advice = 'choose another address with gateway.listen or --listen'
  return error.code === 'EADDRINUSE'
    ? fail('port', `${address} is held by another program`, `stop it, or ${advice}`)
    : fail('port', `${address} cannot be listened on: ${error.message}`, advice)
}

/** Checks that the commands of programs can be found. */
export function programChecks({ spaces }: Config): Check[] {
  return spaces.flatMap(({ programs }) =>
    Object.entries(programs).map(([participant, program]) => {
      if (!('command' in program)) return pass('programs', `${participant} runs elsewhere`)
      const { command, env } = program
      const found = findCommand(command, env.PATH ?? process.env.PATH ?? '')
      if (found !== undefined) return pass('programs', `${participant} runs ${found}`)
      const isPath = /[\\/]/.test(command)
      const detail = `${participant}: there is no program ${command}${isPath ? '' : ' in PATH'}`
      const install = program.kind === 'acp' && program.package && `: npm install -g ${program.package}`
      return fail('programs', detail, `install it${install || ''}, or correct the command`)
    }),
  )
}

/** Checks that all participants have usable tokens. */
export function tokenChecks(config: Config, isRunning: boolean): Check[] {
  const entries = tokenEntries(config, {})
  const unusable = entries.filter(({ state }) => state === 'unusable')
  const missing = entries.filter(({ state }) => state === 'missing')
  const problems = [
    ...unusable.flatMap(({ participant, warnings }) =>
      warnings.map((warning) => fail('tokens', warning, `meup token rotate ${participant} makes a good one`)),
    ),
    ...sharedIn(entries),
    ...(isRunning ? missing : []).map(({ participant, file }) =>
      fail('tokens', `${participant} has none in ${file}`, `meup token create ${participant} makes one`),
    ),
  ]
  if (problems.length > 0) return problems
  const count = (state: TokenEntry['state']): number => entries.filter((each) => each.state === state).length
  const rest = [
    ...(count('missing') > 0 ? [`${count('missing')} are made at the start`] : []),
    ...(count('revoked') > 0 ? [`${count('revoked')} revoked`] : []),
  ]
  return [
    pass('tokens', [`${count('valid')} of ${entries.length} participants have one`, ...rest].join(', ')),
  ]
}

function sharedIn(entries: readonly TokenEntry[]): Check[] {
  const owners = new Map<string, TokenEntry>()
  return entries.flatMap((entry) => {
    const read = readTokenFile(entry.file)
    if (read.state !== 'valid') return []
    const key = `${entry.space} ${read.token}`
    const owner = owners.get(key)
    owners.set(key, entry)
    if (owner === undefined) return []
    const detail = `${owner.participant} and ${entry.participant} have the same one`
    return [fail('tokens', detail, `meup token rotate ${entry.participant}`)]
  })
}
