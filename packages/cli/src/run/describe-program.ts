import { brief, formatDuration, onOneLine } from '@meup/folds'
import type { Kick } from '@meup/gateway'
import { addAdvice } from '@meup/protocol'
import { describeFailure } from '../failure/failure.js'
import { formatClock, type OperatorLog } from '../lib/logger.js'
import type { ProgramEvent } from './keep-running.js'
import { type FailureCount, failureWindowMs, maxFailures, type Next } from './restart-policy.js'

/** Names of a program, for users and scripts. */
export interface ProgramName {
  readonly space: string
  readonly participant: string
  /** `participant`, or `space/participant` if there are several spaces. */
  readonly label: string
  /** Whether the program is restarted when its files change. */
  readonly isWatched: boolean
}

/** Logs the end or failure of a program: one line, without a stack. */
export function logProgramEvent(
  name: ProgramName,
  event: ProgramEvent,
  log: Pick<OperatorLog, 'program' | 'info'>,
): void {
  const { participant, label } = name
  if (event.type === 'ended') {
    const { ending, failures, next } = event
    const text = `${describeEnding(label, event)} · ${describeNext(name, next)}`
    const fields = { participant, reason: ending.reason, ...(failures && { count: failures.count }), ...next }
    log.program(ending.failed ? 'error' : 'notice', fields, text)
    if (ending.error !== undefined) log.info({ participant, err: ending.error }, `why ${label} failed`)
  } else if (event.type === 'kicked') {
    log.program('warn', { participant, by: event.kick.by }, describeKick(label, event.kick))
  } else if (event.type === 'stop_failed') {
    log.program('error', { participant, err: event.error }, `${label} could not be stopped`)
  }
}

/** Maximum characters of a reason, which may be the program's own output. */
const maxReasonChars = 500

/** Describes how a program ended. If it failed to start with the same error as before, states only how often it did. */
function describeEnding(
  label: string,
  { ending, failures }: Extract<ProgramEvent, { type: 'ended' }>,
): string {
  const { isStart = false, remedy } = ending
  const reason = brief(ending.reason, maxReasonChars)
  if (isStart && failures?.isSame) return `${label} did not start${describeCount(failures)}`
  const what = `${isStart ? `${label}: ${reason}` : `${label} ended: ${reason}`}${describeCount(failures)}`
  return remedy === undefined ? what : addAdvice(what, remedy)
}

function describeCount(failures: FailureCount | undefined): string {
  if (failures === undefined || failures.count === 1) return ''
  const { count, sinceMs, isSame } = failures
  return ` (${formatOrdinal(count)} time in ${formatDuration(sinceMs)}${isSame ? ', same error' : ''})`
}

const rules = new Intl.PluralRules('en', { type: 'ordinal' })
const endings: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }

const formatOrdinal = (count: number): string => `${count}${endings[rules.select(count)]}`

function describeNext({ label, isWatched }: ProgramName, next: Next): string {
  if (next.tryMs !== undefined) return `next try in ${formatDuration(next.tryMs)}`
  const files = isWatched ? 'when its files change, or ' : ''
  const again = `restarting ${files}with meup restart ${label}`
  if (next.rests !== 'failures') return again
  return `it rests after ${maxFailures} failures in ${formatDuration(failureWindowMs)}; ${again}`
}

function describeKick(label: string, { by, reason, until }: Kick): string {
  const end = until === undefined ? 'it is invited again' : formatClock(until)
  const why = reason === undefined ? '' : ` (${onOneLine(reason)})`
  return describeFailure('kicked_program', { participant: label, by: `${by}${why}`, end })
}

/** Message about programs that have not joined yet. */
export function describeLate(late: readonly ProgramName[]): string {
  const labels = late.map(({ label }) => label).sort()
  return describeFailure('waiting', {
    participants: formatList(labels),
    participant: late[0]?.participant ?? '',
  })
}

/** Message about programs that have joined, the last one after `waitedMs`. */
export const describeJoined = (labels: readonly string[], waitedMs: number): string =>
  `${formatList(labels)} ${labels.length === 1 ? 'is' : 'are'} up (${formatDuration(waitedMs)})`

export const formatList = (labels: readonly string[]): string => new Intl.ListFormat('en').format(labels)
