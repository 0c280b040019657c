import { dirname, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { printable } from '@meup/folds'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import { requestControl } from '../lib/control-client.js'
import { formatClock } from '../lib/logger.js'
import { parseCount } from '../lib/options.js'
import { print, printJson } from '../lib/output.js'
import type { LogLine } from '../run/program-logs.js'

export interface LogsFlags {
  readonly config: string
  readonly follow?: boolean
  readonly tail: string
  readonly json?: boolean
}

/** Long-poll timeout of one request. */
const waitMs = 3000

/** `meup logs`: prints output and events of the programs that this folder's `meup up` runs. */
export async function showLogs(names: readonly string[], flags: LogsFlags): Promise<void> {
  const directory = dirname(resolve(flags.config))
  const tail = parseCount(flags.tail, '--tail')
  let after = show(await readLines(directory, { names, tail }), 0, flags)
  if (!flags.follow) return
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  for (;;) after = show(await readLines(directory, { names, after, waitMs }), after, flags)
}

async function readLines(directory: string, query: object): Promise<readonly LogLine[]> {
  const { lines } = await requestControl(directory, 'logs', query)
  return lines as readonly LogLine[]
}

/** Prints lines; returns the seq of the last one. */
function show(lines: readonly LogLine[], after: number, { json }: LogsFlags): number {
  for (const line of lines) {
    if (json) printJson<JsonOf<'logs'>>(line)
    else print(formatLine(line))
  }
  return lines.at(-1)?.seq ?? after
}

function formatLine({ time, participant, stream, text }: LogLine): string {
  const at = formatClock(Date.parse(time))
  const said = printable(stripVTControlCharacters(text))
  return stream === 'event' ? `${at}  ${said}` : `${at}  ${printable(participant)} | ${said}`
}
