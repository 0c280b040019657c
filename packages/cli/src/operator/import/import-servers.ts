import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { brief, isObject, onOneLine } from '@meup/folds'
import { imitatedBy, omitUndefined, ParticipantId } from '@meup/protocol'
import { stringify } from 'yaml'
import { ConfigError } from '../../config/config-error.js'
import { parseConfig } from '../../config/load.js'
import { UsageError } from '../../lib/exit.js'
import { findVariables, Translator, UnusableServer } from './references.js'
import { type InputDescription, readServerFile } from './server-file.js'
import { splitWords } from './split-words.js'

/** Servers imported from configuration files of MCP clients. */
export interface ImportedServers {
  /** Participants for space.yaml, by id. */
  readonly participants: Readonly<Record<string, object>>
  /** Values that look like secrets, by the variable that replaces them in space.yaml. */
  readonly secrets: Readonly<Record<string, string>>
  /** Values that the file's client would ask its user for, by variable. */
  readonly inputs: Readonly<Record<string, InputDescription>>
  /** Variables that have no default, and are neither secrets nor inputs. */
  readonly variables: readonly string[]
  /** Command or address of each server, and the environment variables passed to it. */
  readonly uses: readonly ServerUse[]
  /** Differences from the imported files, one per line. */
  readonly notices: readonly string[]
}

interface ServerUse {
  readonly id: string
  /** The command line, or the address. */
  readonly target: string
  /** Whether the server is on another machine, so that its variables leave this one. */
  readonly isRemote: boolean
  /** Names of environment variables passed to the server. */
  readonly variables: readonly string[]
}

export const noServers: ImportedServers = {
  participants: {},
  secrets: {},
  inputs: {},
  variables: [],
  uses: [],
  notices: [],
}

interface ImportOptions {
  /** Ids that are already in use. */
  readonly taken: readonly string[]
  /** Absolute path of the space's folder. */
  readonly directory: string
}

/** Imports the servers of several files. Omits a server that cannot be a participant, with a notice. Throws `UsageError`. */
export function importServers(
  paths: readonly string[],
  { taken, directory }: ImportOptions,
): ImportedServers {
  const translator = new Translator()
  const participants: Record<string, McpParticipant> = {}
  const inputs: Record<string, InputDescription> = {}
  const notices: string[] = []
  const seen = new Set<string>()
  const unused = new Set<string>()
  for (const path of paths) {
    const file = readServerFile(path, directory)
    notices.push(...file.notices)
    for (const { name, value, locate } of file.servers) {
      const same = JSON.stringify([name, value])
      if (seen.has(same)) continue
      seen.add(same)
      const id = chooseId(name, [...taken, ...Object.keys(participants)])
      try {
        const { participant, changes } = translateServer(id, value, { ...file, directory, translator })
        participants[id] = participant
        if (id !== name) notices.push(`${onOneLine(name)} is called ${id}`)
        notices.push(...changes.map((change) => `${id}: ${change}`))
        for (const key of listUnused(value)) unused.add(key)
      } catch (error) {
        if (!(error instanceof UnusableServer)) throw error
        const server = brief(onOneLine(name), 100)
        notices.push(`${locate(...error.keys)} ${server} is left out: ${error.message}`)
      }
    }
    for (const [variable, id] of translator.inputs)
      inputs[variable] ??= file.inputs.get(id) ?? { description: id, isPassword: true }
  }
  if (Object.keys(participants).length === 0)
    throw new UsageError('no_usable_servers', { reasons: notices.join('\n') })
  if (unused.size > 0)
    notices.push(`these settings are not used: ${brief([...unused].sort().join(', '), 200)}`)
  const { secrets } = translator
  const needed = [...findVariables(participants)].filter(([, { hasDefault }]) => !hasDefault)
  const isKnown = (name: string) => Object.hasOwn(secrets, name) || Object.hasOwn(inputs, name)
  return {
    participants,
    secrets: keepUsed(secrets, participants),
    inputs: keepUsed(inputs, participants),
    variables: needed.map(([name]) => name).filter((name) => !isKnown(name)),
    uses: Object.entries(participants).map(([id, each]) => toUse(id, each, secrets)),
    notices,
  }
}

/** Omits values that only omitted servers use. */
function keepUsed<Value>(values: Record<string, Value>, participants: object): Record<string, Value> {
  const used = findVariables(participants)
  return Object.fromEntries(Object.entries(values).filter(([name]) => used.has(name)))
}

interface TranslateOptions {
  /** Absolute base of relative paths, and value of `${workspaceFolder}`. */
  readonly folder: string
  /** Absolute path of the space's folder. */
  readonly directory: string
  readonly translator: Translator
}

