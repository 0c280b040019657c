import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { omitUndefined } from '@meup/protocol'
import { Failure } from '../failure/failure.js'
import type { JsonOf } from '../json-outputs.js'
import { requestControl } from '../lib/control-client.js'
import { printJson, printNotice } from '../lib/output.js'
import { isRunning, readGatewayFile } from '../lib/running-gateway.js'

export interface DownFlags {
  readonly config: string
  readonly json?: boolean
}

/** Maximum time to shut down, and poll interval. */
const [drainMs, lookMs] = [10_000, 50]

/** `meup down`: shuts down the gateway of this folder and its programs. Succeeds if nothing runs. */
export async function down({ config, json }: DownFlags): Promise<void> {
  const directory = dirname(resolve(config))
  const pid = await findProcess(directory)
  if (pid !== undefined) await end(pid)
  if (json) printJson<JsonOf<'down'>>({ stopped: pid !== undefined, ...omitUndefined({ pid }) })
  else printNotice(pid === undefined ? `nothing runs in ${directory}` : 'stopped')
}

/** Pid of the process that runs or is starting a folder's gateway. */
async function findProcess(directory: string): Promise<number | undefined> {
  try {
    const { pid } = await requestControl(directory, 'programs', {})
    if (typeof pid === 'number') return pid
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
  const file = readGatewayFile(directory) // A `meup gateway` has no control socket.
  return file !== undefined && (await isRunning(file)) ? file.pid : undefined
}

async function end(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const deadline = Date.now() + drainMs
  while (hasProcess(pid)) {
    if (Date.now() > deadline)
      throw new Error(
        `process ${pid} has not ended within ${drainMs / 1000} s; kill -9 ${pid} ends it at once`,
      )
    await pause(lookMs)
  }
}

/** Whether a process is running; a zombie is not. */
function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}
