import { type Capability, Kind, literalCapabilities, namespaceOf, type PayloadPattern } from '@meup/protocol'
import { formatCapability } from '../describe.js'
import { suggest } from '../suggest.js'
import { onOneLine } from '../text.js'

/** Warns about capabilities that probably do not mean what they say. `participants`: those of the space. */
export const findCapabilityWarnings = (
  capabilities: readonly Capability[],
  participants: readonly string[],
): string[] => [
  ...capabilities.flatMap(listKinds).flatMap((kind) => explainKind(kind) ?? []),
  ...capabilities.flatMap(listAddressees).flatMap((name) => explainAddressee(name, participants) ?? []),
  ...findOpenCommands(capabilities),
]

function listKinds(capability: Capability): string[] {
  if (typeof capability === 'string') return [capability]
  return 'kind' in capability ? [capability.kind].flat() : []
}

const knownKinds: readonly string[] = Object.values(Kind)
const knownNames = [
  ...knownKinds,
  ...literalCapabilities,
  ...new Set(knownKinds.map((kind) => `${namespaceOf(kind)}.*`)),
]

/**
 * Explains a kind that is probably misspelt; it is not refused, because custom kinds are allowed. A kind with `/` is probably
 * the name of a tool, unless a known namespace precedes the `/`.
 */
function explainKind(kind: string): string | undefined {
  const name = kind.replace(/^!/, '')
  if (name === '*' || name.startsWith('re:') || knownNames.includes(name)) return undefined
  if (name.includes('/')) {
    if (knownNames.includes(`${namespaceOf(name.replace('/', '.'))}.*`)) return undefined
    return onOneLine(`"${name}" is a kind; the tool of that name is {"tool":${JSON.stringify(name)}}`)
  }
  const meant = suggest(name, knownNames)
  return meant === undefined
    ? undefined
    : onOneLine(`"${name}" is not a kind of MEUP; did you mean "${meant}"?`)
}

function listAddressees(capability: Capability): string[] {
  if (typeof capability === 'string') return []
  return 'kind' in capability ? [capability.to ?? []].flat() : [capability.tool.replace(/\/.*/s, '')]
}

/** Explains an unknown addressee if a known name is similar; otherwise it may be a participant that is invited later. */
function explainAddressee(name: string, participants: readonly string[]): string | undefined {
  const isPattern = /^re:|[^\w.-]/.test(name)
  const meant = isPattern || participants.includes(name) ? undefined : suggest(name, participants)
  return meant === undefined
    ? undefined
    : onOneLine(`"${name}" is not a participant of this space; did you mean "${meant}"?`)
}

/** Names of tool arguments that are shell commands. */
const commandArguments = ['command', 'cmd', 'script']

/** Warns about globs over shell commands, because they also match what follows `;`. */
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

/** Whether a pattern is a glob, rather than an exclusion or a regular expression. */
const isGlob = (pattern: string): boolean =>
  !/^(?:!|re:|\/\^)|^\/.*\$\/$/s.test(pattern) && /(?<!\\)(?:\\\\)*[*?]/.test(pattern)