/** Converts a server to a participant. Throws `UnusableServer`. */
export function translateServer(id: string, server: unknown, options: TranslateOptions): Translated {
  const translated = toParticipant(id, readShape(server), options)
  mustBeValid(id, translated.participant)
  return translated
}

/** A participant of kind `mcp`, as in space.yaml. */
export type McpParticipant =
  | { readonly kind: 'mcp'; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly kind: 'mcp'
      readonly command: string
      readonly args?: readonly string[]
      readonly cwd?: string
      readonly env?: Readonly<Record<string, string>>
    }

/** Describes what a server runs and gets. `secrets`: variables that replace secrets; they do not come from the environment. */
function toUse(id: string, participant: McpParticipant, secrets: ImportedServers['secrets']): ServerUse {
  const variables = [...findVariables(participant).keys()].filter((name) => !Object.hasOwn(secrets, name))
  const isRemote = 'url' in participant
  const target = isRemote ? participant.url : [participant.command, ...(participant.args ?? [])].join(' ')
  return { id, target, isRemote, variables }
}

const idPattern = new RegExp(String(ParticipantId.pattern))

/** Derives an id from the server's name that is free and not confusable with another participant's. */
function chooseId(name: string, taken: readonly string[]): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
  const own = plain.slice(0, 50) || 'server'
  const base = imitatedBy(own, []) === undefined ? own : `mcp-${own}`
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`
    if (idPattern.test(id) && !taken.includes(id) && imitatedBy(id, taken) === undefined) return id
  }
}

/** A server's settings, independent of the file's format. */
interface ServerShape {
  readonly command: string | undefined
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** Supported keys; the others are settings of the client that the file belongs to. */
const usedKeys = new Set(
  'type transport command args env environment env_vars cwd url httpUrl serverUrl headers http_headers env_http_headers bearer_token_env_var disabled enabled source'.split(
    ' ',
  ),
)

const listUnused = (server: unknown): string[] =>
  Object.keys(isObject(server) ? server : {}).filter((key) => !usedKeys.has(key))

const httpTypes = ['http', 'https', 'streamable-http', 'streamablehttp', 'streamable_http', 'remote']
const sseAdvice =
  'only Streamable HTTP is spoken here; ask for its address in the documentation of the server, which often ends in /mcp, then: meup add <name> <url>'

/** Parses a server of any supported format. Throws `UnusableServer`. */
function readShape(server: unknown): ServerShape {
  if (!isObject(server)) throw new UnusableServer('it is not an object')
  if (server.disabled === true || server.enabled === false)
    throw new UnusableServer('it is disabled there', server.disabled === true ? 'disabled' : 'enabled')
  const { command, url: plainUrl } = server
  const nested = isObject(command) ? command : {}
  const words: readonly unknown[] = Array.isArray(command) ? command : [nested.path ?? command]
  const [program, ...first] = words
  const url = readText(server.httpUrl ?? plainUrl ?? server.serverUrl, 'url')
  const kind = String(server.type ?? server.transport ?? '').toLowerCase()
  const isCommand = ['stdio', 'local'].includes(kind)
  if (!isCommand && url !== undefined) mustBeHttp(kind, url)
  return {
    command: url !== undefined && !isCommand ? undefined : readText(program, 'command'),
    args: [...first, ...readList(server.args ?? nested.args, 'args')].map((arg) => String(arg)),
    env: {
      ...Object.fromEntries(readList(server.env_vars, 'env_vars').map((name) => [name, `\${${name}}`])),
      ...readTexts(server.env ?? server.environment ?? nested.env, 'env'),
    },
    cwd: readText(server.cwd, 'cwd'),
    url: isCommand ? undefined : url,
    headers: readHeaders(server),
  }
}

function mustBeHttp(kind: string, url: string): void {
  const key = kind === '' ? 'url' : 'type'
  const isSse = kind === 'sse' || (kind === '' && /\/sse\/?$/.test(url.split(/[?#]/)[0] ?? ''))
  if (isSse) throw new UnusableServer(`it speaks HTTP with SSE, and ${sseAdvice}`, key)
  if (kind !== '' && !httpTypes.includes(kind))
    throw new UnusableServer(`its type is ${kind}; servers run by a command or speak Streamable HTTP`, key)
}

function readHeaders(server: Readonly<Record<string, unknown>>): Record<string, string> {
  const { bearer_token_env_var: bearer } = server
  const named = Object.entries(readTexts(server.env_http_headers, 'env_http_headers'))
  return {
    ...readTexts(server.headers ?? server.http_headers, 'headers'),
    ...Object.fromEntries(named.map(([name, variable]) => [name, `\${${variable}}`])),
    ...(typeof bearer === 'string' && { Authorization: `Bearer \${${bearer}}` }),
  }
}

function readText(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new UnusableServer(`${key} must be text`, key)
}

function readList(value: unknown, key: string): string[] {
  const list: readonly unknown[] = Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : [value]
  if (list.some((each) => typeof each === 'object'))
    throw new UnusableServer(`${key} must be a list of texts`, key)
  return list.map(String)
}

/** Reads a map of texts, such as `env`; `null` counts as absent. */
function readTexts(value: unknown, key: string): Record<string, string> {
  const entries = Object.entries(isObject(value) ? value : {}).filter(([, text]) => text !== null)
  const odd = entries.find(([, text]) => typeof text === 'object')
  if (odd !== undefined) throw new UnusableServer(`${key}.${odd[0]} must be text`, key, odd[0])
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]))
}

interface Translated {
  readonly participant: McpParticipant
  /** Differences from the imported file. */
  readonly changes: readonly string[]
}

/** Converts parsed settings to a participant. Throws `UnusableServer`. */
function toParticipant(
  id: string,
  shape: ServerShape,
  { folder, directory, translator }: TranslateOptions,
): Translated {
  const { url, env, headers } = shape
  if (url !== undefined) {
    const translated = translator.translateAll(id, headers, folder, 'headers')
    const address = translator.translate(id, 'url', url, folder)
    const participant = {
      kind: 'mcp' as const,
      url: address,
      ...(isFilled(translated) && { headers: translated }),
    }
    return { participant, changes: [] }
  }
  const { command, args: given, changes } = readCommand(shape, folder)
  const args = given.map((arg, at) => translator.translateArgument(id, given[at - 1] ?? 'arg', arg, folder))
  const variables = translator.translateAll(id, env, folder, 'env')
  const isRelative = [command, ...given].some((word) => /^\.\.?\//.test(word))
  const own = shape.cwd === undefined ? undefined : translator.translate(id, 'cwd', shape.cwd, folder)
  const isElsewhere = own !== undefined || folder !== directory
  const implied = isRelative && isElsewhere ? folder : undefined
  const cwd = own === undefined || own.startsWith('${') ? (own ?? implied) : resolve(folder, own)
  const program = command.startsWith('.') && isElsewhere ? resolve(cwd ?? folder, command) : command
  return {
    participant: {
      kind: 'mcp',
      command: translator.translate(id, 'command', program, folder),
      ...(args.length > 0 && { args }),
      ...omitUndefined({ cwd }),
      ...(isFilled(variables) && { env: variables }),
    },
    changes,
  }
}

const isFilled = (texts: object): boolean => Object.keys(texts).length > 0

/** Reads the command and its arguments. Splits a command line into words, and omits `cmd /c`, which only Windows needs. */
function readCommand({ command, args }: ServerShape, folder: string) {
  if (command === undefined) throw new UnusableServer('it has neither a command nor a url')
  const changes: string[] = []
  let words = [command, ...args]
  const isPath = /^(?:[A-Za-z]:\\|\\\\)/.test(command) || existsSync(resolve(folder, command))
  if (/\s/.test(command.trim()) && !isPath) {
    const split = splitWords(command)
    if (split === undefined)
      throw new UnusableServer('its command needs a shell; put it into a script', 'command')
    words = [...split, ...args]
    changes.push(`its command is split into words: ${split.join(' ')}`)
  }
  const [program = '', option = '', ...rest] = words
  const isCmd = /^(?:.*[\\/])?cmd(?:\.exe)?$/i.test(program) && /^\/c$/i.test(option)
  if (isCmd && process.platform !== 'win32' && rest[0] !== undefined) {
    words = rest
    changes.push(`it runs ${rest[0]} without ${program} ${option}, which only Windows needs`)
  }
  const [first = '', ...others] = words
  return { command: first.trim(), args: others, changes }
}

/** Validates a participant like space.yaml does, so that the error names its place in the imported file. */
function mustBeValid(id: string, participant: McpParticipant): void {
  const variables = [...findVariables(participant).keys()].map((name) => [name, name])
  // Variables are unknown here, so placeholders are validated in their place.
  const env = Object.fromEntries(variables)
  const plain =
    'url' in participant && /^\$\{/.test(participant.url) ? { ...participant, url: 'http://x/' } : participant
  const text = stringify({ version: 1, space: 'demo', participants: { [id]: plain } })
  try {
    parseConfig(text, { file: 'space.yaml', env })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [problem] = error.problems
    const { path = '', message = error.message } = problem ?? {}
    const [, ...keys] = path.slice(`participants.${id}`.length).split('.')
    throw new UnusableServer([keys.join('.'), message].join(' ').trim(), ...keys)
  }
}
