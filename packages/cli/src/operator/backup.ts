import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { backUpLogs, type CopiedLog, restoreLogs } from '@meup/gateway'
import { loadConfig } from '../config/load.js'
import type { StorageSettings } from '../config/storage.js'
import { Failure } from '../failure/failure.js'
import type { JsonOf } from '../json-outputs.js'
import { UsageError } from '../lib/exit.js'
import { print, printJson, printNotice } from '../lib/output.js'

export interface BackupFlags {
  readonly config: string
  readonly json?: boolean
}

/** `meup backup`: copies the log, even while its gateway runs. */
export function backUp({ config, to, json }: BackupFlags & { readonly to: string }): void {
  const path = getLogPath(loadConfig(resolve(config)).storage)
  const file = resolve(to)
  const logs = backUpLogs(path, file)
  report({ file, logs }, json)
  printNotice(`${to} has the log; copy the configuration and the tokens yourself`)
}

/** `meup restore`: verifies a backup and copies it to the place of the log. */
export function restore(backup: string, { config, to, json }: BackupFlags & { readonly to?: string }): void {
  if (statSync(backup, { throwIfNoEntry: false })?.isFile() !== true)
    throw new Failure('missing_file', { path: backup })
  const path = to === undefined ? getLogPath(loadConfig(resolve(config)).storage) : resolve(to)
  const logs = restoreLogs(resolve(backup), path)
  report({ file: path, logs }, json)
  for (const { space, erased } of logs)
    for (const { seq, by, reason } of erased)
      printNotice(`${space}: seq ${seq} was erased by ${by}: ${reason}`)
  printNotice('the chain holds; compare the head with one that you have kept')
}

function getLogPath(storage: StorageSettings): string {
  if (storage.kind === 'sqlite') return storage.path
  const [place, command] =
    storage.kind === 'memory' ? ['memory', 'meup audit export'] : ['NATS servers', 'nats stream backup']
  throw new UsageError('no_log_file', { place, command })
}

function report(
  { file, logs }: { file: string; logs: readonly CopiedLog[] },
  json: boolean | undefined,
): void {
  if (json) return void printJson<JsonOf<'backup'>>({ file, logs })
  for (const { space, first, head, hash } of logs)
    print(`${space}: ${Math.max(head - first + 1, 0)} envelopes, head ${head}:${hash}`)
}
