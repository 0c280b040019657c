import { formatCapability, onOneLine } from '@meup/folds'
import type { Capability, PayloadPattern } from '@meup/protocol'
import { parseObject } from './options.js'

/** Reads capabilities of a command line: each a kind, or JSON. The gateway validates them. */
export const parseCapabilities = (words: readonly string[]): Capability[] =>
  words.map((word) => (word.startsWith('{') ? (parseObject(word, 'a capability') as Capability) : word))

/** Names of tool arguments that are shell commands. */
const commandArguments = ['command', 'cmd', 'script']

/** Warns about globs over shell commands: they also match what follows `;`. */
export const findCapabilityWarnings = (capabilities: readonly Capability[]): string[] =>
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
