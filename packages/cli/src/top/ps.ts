import { omitUndefined } from '@meup/protocol'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, createHttpClient } from '../lib/connection.js'
import { type ProgramReports, readPrograms } from '../lib/control-client.js'
import { print, printJson } from '../lib/output.js'
import { readWork } from './read-work.js'
import type { Work } from './space-monitor.js'
import { describeWork, workTable } from './work-table.js'

/** `meup ps`: the state of all participants of a space. */
export async function listWork(flags: ConnectionFlags): Promise<void> {
  const http = createHttpClient(flags)
  const { url, space } = http.target
  const [all, programs] = await Promise.all([readWork(http), readPrograms(http.target)])
  const now = Date.now()
  if (flags.json)
    return void printJson<JsonOf<'ps'>>({ url, space, participants: toPsJson(all, programs, now) })
  const width = process.stdout.isTTY ? process.stdout.columns : maxColumns
  for (const line of workTable(all, programs, { width, now })) print(line)
}

/** Maximum columns of a table outside a terminal. */
const maxColumns = 200

export const toPsJson = (
  all: readonly Work[],
  programs: ProgramReports,
  now: number,
): JsonOf<'ps'>['participants'] =>
  all.map((work) => {
    const { state, thinksSince, isWaiting: _, ...counts } = work
    const { lastError, nextTry } = programs.get(work.id) ?? {}
    return {
      ...counts,
      ...{ state: state.name, text: describeWork(work, programs.get(work.id), now) },
      ...(thinksSince !== undefined && { thinksSince: new Date(thinksSince).toISOString() }),
      ...omitUndefined({ lastError, nextTry }),
    }
  })
