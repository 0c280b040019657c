import { formatCapability, onOneLine } from '@meup/folds'
import { type Capability, Kind, namespaceOf, type PayloadPattern } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { suggest } from '../config/suggest.js'
import { parseObject } from './options.js'

/** Reads capabilities of a command line: each a kind, or JSON. The gateway validates them. */
export const parseCapabilities = (words: readonly string[]): Capability[] =>
  words.map((word) => (word.startsWith('{') ? (parseObject(word, 'a capability') as Capability) : word))

/** Names of tool arguments that are shell commands. */
const commandArguments = ['command', 'cmd', 'script']

/** The warnings for everybody of a configuration, each with whom it is about. */
export const findConfigWarnings = (config: Pick<Config, 'spaces'>): string[] =>
  config.spaces.flatMap(({ config: { participants, guest } }) =>
    [...Object.entries(participants), ...(guest === undefined ? [] : [['guests', guest] as const])].flatMap(
      ([id, { capabilities }]) => findCapabilityWarnings(capabilities).map((warning) => `${id}: ${warning}`),
    ),
  )

/** Warns about capabilities that allow something else than they seem to. */
export const findCapabilityWarnings = (capabilities: readonly Capability[]): string[] => [
  ...capabilities.flatMap(listKinds).flatMap((kind) => explainKind(kind) ?? []),
  ...findOpenCommands(capabilities),
]

function listKinds(capability: Capability): string[] {
  if (typeof capability === 'string') return [capability]
  return 'kind' in capability ? [capability.kind].flat() : []
}

const knownKinds: readonly string[] = Object.values(Kind)
const knownNames = [...knownKinds, ...new Set(knownKinds.map((kind) => `${namespaceOf(kind)}.*`))]

/** Kinds may be anybody's own, so that a misspelt one is none that is refused. `reasoning/start` is `reasoning.start`. */
function explainKind(kind: string): string | undefined {
  const name = kind.replace(/^!/, '')
  if (name === '*' || name.startsWith('re:') || knownNames.includes(name)) return undefined
  if (name.includes('/')) {
    if (knownNames.includes(`${namespaceOf(name.replace('/', '.'))}.*`)) return undefined
    return onOneLine(`"${name}" is a kind; the tool of that name is {"tool":${JSON.stringify(name)}}`)
  }
  const meant = suggest(name, knownNames)
  return meant === undefined ? undefined : onOneLine(`"${name}" is no kind of MEUP; did you mean "${meant}"?`)
}

/** Globs over shell commands also match what follows `;`. */
const findOpenCommands = (capabilities: readonly Capability[]): string[] =>
  capabilities.flatMap((capability) =>
    commandPatterns(capability)
      .filter(isGlob)
      .map((pattern) => {
        const also = `${pattern.replace(/\*+|\?/g, '')}; rm -rf .`
        return onOneLine(
          `${formatCapability(capability)}: "${pattern}" also allows "${also}"; give whole commands, or "re:" and a regular expression`,
        )
      }),
  )

function commandPatterns(capability: Capability): string[] {
  if (typeof capability === 'string') return []
  const asked =
    'kind' in capability
      ? getField(getField(capability.payload, 'params'), 'arguments')
      : capability.arguments
  return commandArguments
    .flatMap((name) => getField(asked, name) ?? [])
    .filter((pattern) => typeof pattern === 'string')
}

const getField = (pattern: PayloadPattern | undefined, name: string): PayloadPattern | undefined =>
  typeof pattern === 'object' && pattern !== null && !Array.isArray(pattern) ? pattern[name] : undefined

/** Exclusions and regular expressions are not globs. */
const isGlob = (pattern: string): boolean =>
  !/^(?:!|re:|\/\^)|^\/.*\$\/$/s.test(pattern) && /(?<!\\)(?:\\\\)*[*?]/.test(pattern)
