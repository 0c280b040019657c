import { dirname, resolve } from 'node:path'
import { omitUndefined } from '@meup/protocol'
import type { JsonOf } from '../json-outputs.js'
import { type ConnectionFlags, createHttpClient } from '../lib/connection.js'
import { requestControl } from '../lib/control-client.js'
import { print, printJson } from '../lib/output.js'
import { findGatewayProcess } from '../lib/running-gateway.js'
import type { ProgramReport } from '../run/control-requests.js'
import { readWork } from './read-work.js'
import type { Work } from './space-monitor.js'
import { describeWork, type ProgramReports, workTable } from './work-table.js'

/** `meup ps`: the state of all participants of a space. */
export async function listWork(flags: ConnectionFlags): Promise<void> {
  const http = createHttpClient(flags)
  const { url, space } = http.target
  const [all, programs] = await Promise.all([readWork(http), readPrograms(url, space)])
  const now = Date.now()
  if (flags.json)
    return void printJson<JsonOf<'ps'>>({ url, space, participants: toPsJson(all, programs, now) })
  const width = process.stdout.isTTY ? process.stdout.columns : maxColumns
  for (const line of workTable(all, programs, { width, now })) print(line)
}

/** Maximum columns of a table outside a terminal. */
const maxColumns = 200

/** Reports of this folder's `meup up` about the programs of a space; empty if the gateway at `url` is a different one. */
export async function readPrograms(url: string, space: string): Promise<ProgramReports> {
  const directory = dirname(resolve('space.yaml'))
  if (findGatewayProcess(directory)?.url !== url) return new Map()
  const { programs = [] } = await requestControl(directory, 'programs', {}).catch(() => ({ programs: [] }))
  const own = (programs as readonly ProgramReport[]).filter((each) => each.space === space)
  return new Map(own.map((each) => [each.participant, each]))
}

export const toPsJson = (
  all: readonly Work[],
  programs: ProgramReports,
  now: number,
): JsonOf<'ps'>['participants'] =>
  all.map((work) => {
    const { state, thinksSince, ...counts } = work
    const { lastError, nextTry } = programs.get(work.id) ?? {}
    return {
      ...counts,
      ...{ state: state.name, text: describeWork(work, programs.get(work.id), now) },
      ...(thinksSince !== undefined && { thinksSince: new Date(thinksSince).toISOString() }),
      ...omitUndefined({ lastError, nextTry }),
    }
  })
