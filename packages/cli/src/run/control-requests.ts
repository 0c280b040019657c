import { suggest } from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { Failure, UsageError } from '../failure/failure.js'
import { formatNames, type ProgramReport } from '../lib/control-client.js'
import { unknownNameError } from '../lib/unknown-name.js'
import { ControlError, type ControlRequests } from './control-server.js'
import { isProgramNamed, listPrograms } from './list-programs.js'
import type { LogLine, ProgramLogs } from './program-logs.js'
import type { Supervisor } from './supervisor.js'

interface Controlled {
  /** Returns `undefined` until the programs are started. */
  readonly getSupervisor: () => Supervisor | undefined
  readonly getConfig: () => Config
  readonly logs: ProgramLogs
}

/** Handlers of the requests to `meup up`. */
export function createControlRequests({ getSupervisor, getConfig, logs }: Controlled): ControlRequests {
  return {
    /** Lists the programs with their states, and this process. `isStarting`: programs are not started yet. */
    programs: () => {
      const supervisor = getSupervisor()
      return { pid: process.pid, isStarting: supervisor === undefined, programs: listReports(supervisor) }
    },

    /** Returns output and events of programs after the seq `after`; waits up to `waitMs` for some. */
    async logs({ names = [], after, tail, waitMs = 0 }) {
      const wanted = readNames(names)
      for (const name of wanted) findProgram(name, getSupervisor(), getConfig())
      const isMeant = (line: LogLine): boolean =>
        wanted.length === 0 ||
        wanted.some((name) => isProgramNamed(name, { space: name.split('/')[0] ?? '', ...line }))
      const query = { isMeant, ...omitUndefined({ after: readCount(after), tail: readCount(tail) }) }
      const lines = logs.read(query)
      if (lines.length > 0 || waitMs === 0) return { lines }
      await logs.whenGrown(Math.min(readCount(waitMs) ?? 0, maxWaitMs))
      return { lines: logs.read(query) }
    },

    /** Restarts the named programs, whatever their state; none of them if a name is unknown. */
    restart({ names }) {
      const wanted = readNames(names)
      if (wanted.length === 0) throw wrongNames()
      const supervisor = getSupervisor()
      const labels = [...new Set(wanted.map((name) => findProgram(name, supervisor, getConfig())))]
      for (const label of labels) supervisor?.restart(label)
      return { restarted: labels }
    },
  }
}

/** Maximum milliseconds that a request may wait for lines. */
const maxWaitMs = 3000

const wrongNames = (): ControlError =>
  new ControlError('invalid_request', { expected: 'names: a list of names' })

function readNames(names: unknown): string[] {
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw wrongNames()
}

function readCount(count: unknown): number | undefined {
  if (count === undefined || (Number.isSafeInteger(count) && Number(count) >= 0))
    return count as number | undefined
  throw new ControlError('invalid_request', { expected: 'after, tail and waitMs: whole numbers' })
}

const listReports = (supervisor: Supervisor | undefined): ProgramReport[] =>
  (supervisor?.list() ?? []).map(({ name: { space, participant }, status }) => ({
    ...{ space, participant, state: status.state, count: status.count },
    since: new Date(status.since).toISOString(),
    ...omitUndefined({ lastError: status.lastError }),
    ...(status.nextTryAt !== undefined && { nextTry: new Date(status.nextTryAt).toISOString() }),
  }))

/** Label of the program called NAME or SPACE/NAME. */
function findProgram(name: string, supervisor: Supervisor | undefined, config: Config): string {
  if (supervisor === undefined)
    throw new ControlError('starting', {}, 'meup up has not started its programs yet. Try again.')
  const isMeant = (each: Parameters<typeof isProgramNamed>[1]): boolean => isProgramNamed(name, each)
  const running = supervisor.list().flatMap((each) => (isMeant(each.name) ? [each.name.label] : []))
  const [label, ...others] = running
  if (others.length > 0) throw new UsageError('ambiguous_program', { name, programs: running })
  if (label !== undefined) return label
  const programs = listPrograms(config)
  if (programs.some(isMeant)) throw new UsageError('token_missing', { participant: name, state: 'revoked' })
  const participants = config.spaces.flatMap(({ config: { name: space, participants } }) =>
    Object.entries(participants).map(([participant, { kind }]) => ({ space, participant, kind })),
  )
  const known = participants.find(isMeant)
  const labels = programs.map((each) => each.label)
  if (known !== undefined) {
    const details = { name, kind: known.kind, programs: formatNames(labels) }
    throw new Failure('no_program', details)
  }
  const meant = suggest(name, [...labels, ...participants.map(({ participant }) => participant)])
  throw meant === undefined
    ? unknownNameError('program', name, labels)
    : new Failure('unknown_participant', { name, meant })
}
