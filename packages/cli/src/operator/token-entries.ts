import type { Config } from '../config/config.js'
import { readTokenFile, type TokenState, tokenFile, tokenWarnings } from '../config/token-file.js'
import { UsageError } from '../exit.js'

/** A participant and its token, without the token. */
export interface TokenEntry {
  readonly space: string
  readonly participant: string
  readonly kind: string
  /** Absolute path. */
  readonly file: string
  readonly state: TokenState['state']
  /** What works but should not stay so, or what keeps it from being used. */
  readonly warnings: readonly string[]
}

export interface Selection {
  /** Absent = every space. */
  readonly space?: string
  /** Absent = every participant. */
  readonly participant?: string
}

/** The tokens of a configuration. Throws `UsageError` where the selection is of nothing. */
export function tokenEntries(config: Config, { space, participant }: Selection): TokenEntry[] {
  const names = config.spaces.map((entry) => entry.config.name)
  if (space !== undefined && !names.includes(space)) {
    throw new UsageError(`there is no space ${space}; the file has ${names.join(', ')}`)
  }
  const entries = config.spaces
    .filter((entry) => space === undefined || entry.config.name === space)
    .flatMap(({ config: { name, participants } }) =>
      Object.entries(participants).map(([id, { kind }]) => {
        const file = tokenFile(config.directory, id, config.several ? name : '')
        return { space: name, participant: id, kind, file, ...stateOf(file) }
      }),
    )
  if (participant === undefined) return entries
  const chosen = entries.filter((entry) => entry.participant === participant)
  if (chosen.length > 0) return chosen
  const known = [...new Set(entries.map((entry) => entry.participant))]
  throw new UsageError(`there is no participant ${participant}; the file has ${known.join(', ')}`)
}

/** The one that is meant. Throws `UsageError` where several spaces have a participant of this name. */
export function tokenEntry(config: Config, selection: Required<Pick<Selection, 'participant'>> & Selection) {
  const entries = tokenEntries(config, selection)
  const [entry] = entries
  if (entry === undefined || entries.length > 1) {
    const spaces = entries.map(({ space }) => space)
    throw new UsageError(`${selection.participant} is in ${spaces.join(' and ')}; say which with --space`)
  }
  return entry
}

function stateOf(file: string): Pick<TokenEntry, 'state' | 'warnings'> {
  const read = readTokenFile(file)
  if (read.state === 'valid') return { state: 'valid', warnings: tokenWarnings(file, read.token) }
  return { state: read.state, warnings: read.state === 'unusable' ? [read.problem] : [] }
}
