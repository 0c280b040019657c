import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { inspectLog, LogError, type LogReport } from '@meup/gateway'
import type { Config } from '../../config/config.js'
import type { GatewayFile } from '../../run/gateway-file.js'
import { type Check, fail, pass } from './check.js'

/** Whether the log, or the replica of it on this machine, can be used, and who has it; with the time of the newest envelope, in milliseconds. */
export function logCheck(
  { storage }: Config,
  running: GatewayFile | undefined,
): { check: Check; newest?: number } {
  if (storage.kind === 'memory') {
    return { check: pass('log', 'is kept in memory: it ends with the gateway') }
  }
  const { path } = storage
  try {
    const report = inspectLog(path)
    if (report === undefined) return { check: pass('log', `${path} is made at the first start`) }
    accessSync(path, constants.R_OK | constants.W_OK)
    const newest = Math.max(...report.spaces.map(({ newest }) => Date.parse(newest ?? '') || 0))
    return { check: lockCheck(path, report, running), ...(newest > 0 && { newest }) }
  } catch (error) {
    // Its message says what to do.
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
  const holder = holderOf(`${path}.lock`) ?? running?.pid
  if (holder !== undefined && holder === running?.pid) {
    return pass('log', `${content} is held by the gateway that runs here (pid ${holder})`)
  }
  const who = holder === undefined ? 'another program' : `another program, pid ${holder}`
  return fail('log', `${content} is held by ${who}`, 'stop it, or give the gateway another storage.path')
}

/** Which process has locked a file; only Linux tells. */
function holderOf(file: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  const place = new RegExp(`POSIX +ADVISORY +WRITE +(\\d+) +[0-9a-f]+:[0-9a-f]+:${statSync(file).ino} `)
  const [, pid] = place.exec(readFileSync('/proc/locks', 'utf8')) ?? []
  return pid === undefined ? undefined : Number(pid)
}
