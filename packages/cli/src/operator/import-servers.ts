import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defaultGuard, guarded, isObject } from '@meup/folds'
import { imitatedBy, ParticipantId } from '@meup/protocol'
import { UsageError } from '../lib/exit.js'

/** Servers of a file with `mcpServers`, as of a program that speaks MCP. */
export interface ImportedServers {
  /** Participants as space.yaml has them, by id. */
  readonly participants: Readonly<Record<string, object>>
  /** Values that look like secrets, by the environment variables that stand for them in space.yaml. */
  readonly secrets: Readonly<Record<string, string>>
  /** What each server runs or is, and what it gets of this machine's environment. */
  readonly uses: readonly ServerUse[]
  /** What differs from the file, a line each. */
  readonly notices: readonly string[]
}

interface ServerUse {
  readonly id: string
  /** The command with its arguments, or the address. */
  readonly target: string
  /** Whether it is elsewhere: what it gets leaves this machine. */
  readonly isRemote: boolean
  /** Variables of the environment whose values it gets because the file says so. */
  readonly variables: readonly string[]
}

export const noServers: ImportedServers = { participants: {}, secrets: {}, uses: [], notices: [] }

/** Reads the servers of a file. `taken`: ids that they may not have. Throws `UsageError`. */
export function importServers(path: string, taken: readonly string[]): ImportedServers {
  const folder = dirname(resolve(path))
  const secrets = new Secrets()
  const participants: Record<string, McpParticipant> = {}
  const notices: string[] = []
  for (const [name, server] of Object.entries(readServers(path))) {
    const id = chooseId(name, [...taken, ...Object.keys(participants)])
    const participant = isObject(server) ? toParticipant(id, server, folder, secrets) : undefined
    if (isObject(server) && server.disabled === true)
      notices.push(`${name} is left out: it is disabled there`)
    else if (participant === undefined)
      notices.push(`${name} is left out: it has neither a command nor a url`)
    else {
      participants[id] = participant
      if (id !== name) notices.push(`${name} is called ${id}`)
    }
  }
  if (Object.keys(participants).length === 0) throw new UsageError(`${path} has no servers to import`)
  const uses = Object.entries(participants).map(([id, each]) => toUse(id, each, secrets.values))
  return { participants, secrets: secrets.values, uses, notices }
}

/** A participant of kind `mcp` as space.yaml has it. */
type McpParticipant =
  | { readonly kind: 'mcp'; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly kind: 'mcp'
      readonly command: string
      readonly args?: readonly string[]
      readonly cwd?: string
      readonly env?: Readonly<Record<string, string>>
    }

/** `secrets`: those of the file, which stand in variables of our own. */
function toUse(id: string, participant: McpParticipant, secrets: ImportedServers['secrets']): ServerUse {
  const named = [...JSON.stringify(participant).matchAll(references)].map(([, name = '']) => name)
  const variables = [...new Set(named)].filter((name) => !Object.hasOwn(secrets, name))
  const isRemote = 'url' in participant
  const target = isRemote ? participant.url : [participant.command, ...(participant.args ?? [])].join(' ')
  return { id, target, isRemote, variables }
}

function readServers(path: string): Readonly<Record<string, unknown>> {
  try {
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isObject(file) && isObject(file.mcpServers)) return file.mcpServers
  } catch (error) {
    throw new UsageError(`${path} cannot be imported: ${(error as Error).message}`)
  }
  throw new UsageError(`${path} has no mcpServers`)
}

const idPattern = new RegExp(String(ParticipantId.pattern))

/** An id like the name of the server, which no other participant has or could be taken for. */
function chooseId(name: string, taken: readonly string[]): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
  const base = plain.slice(0, 60) || 'server'
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`
    if (idPattern.test(id) && !taken.includes(id) && imitatedBy(id, taken) === undefined) return id
  }
}

type Server = Readonly<Record<string, unknown>>

function toParticipant(
  id: string,
  server: Server,
  folder: string,
  secrets: Secrets,
): McpParticipant | undefined {
  const { command, url = server.serverUrl } = server
  if (typeof url === 'string') {
    const headers = secrets.replaceIn(id, textsIn(server.headers))
    const address = secrets.replace(id, 'url', url)
    return { kind: 'mcp', url: address, ...(Object.keys(headers).length > 0 && { headers }) }
  }
  if (typeof command !== 'string') return undefined
  const given = Array.isArray(server.args) ? server.args.map(String) : []
  const args = given.map((arg, at) => secrets.replaceInArgument(id, given[at - 1] ?? 'arg', arg))
  const env = secrets.replaceIn(id, textsIn(server.env))
  const isRelative = [command, ...given].some((word) => /^\.\.?\//.test(word))
  const cwd = typeof server.cwd === 'string' ? resolve(folder, server.cwd) : isRelative ? folder : undefined
  return {
    kind: 'mcp',
    command: command.startsWith('.') ? resolve(cwd ?? folder, command) : literal(command),
    ...(args.length > 0 && { args }),
    ...(cwd !== undefined && { cwd }),
    ...(Object.keys(env).length > 0 && { env }),
  }
}

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([name, text]) => [name, String(text)]))

/** What names say that their values are secret. */
const secretName = /token|secret|passw|api.?key|access.?key|private.?key|credential|authorization|cookie/i
/** An argument that has a name itself: `--token=…`, `TOKEN=…`, `X-Api-Key: …`. */
const named = /^([\w.-]+)(=|: *)(.+)$/s
/** `$${` stands for `${`. */
const references = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g

const looksSecret = (name: string, text: string): boolean =>
  text !== '' && (secretName.test(name) || guarded(text, defaultGuard) !== text)

/** Keeps secrets out of a file: environment variables stand for them. */
class Secrets {
  readonly values: Record<string, string> = {}

  replaceIn(id: string, texts: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, this.replace(id, name, text)]),
    )
  }

  /** `before`: the argument before it. */
  replaceInArgument(id: string, before: string, given: string): string {
    const [, name = '', sign = '', value = ''] = named.exec(given) ?? []
    if (looksSecret(name, value)) return `${name}${sign}${this.replace(id, name, value)}`
    return this.replace(id, given.startsWith('-') ? 'arg' : before, given)
  }

  /** The text for space.yaml; `name`: what it is the value of. */
  replace(id: string, name: string, given: string): string {
    // Other programs write ${env:NAME}, and ${input:name} for what they ask.
    const text = given.replace(/\$\{(?:env|input):([^}]+)\}/g, (_, of: string) => `\${${toVariable(of)}}`)
    if (text.search(references) >= 0) return text
    return looksSecret(name, text) ? `\${${this.#keep(id, name, text)}}` : literal(text)
  }

  #keep(id: string, name: string, value: string): string {
    const own = toVariable(name)
    const isFree = (variable: string): boolean => (this.values[variable] ?? value) === value
    const wanted = /^[A-Z_]+_[A-Z_]+$/.test(own) && isFree(own) ? own : toVariable(`${id}_${name}`)
    let variable = wanted
    for (let number = 2; !isFree(variable); number++) variable = `${wanted}_${number}`
    this.values[variable] = value
    return variable
  }
}

const literal = (text: string): string => text.replaceAll('${', () => '$${')

function toVariable(name: string): string {
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase()
  return /^[A-Z_]/.test(word) ? word : `_${word}`
}
