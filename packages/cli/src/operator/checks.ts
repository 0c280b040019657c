import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inspectLog, LogError, type LogReport } from '@meup/gateway'
import { loadSqlite } from '@meup/gateway/sqlite'
import { getErrorMessage } from '@meup/protocol'
import { type Check, fail, pass } from '../config/check.js'
import type { Config } from '../config/config.js'
import { logPath } from '../config/storage.js'
import { isOpenToOthers, readTokenFile } from '../config/tokens.js'
import { getRemedy } from '../failure/failure.js'
import { isClockWrong } from '../lib/clock.js'
import { findExecutable } from '../lib/find-executable.js'
import { formatBytes } from '../lib/output.js'
import { tryToListen } from '../lib/ports.js'
import { fetchProbe, findTokenRefusal, type GatewayFile } from '../lib/running-gateway.js'
import type { Address } from './settings.js'
import { formatListen } from './settings.js'
import { type TokenEntry, tokenEntries } from './tokens.js'

/**
 * Checks the gateway that commands would use: it responds, accepts envelopes, and accepts the token. `recorded`: content of
 * this folder's `.meup/gateway.json`; `live`: the same, but only if the gateway's process is alive. `time`: the gateway's
 * clock, in ms.
 */
export async function gatewayChecks(
  address: Address,
  recorded: GatewayFile | undefined,
  live: GatewayFile | undefined,
): Promise<{ checks: Check[]; time?: number }> {
  const { url } = address
  if (url.value === undefined) {
    return { checks: [pass('gateway', 'none runs here; meup up starts one')] }
  }
  const health = await fetchProbe(url.value, 'healthz')
  if (health instanceof Error) {
    const detail = `nothing answers at ${url.value}: ${health.message}`
    if (live?.url === url.value) return { checks: [fail('gateway', detail, adviseOnSilence(live))] }
    const advice =
      recorded?.url === url.value
        ? 'it was killed; start it again with meup up'
        : `is it running, and is this its address? (${url.from})`
    return { checks: [fail('gateway', detail, advice)] }
  }
  if (!health.ok) {
    const detail = `${url.value}/healthz says ${health.status}`
    return { checks: [fail('gateway', detail, `is this the address of a gateway? (${url.from})`)] }
  }
  const date = Date.parse(health.headers.get('date') ?? '')
  const checks = [
    pass('gateway', `${url.value} answers`),
    await readinessCheck(url.value),
    ...(await entryChecks(url.value, address)),
  ]
  return { checks, ...(!Number.isNaN(date) && { time: date }) }
}

const adviseOnSilence = ({ pid }: GatewayFile): string =>
  `its process ${pid} lives: look at what it prints, or end it with kill ${pid} and start it again with meup up`

/** Checks that every space accepts envelopes: a gateway with a full disk still responds and can be read. */
async function readinessCheck(url: string): Promise<Check> {
  const ready = await fetchProbe(url, 'readyz')
  const advice = 'look at what the gateway prints; it continues once its log can be written'
  if (ready instanceof Error) return fail('ready', `${url}/readyz does not answer: ${ready.message}`, advice)
  if (ready.ok) return pass('ready', 'every space takes envelopes')
  const reason = readDetail(await ready.text()) ?? `${url}/readyz says ${ready.status}`
  return fail('ready', `the gateway takes no envelopes: ${reason}`, advice)
}

/** The `detail` of problem details [RFC 9457]. */
function readDetail(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as { readonly detail?: unknown }
    return typeof detail === 'string' ? detail : undefined
  } catch {
    return undefined // Not problem details; the caller shows the status instead.
  }
}

async function entryChecks(url: string, { space, participant, token }: Address): Promise<Check[]> {
  if (space.value === undefined || token.value === undefined) return []
  const who = participant.value ?? 'the owner of the token'
  const refused = `the token of ${who} does not open the space ${space.value} (${token.from})`
  try {
    const refusal = await findTokenRefusal(url, space.value, token.value)
    if (refusal === undefined) return [pass('entry', `${who} may enter ${space.value}`)]
    const advice = 'check the space and the token; meup token list shows what is here'
    return [fail('entry', `${refused}: ${refusal.message}`, advice)]
  } catch (error) {
    const reason = getErrorMessage(error)
    return [fail('entry', `${refused}: ${reason}`, 'look at what the gateway prints')]
  }
}

/**
 * Checks that the log or its replica can be used, and which process has locked it. `newest`: time of the newest envelope, in
 * ms.
 */
export function logCheck(
  { storage }: Config,
  running: GatewayFile | undefined,
): { check: Check; newest?: number } {
  const path = logPath(storage)
  if (path === undefined) return { check: pass('log', 'is kept in memory: it ends with the gateway') }
  try {
    loadSqlite() // Checked even if there is no log yet.
    for (const file of logFiles(path)) accessSync(file, constants.R_OK | constants.W_OK)
    const report = inspectLog(path)
    if (report === undefined) return { check: pass('log', `${path} is made at the first start`) }
    const newest = Math.max(...report.spaces.map(({ newest }) => Date.parse(newest ?? '') || 0))
    return { check: lockCheck(path, report, running), ...(newest > 0 && { newest }) }
  } catch (error) {
    // A LogError's message contains the remedy.
    if (error instanceof LogError) return { check: fail('log', error.message, 'see above') }
    return { check: fail('log', `${path}: ${String(error)}`, 'make it readable and writable for this user') }
  }
}

