import type { Config, SpaceEntry } from '../config/config.js'

/** Another version of a configuration, as far as what runs can go over to it. */
export interface Applicable {
  readonly config: Config
  /** What else it changes: that takes a new start. */
  readonly later: readonly string[]
}

/** Who may enter and do what changes while a gateway runs; its address, its log and its spaces do not. */
export function applicable(current: Config, next: Config): Applicable {
  const later = (['gateway', 'storage', 'several'] as const).filter((key) => !isSame(current[key], next[key]))
  const named = new Map(next.spaces.map((entry) => [entry.config.name, entry]))
  const running = current.spaces.map(({ config }) => config.name)
  const added = [...named.keys()].filter((name) => !running.includes(name))
  const removed = running.filter((name) => !named.has(name))
  const spaces = current.spaces.map((entry) => named.get(entry.config.name) ?? entry)
  return {
    config: { ...current, auth: next.auth, spaces },
    later: [
      ...later.map((key) => labels[key]),
      ...added.map((name) => `the new space ${name}`),
      ...removed.map((name) => `the end of the space ${name}`),
    ],
  }
}

const labels = {
  gateway: 'gateway',
  storage: 'storage',
  several: 'space or spaces',
} as const

/** What differs between two versions, in words for people. */
export function changesBetween(current: Config, next: Config): string[] {
  return next.spaces.flatMap((entry) => {
    const { name } = entry.config
    const before = current.spaces.find(({ config }) => config.name === name)
    if (before === undefined) return []
    const where = next.spaces.length > 1 ? `${name}: ` : ''
    return [...peopleChanges(before, entry), ...settingChanges(before, entry)].map((change) => where + change)
  })
}

function peopleChanges(before: SpaceEntry, after: SpaceEntry): string[] {
  const [had, has] = [before.config.participants, after.config.participants]
  const changed = Object.keys(has).flatMap((id) => {
    const [was, is] = [had[id], has[id]]
    if (was === undefined) return [`${id} was added`]
    const aspects = [
      ...(isSame(was.kind, is?.kind) ? [] : ['another kind']),
      ...(isSame(was.capabilities, is?.capabilities) ? [] : ['other capabilities']),
      ...(isSame(was.rates, is?.rates) ? [] : ['other rates']),
      ...(isSame(before.programs[id], after.programs[id]) ? [] : ['another program']),
    ]
    return aspects.map((aspect) => `${id} has ${aspect}`)
  })
  const removed = Object.keys(had).filter((id) => !Object.hasOwn(has, id))
  return [...changed, ...removed.map((id) => `${id} was removed`)]
}

const settingChanges = ({ config: was }: SpaceEntry, { config: is }: SpaceEntry): string[] =>
  (['limits', 'reasoning', 'safety', 'mcp', 'defaults', 'guest', 'retention'] as const)
    .filter((key) => !isSame(was[key], is[key]))
    .map((key) => `${key} changed`)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
