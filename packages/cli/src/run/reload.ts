import type { Config } from '../config/config.js'
import { applicable, changesBetween } from './changes.js'
import type { RunningGateway, Tokens } from './start-gateway.js'

/** What became of a reload, in words for people. */
export interface ReloadReport {
  readonly changes: readonly string[]
  /** What the file changes, but only a new start applies. */
  readonly later: readonly string[]
  /** Mistakes; what has one is left as it was. */
  readonly problems: readonly string[]
}

/** Goes over to what the file says now. One with mistakes changes nothing; tokens are read again all the same. */
export async function reload(running: RunningGateway, read: () => Config): Promise<ReloadReport> {
  const { config, tokens, jwt } = running
  const { next, later, mistakes } = attempt(config, read)
  try {
    const problems = await running.reload(next)
    const changes = [
      ...changesBetween(config, running.config),
      ...tokenChanges(tokens, running.tokens, running.config),
      ...(JSON.stringify(jwt) === JSON.stringify(running.jwt) ? [] : ['auth.jwt or its keys changed']),
    ]
    return { changes, later, problems: [...mistakes, ...problems] }
  } catch (error) {
    return { changes: [], later, problems: [...mistakes, messageOf(error)] }
  }
}

function attempt(current: Config, read: () => Config) {
  try {
    const { config, later } = applicable(current, read())
    return { next: config, later, mistakes: [] }
  } catch (error) {
    return { next: current, later: [], mistakes: messageOf(error).split('\n') }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function tokenChanges(before: Tokens, after: Tokens, { spaces }: Config): string[] {
  return spaces.flatMap(({ config: { name, participants } }) => {
    const [had, has] = [before[name] ?? {}, after[name] ?? {}]
    const where = spaces.length > 1 ? `${name}: ` : ''
    return Object.keys(participants)
      .filter((id) => had[id] !== has[id] && had[id] !== undefined)
      .map((id) => `${where}${id}'s token was ${has[id] === undefined ? 'revoked' : 'replaced'}`)
  })
}
