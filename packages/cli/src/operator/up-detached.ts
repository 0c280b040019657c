import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { printable } from '@meup/folds'
import { loadConfig } from '../config/load.js'
import { CodedError } from '../failure/failure.js'
import type { JsonOf } from '../json-outputs.js'
import { type ProgramReport, requestControl } from '../lib/control-client.js'
import { printJson, printNotice } from '../lib/output.js'
import { ownCommand } from '../lib/own-command.js'
import { makeOwnFolder } from '../lib/own-folder.js'
import { type GatewayFile, isRunning, readGatewayFile } from '../lib/running-gateway.js'
import { formatList } from '../run/describe-program.js'
import type { RunFlags } from '../run/run.js'

/** Maximum wait for programs once the gateway listens, and poll interval. */
const [programsMs, lookMs] = [5000, 50]
/** Size above which up.log is rotated; one old file is kept. */
const maxLogBytes = 5_000_000

/**
 * `meup up -d`: starts `meup up` in the background. Resolves when the gateway listens and all programs have joined, failed or
 * exceeded the wait.
 */
export async function startDetached(flags: RunFlags): Promise<void> {
  const { file: config, directory } = loadConfig(flags.config)
  const log = openLog(directory)
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] ?? '', ...upWords(config, flags)],
    {
      detached: true,
      stdio: ['ignore', log.descriptor, log.descriptor],
    },
  )
  closeSync(log.descriptor)
  let ended: number | undefined
  child.once('exit', (code) => {
    ended = code ?? 1
  })
  const running = await waitForGateway()
  const programs = await waitForPrograms(directory)
  child.unref()
  report(running, programs, { log: log.path, json: flags.json === true })

  async function waitForGateway(): Promise<GatewayFile> {
    for (;;) {
      // The process has ended before it listened; its output, which contains the reason, becomes the error message.
      if (ended !== undefined)
        throw new CodedError(
          'ended',
          {},
          log
            .read()
            .trim()
            .replace(/^meup: /, ''),
          ended,
        )
      const file = readGatewayFile(directory)
      if (file?.pid === child.pid && file !== undefined && (await isRunning(file))) return file
      await pause(lookMs)
    }
  }
}

const upWords = (config: string, { listen, verbose, watch, require = [] }: RunFlags): string[] => [
  ...['up', '--config', config],
  ...(listen === undefined ? [] : ['--listen', listen]),
  ...(verbose ? ['--verbose'] : []),
  ...(watch ? ['--watch'] : []),
  ...require.flatMap((name) => ['--require', name]),
]

function openLog(directory: string) {
  makeOwnFolder(join(directory, '.meup', 'run'))
  const path = join(directory, '.meup', 'run', 'up.log')
  const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (before > maxLogBytes) renameSync(path, `${path}.1`)
  const begin = before > maxLogBytes ? 0 : before
  return {
    path,
    descriptor: openSync(path, 'a', 0o600),
    /** Reads the output of `meup up` since it was started. */
    read: () => readFileSync(path).subarray(begin).toString('utf8'),
  }
}

async function waitForPrograms(directory: string): Promise<readonly ProgramReport[]> {
  const deadline = Date.now() + programsMs
  for (;;) {
    const { isStarting, programs } = await requestControl(directory, 'programs', {})
    const reports = programs as readonly ProgramReport[]
    const isDone = isStarting === false && reports.every(({ state }) => state !== 'starting')
    if (isDone || Date.now() > deadline) return reports
    await pause(lookMs)
  }
}

function report(
  { url, spaces, pid }: GatewayFile,
  programs: readonly ProgramReport[],
  { log, json }: { readonly log: string; readonly json: boolean },
): void {
  if (json) return void printJson<JsonOf<'up -d'>>({ url, spaces, pid, log, programs })
  const named = (state: (each: string) => boolean): string[] =>
    programs.filter((each) => state(each.state)).map(({ participant }) => participant)
  const [up, waiting] = [named((state) => state === 'running'), named((state) => state === 'starting')]
  const failed = named((state) => state !== 'running' && state !== 'starting')
  const parts = [
    `${formatList(spaces)} at ${url} (pid ${pid})`,
    ...(up.length > 0 ? [`${formatList(up)} ${up.length === 1 ? 'is' : 'are'} up`] : []),
    ...(waiting.length > 0 ? [`still waiting for ${formatList(waiting)}`] : []),
    ...(failed.length > 0 ? [`✗ ${formatList(failed)} failed: meup ps`] : []),
  ]
  const meup = ownCommand(process.cwd(), process.env.PATH ?? '')
  printNotice(printable(parts.join(' · ')))
  printNotice(
    `${['ps', 'logs -f', 'down'].map((word) => `${meup} ${word}`).join(' · ')} · it writes to ${relative(process.cwd(), log)}`,
  )
}