/** Existing files that a gateway writes for a log. The first is its folder, or the nearest existing parent. */
function logFiles(path: string): string[] {
  const files = ['', '-wal', '-shm', '.lock', '.index.db', '.index.db-wal'].map((end) => `${path}${end}`)
  return [existingFolder(path), ...files.filter((file) => existsSync(file))]
}

function existingFolder(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

/** Minimum free bytes: SQLite needs room to copy its write-ahead log into the database. */
const minFreeBytes = 100_000_000

/** Checks the free space for the log. `read`: replaces the system call in tests. */
export function diskCheck(path: string, read: (path: string) => FreeSpace = statfsSync): Check {
  const folder = existingFolder(path)
  const { bavail, bsize, files, ffree } = read(folder)
  const free = bavail * bsize
  const remedy = 'make room: the gateway takes nothing once the disk is full'
  if (free < minFreeBytes) return fail('disk', `${formatBytes(free)} are free for ${path}`, remedy)
  // Some file systems have no limit on files, and report 0 of 0.
  if (files > 0 && ffree === 0) return fail('disk', `no more files can be made for ${path}`, remedy)
  return pass('disk', `${formatBytes(free)} are free`)
}

type FreeSpace = Readonly<Record<'bavail' | 'bsize' | 'files' | 'ffree', number>>

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

/** The process that holds the lock on a file. Linux only. */
function findLockHolder(file: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  const place = new RegExp(`POSIX +ADVISORY +WRITE +(\\d+) +[0-9a-f]+:[0-9a-f]+:${statSync(file).ino} `)
  const [, pid] = place.exec(readFileSync('/proc/locks', 'utf8')) ?? []
  return pid === undefined ? undefined : Number(pid)
}

/** The oldest supported version of Node.js, the same as `engines` in package.json. */
export const oldestNode = '20.19'

export function nodeCheck(version: string): Check {
  const isEnough = version.localeCompare(oldestNode, 'en', { numeric: true }) >= 0
  return isEnough
    ? pass('node', version)
    : fail('node', `${version} is too old`, `install Node ${oldestNode} or newer`)
}

/** Milliseconds by which two clocks may differ; HTTP dates have whole seconds. */
const tolerance = 5000

/**
 * Checks this machine's clock: it must not be before the logged time `past`, and must agree with the gateway's time `present`.
 * All in ms since the epoch.
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

/** Checks that only their owner can access `.meup` and the log. */
export function modeChecks(directory: string, logFile: string | undefined): Check[] {
  const folder = join(directory, '.meup')
  const log = logFile === undefined ? [] : ['', '-wal', '-shm', '.lock'].map((end) => `${logFile}${end}`)
  const private_ = [...new Set([...filesIn(folder), ...log])].filter((file) => existsSync(file))
  const open = private_.filter(isOpenToOthers)
  if (open.length === 0) {
    return [
      pass(
        'modes',
        private_.length === 0 ? `${folder} is made at the first start` : 'no other user can read',
      ),
    ]
  }
  return open.map((file) => {
    const mode = (statSync(file).mode & 0o777).toString(8)
    const right = statSync(file).isDirectory() ? '700' : '600'
    return fail('modes', `others on this machine may use ${file} (mode ${mode})`, `chmod ${right} ${file}`)
  })
}

/** The folder and everything below it, except `.gitignore` files, which are not secret. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const below = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = below.map((entry) => join(entry.parentPath, entry.name))
  return [folder, ...files.filter((file) => basename(file) !== '.gitignore')]
}

/**
 * Checks that the gateway can listen on its address, or already does. `live`: the gateway's process is alive, whether or not it
 * responds.
 */
export async function portCheck(
  config: Config,
  running: GatewayFile | undefined,
  live = running,
): Promise<Check> {
  const { host, port } = config.gateway
  const address = formatListen(config)
  if (running !== undefined && Number(new URL(running.url).port) === port) {
    return pass('port', `${address} is held by the gateway that runs here (pid ${running.pid})`)
  }
  const error = await tryToListen(host, port)
  if (error?.code === 'EADDRINUSE' && live !== undefined && Number(new URL(live.url).port) === port) {
    return fail(
      'port',
      `${address} is held by the gateway that runs here, which does not answer`,
      adviseOnSilence(live),
    )
  }
  if (error === undefined) return pass('port', port === 0 ? `${address}: any free one` : `${address} is free`)
  const advice = 'choose another address with gateway.listen or --listen'
  return error.code === 'EADDRINUSE'
    ? fail('port', `${address} is held by another program`, `stop it, or ${advice}`)
    : fail('port', `${address} cannot be listened on: ${error.message}`, advice)
}

/** Checks that the commands of all programs can be found. */
export function programChecks({ spaces }: Config): Check[] {
  return spaces.flatMap(({ programs }) =>
    Object.entries(programs).map(([participant, program]) => {
      if (!('command' in program)) return pass('programs', `${participant} runs elsewhere`)
      const { command, env } = program
      const found = findExecutable(command, env.PATH ?? process.env.PATH ?? '')
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
