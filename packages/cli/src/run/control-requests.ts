import { suggest } from '@meup/folds'
import type { Config } from '../config/config.js'
import { ControlError, type ControlRequests } from './control-server.js'
import { isNamed, listPrograms } from './list-programs.js'
import type { Supervisor } from './supervisor.js'

interface Controlled {
  /** Absent = the programs are not started yet. */
  readonly getSupervisor: () => Supervisor | undefined
  readonly getConfig: () => Config
}

/** A program of `meup up`, as the request `programs` lists it. Times are RFC 3339. */
export interface ProgramReport {
  readonly space: string
  readonly participant: string
  readonly state: string
  readonly since: string
  /** Failures in the last ten minutes. */
  readonly count: number
  readonly lastError?: string
  readonly nextTry?: string
}

/** What `meup up` does on request. */
export function createControlRequests({ getSupervisor, getConfig }: Controlled): ControlRequests {
  return {
    /** Lists the programs and how each is doing. */
    programs: () => ({ programs: listReports(getSupervisor()) }),

    /** Restarts those of `names`, whatever their state; none if one of the names is wrong. */
    restart({ names }) {
      if (!Array.isArray(names) || names.length === 0 || names.some((name) => typeof name !== 'string'))
        throw new ControlError('invalid_request', { expected: 'names: a list of names' })
      const supervisor = getSupervisor()
      if (supervisor === undefined) throw new ControlError('starting', {})
      const labels = [...new Set(names.map((name) => findProgram(name, supervisor, getConfig())))]
      for (const label of labels) supervisor.restart(label)
      return { restarted: labels }
    },
  }
}

const listReports = (supervisor: Supervisor | undefined): ProgramReport[] =>
  (supervisor?.list() ?? []).map(({ name: { space, participant }, status }) => ({
    ...{ space, participant, state: status.state, count: status.count },
    since: new Date(status.since).toISOString(),
    ...(status.lastError !== undefined && { lastError: status.lastError }),
    ...(status.nextTryAt !== undefined && { nextTry: new Date(status.nextTryAt).toISOString() }),
  }))

/** The label of the program that NAME or SPACE/NAME stands for. */
function findProgram(name: string, supervisor: Supervisor, config: Config): string {
  const isMeant = (each: Parameters<typeof isNamed>[1]): boolean => isNamed(name, each)
  const running = supervisor.list().flatMap((each) => (isMeant(each.name) ? [each.name.label] : []))
  const [label, ...others] = running
  if (others.length > 0) throw new ControlError('ambiguous', { name, programs: running })
  if (label !== undefined) return label
  const programs = listPrograms(config)
  if (programs.some(isMeant)) throw new ControlError('no_token', { name })
  const participants = config.spaces.flatMap(({ config: { name: space, participants } }) =>
    Object.entries(participants).map(([participant, { kind }]) => ({ space, participant, kind })),
  )
  const known = participants.find(isMeant)
  const labels = programs.map((each) => each.label)
  if (known !== undefined) throw new ControlError('no_program', { name, kind: known.kind, programs: labels })
  const meant = suggest(name, [...labels, ...participants.map(({ participant }) => participant)])
  throw new ControlError('unknown', { name, programs: labels, ...(meant !== undefined && { meant }) })
}
