import type { ParticipantDetails, ProgramInfo } from '@meup/protocol'
import type { ParticipantState } from './space/participants.js'
import { isOver, type RestrictionInfo, readRestriction } from './space/pauses.js'
import { formatDuration, onOneLine } from './text.js'

/** The state of a participant, as a key for symbols and as a short text: `paused by ana, 9 min left`. */
export interface StateText {
  readonly name: 'here' | 'away' | 'paused' | 'kicked' | Exclude<ProgramInfo['state'], 'running'>
  readonly text: string
}

type Participant = Pick<ParticipantDetails, 'id' | 'status'> & ParticipantState

/**
 * Describes the most important state of a participant: a kick before a pause before the program. `now`: milliseconds by the
 * gateway's clock.
 */
export function describeState(participant: Participant, now: number): StateText {
  const { paused, kicked } = participant
  if (isInForce(kicked, now)) {
    const until = kicked.until === undefined ? '' : ` until ${onOneLine(kicked.until)}`
    return { name: 'kicked', text: `kicked by ${onOneLine(kicked.by)}${until}` }
  }
  const own = describeProgram(participant) ?? describePresence(participant)
  if (!isInForce(paused, now)) return own
  const left = paused.until === undefined ? '' : `, ${formatLeft(Date.parse(paused.until) - now)} left`
  const text = `paused by ${onOneLine(paused.by)}${left}`
  return { name: 'paused', text: own.name === 'here' ? text : `${text} · ${own.text}` }
}

const isInForce = (restriction: RestrictionInfo | undefined, now: number): restriction is RestrictionInfo =>
  restriction !== undefined && !isOver(readRestriction(restriction), now)

const minuteMs = 60_000

/** Formats the time that is left in whole minutes, and the last minute in seconds. */
const formatLeft = (ms: number): string =>
  formatDuration(ms > minuteMs ? Math.ceil(ms / minuteMs) * minuteMs : ms)

const describePresence = ({ status }: Participant): StateText =>
  status === 'present' ? { name: 'here', text: 'here' } : { name: 'away', text: 'away' }

/** Describes the state of a program; `undefined` if it is running, or its state is unknown to this version. */
function describeProgram({ id, program }: Pick<Participant, 'id' | 'program'>): StateText | undefined {
  const times = program?.count === undefined ? '' : ` (${program.count}×)`
  switch (program?.state) {
    case 'starting':
      return { name: 'starting', text: 'starting' }
    case 'failed':
      return { name: 'failed', text: `failed${times}` }
    case 'restarting':
      return { name: 'restarting', text: `restarting${times}` }
    case 'resting': {
      const { count } = program
      const failures = count === undefined ? '' : ` after ${count} ${count === 1 ? 'failure' : 'failures'}`
      return { name: 'resting', text: `resting${failures}: meup restart ${onOneLine(id)}` }
    }
    default:
      return undefined
  }
}

/** Describes a change of a program, after the participant's name: `is restarting (4×)`. */
export function programEventText(id: string, program: ProgramInfo | null): string {
  const { name, text } = describeProgram({ id, ...(program && { program }) }) ?? {}
  if (name === undefined || text === undefined)
    return program === null ? 'has no program any more' : 'is running'
  return name === 'failed' ? `has ${text}` : `is ${text}`
}

/** Whether a change of a program is shown to people. Starts and stops are visible by joins and leaves. */
export const isFailure = (program: ProgramInfo | null | undefined): boolean =>
  program?.state === 'failed' || program?.state === 'restarting' || program?.state === 'resting'
