import type { Socket } from 'node:net'
import { isSystemError } from '../errors.js'
import { linesOf } from '../lines.js'
import { type ChildExit, LIFELINE_LIMIT, type Report } from './messages.js'

/** What the reaper says, until it has gone. */
export async function* reportsOf(lifeline: Socket): AsyncGenerator<Report, undefined> {
  try {
    for await (const line of linesOf(lifeline, LIFELINE_LIMIT)) yield JSON.parse(line)
  } catch (error) {
    // A reset connection is one more way in which the reaper can go.
    if (!isSystemError(error)) throw error
  }
}

/** How the command ended, or undefined if the reaper went without saying it. */
export async function lastExit(reports: AsyncIterable<Report>): Promise<ChildExit | undefined> {
  let exit: ChildExit | undefined
  for await (const report of reports) if ('exited' in report) exit = report.exited
  return exit
}
