import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { capabilitySentence, findCapabilityWarnings, isObject } from '@meup/folds'
import {
  type Capability,
  getKindRule,
  Kind,
  literalCapabilities,
  omitUndefined,
  type Subject,
} from '@meup/protocol'
import type { Config, Program } from '../config/config.js'
import { invalidValue } from './exit.js'
import { parseObject } from './options.js'

/** Parses capabilities given as arguments: each is an envelope kind, JSON, or YAML. The gateway validates them. */
export const parseCapabilities = (words: readonly string[]): Promise<Capability[]> =>
  Promise.all(
    words.map(async (word) =>
      word.startsWith('{') ? ((await parseMap(word, '<capability>')) as Capability) : word,
    ),
  )

/** Parses JSON, or YAML as in space.yaml: `{ tool: "files/*" }`. Throws `UsageError`. */
async function parseMap(text: string, name: string): Promise<object> {
  try {
    return parseObject(text, name)
  } catch (error) {
    const { plainValue, readYaml } = await import('../config/yaml-source.js')
    const { source, problems } = readYaml(text)
    const value = problems.length === 0 ? plainValue(source) : undefined
    // In YAML, {tool:"files/*"} is one key without a value.
    if (!isObject(value) || Object.values(value).includes(null)) throw error
    return value
  }
}

/** Warnings about a configuration, each prefixed with the participant's id. */
export const findConfigWarnings = (config: Pick<Config, 'spaces'>): string[] =>
  config.spaces.flatMap(({ config: { participants, guest }, programs }) => [
    ...Object.entries(programs).flatMap(([id, program]) =>
      findProgramWarnings(program).map((warning) => `${id}: ${warning}`),
    ),
    ...[
      ...Object.entries(participants),
      ...(guest === undefined ? [] : [['guests', guest] as const]),
    ].flatMap(([id, { capabilities }]) =>
      // Several capabilities may be wrong in the same way.
      [...new Set(findCapabilityWarnings(capabilities, Object.keys(participants)))].map(
        (warning) => `${id}: ${warning}`,
      ),
    ),
  ])

/** Foreseeable reasons why a program cannot be started. */
function findProgramWarnings(program: Program): string[] {
  if (!('command' in program)) return []
  const { command, cwd } = program
  const [first = '', ...rest] = command.trim().split(/\s+/)
  const isLine = rest.length > 0 && !existsSync(resolve(cwd, command))
  return [
    ...(isLine
      ? [`command is "${command}"; arguments belong in args: command: ${first}, args: [${rest.join(', ')}]`]
      : []),
    ...(existsSync(cwd) ? [] : [`cwd ${cwd} does not exist; make that folder, or correct it`]),
  ]
}

/**
 * Lists the capabilities that `*` does not include: `"*" of ana leaves out observe.targeted (read what is addressed to others),
 * …`.
 */
export function describeStar(config: Pick<Config, 'spaces'>): string[] {
  return config.spaces.flatMap(({ config: { participants } }) =>
    Object.entries(participants).flatMap(([id, { capabilities }]) => {
      const left = [...literalCapabilities].filter((name) => !capabilities.includes(name))
      if (!capabilities.includes('*') || left.length === 0) return []
      const list = left.map((name) => `${name} (${capabilitySentence(name)})`).join(', ')
      return [`"*" of ${id} leaves out ${list}; list what it is to have, too`]
    }),
  )
}

/**
 * Parses an attempted action: `chat`, `chat ben` (to ben), `mcp.request files/edit_file` or `files/edit_file` (a call), or an
 * envelope or a call as JSON or YAML. Throws `UsageError`.
 */
export async function parseAttempt(words: readonly string[]): Promise<Subject> {
  const text = words.join(' ').trim()
  if (text.startsWith('{')) return parseEnvelope(await parseMap(text, '<envelope>'))
  const [first = '', ...targets] = text.split(/\s+/)
  const kind = first.replaceAll('/', '.')
  if (first.includes('/') && getKindRule(kind) === undefined) return toCall(Kind.mcpRequest, first)
  const [target = '', ...more] = targets
  const isCall = kind === Kind.mcpRequest || kind === Kind.mcpProposal
  if (isCall && target.includes('/') && more.length === 0) return toCall(kind, target)
  return { kind, ...(targets.length > 0 && { to: targets }), payload: {} }
}

function parseEnvelope(fields: object): Subject {
  const {
    kind,
    to,
    context,
    payload = {},
    tool,
    arguments: args,
  } = fields as Readonly<Record<string, unknown>>
  if (typeof tool === 'string') return toCall(Kind.mcpRequest, tool, args)
  if (typeof kind !== 'string') throw invalidValue('<envelope>', 'kind')
  return {
    kind: kind.replaceAll('/', '.'),
    ...(to !== undefined && { to: [to].flat().map(String) }),
    ...(typeof context === 'string' && { context }),
    payload,
  }
}

/** A call of the tool `participant/tool`. */
function toCall(kind: string, target: string, args?: unknown): Subject {
  const [owner = '', name = ''] = target.split(/\/(.*)/s)
  const params = { name, ...omitUndefined({ arguments: args }) }
  return { kind, to: [owner], payload: { method: 'tools/call', params } }
}
