import { readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { imitatedBy, ParticipantId } from '@meup/protocol'
import { stringify } from 'yaml'
import type { Config, SpaceEntry } from '../config/config.js'
import { parseConfig, readConfigText } from '../config/load.js'
import { putParticipant } from '../config/put-participant.js'
import { getSecretFolder, readSecrets, writeSecrets } from '../config/secrets.js'
import { replaceFile } from '../config/tokens.js'
import { isMapValue } from '../config/validate.js'
import { plainValue, readYaml } from '../config/yaml-source.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import { unknownNameError } from '../lib/unknown-name.js'
import { type McpParticipant, translateServer } from './import/import-servers.js'
import { findVariables, Translator, UnusableServer } from './import/references.js'

/** An MCP server given on the command line. */
export interface ServerRequest {
  readonly name: string
  /** A URL, or a command split into words. */
  readonly target: { readonly url: string } | { readonly command: readonly string[] }
  /** `NAME=value`, or `NAME` to use the environment's value. */
  readonly env?: readonly string[]
  /** Headers as `Name: value`. */
  readonly header?: readonly string[]
  /** Absent = the file's only space. */
  readonly space?: string
  readonly replace?: boolean
}

export interface WrittenServer {
  readonly participant: McpParticipant
  /** The new configuration; `space`: the space in it that has the server. */
  readonly config: Config
  readonly space: SpaceEntry
  readonly change: 'added' | 'replaced' | 'none'
  /** Whether the program's settings changed, so that a running `meup up` restarts it. */
  readonly isStarted: boolean
  /** Names of variables whose values were written to `.meup/secrets`. */
  readonly secrets: readonly string[]
  /** Differences from the given command or address. */
  readonly notices: readonly string[]
  /** Restores the file and the secrets. Returns `false` unless the server was added, and the file has not changed since. */
  takeBack(): boolean
}

/**
 * Adds a server to a configuration file, atomically, and its secrets to `.meup/secrets`. Never writes a file that would not
 * load. `folder`: base of relative paths. Throws `UsageError`, `ConfigError` and errors of the file system.
 */
export function writeServer(path: string, request: ServerRequest, folder = process.cwd()): WrittenServer {
  const { name, replace = false } = request
  const file = resolve(path)
  const directory = dirname(file)
  const text = readConfigText(file)
  const kept = readSecrets(directory)
  // Placeholders for variables that the gateway's environment may have and this shell lacks.
  const elsewhere = [...findVariables(text).keys()].map((variable) => [variable, 'https://unset.example'])
  const env = { ...Object.fromEntries(elsewhere), ...kept, ...process.env }
  const before = parseConfig(text, { file, env })
  const space = findSpace(before, request.space)
  mustBeUsable(name, space, replace)

  const place = [...(before.several ? ['spaces', space.config.name] : []), 'participants']
  const { old, others } = separate(text, [...place, name])
  const isOwn = (variable: string): boolean =>
    findVariables(old ?? null).has(variable) && !findVariables(others).has(variable)
  const taken = Object.fromEntries(Object.entries(kept).filter(([variable]) => !isOwn(variable)))
  const translator = new Translator({ ...taken, ...process.env })
  const { participant, changes } = translate(request, { folder, directory, translator })
  const { secrets } = translator
  const all = { ...env, ...secrets, ...process.env }
  mustBeSet(participant, all)

  const next = putParticipant(text, {
    place,
    id: name,
    participant: { ...participant, ...keepSettings(old) },
  })
  if (next === undefined) {
    const block = stringify({ [name]: participant }, { lineWidth: 0 }).trimEnd()
    throw new UsageError('aliased_participants', { file, block })
  }
  const config = parseConfig(next, { file, env: all })
  const written = findSpace(config, space.config.name)
  const isStarted = !isDeepStrictEqual(written.programs[name], space.programs[name])
  const isSame = next === text && !isStarted
  const target = realpathSync(file) // Keeps a symbolic link.
  const mode = statSync(target).mode & 0o777
  if (!isSame) {
    writeSecrets(directory, secrets)
    replaceFile(target, next, mode)
  }
  return {
    ...{ participant, config, space: written, isStarted },
    change: isSame ? 'none' : old === undefined ? 'added' : 'replaced',
    ...{ secrets: Object.keys(secrets), notices: changes },
    takeBack() {
      if (old !== undefined || readFileSync(target, 'utf8') !== next) return false
      replaceFile(target, text, mode)
      const added = Object.keys(secrets).filter((variable) => kept[variable] === undefined)
      for (const variable of added) rmSync(join(getSecretFolder(directory), variable), { force: true })
      return true
    },
  }
}

function findSpace({ spaces }: Config, name: string | undefined): SpaceEntry {
  const names = spaces.map(({ config }) => config.name)
  const [first, ...others] = spaces.filter(({ config }) => name === undefined || config.name === name)
  if (first === undefined) throw unknownNameError('space', String(name), names)
  if (others.length > 0) throw new UsageError('ambiguous_space', { spaces: names })
  return first
}

const idPattern = new RegExp(String(ParticipantId.pattern))

function mustBeUsable(name: string, { config: { participants } }: SpaceEntry, replace: boolean): void {
  if (!idPattern.test(name)) throw new UsageError('invalid_name', { name })
  const imitated = imitatedBy(name, Object.keys(participants))
  if (imitated !== undefined) throw new UsageError('imitated_name', { name, other: imitated })
  if (!Object.hasOwn(participants, name)) return
  const kind = participants[name]?.kind
  if (kind !== 'mcp') throw new UsageError('taken_name', { name, kind: String(kind) })
  if (!replace) throw new UsageError('server_exists', { name })
}

/** Splits the file's content into the participant at these keys, and everything else. */
function separate(
  text: string,
  keys: readonly string[],
): { readonly old: unknown; readonly others: unknown } {
  const others = structuredClone(plainValue(readYaml(text).source))
  let map = others
  for (const key of keys.slice(0, -1)) map = isMapValue(map) ? map[key] : undefined
  const name = keys.at(-1) ?? ''
  if (!isMapValue(map) || !Object.hasOwn(map, name)) return { old: undefined, others }
  const { [name]: old } = map
  delete map[name]
  return { old, others }
}

/** Settings to keep when a server is replaced: all but its command or address. */
function keepSettings(old: unknown): object {
  if (!isMapValue(old)) return {}
  const { kind: _, command: __, args, cwd, env, url, headers, ...settings } = old
  return settings
}

function translate(
  { name, target, env = [], header = [] }: ServerRequest,
  options: { readonly folder: string; readonly directory: string; readonly translator: Translator },
) {
  const isUrl = 'url' in target
  if (isUrl && env.length > 0)
    throw new UsageError('misplaced_secret', { option: '--env', target: 'an address', instead: '--header' })
  if (!isUrl && header.length > 0)
    throw new UsageError('misplaced_secret', { option: '--header', target: 'a command', instead: '--env' })
  const server = isUrl
    ? { url: target.url, headers: Object.fromEntries(header.map(readHeader)) }
    : {
        command: target.command,
        env: Object.fromEntries(env.map((given) => readVariable(name, given, options.translator))),
      }
  try {
    return translateServer(name, server, options)
  } catch (error) {
    if (!(error instanceof UnusableServer)) throw error
    throw new UsageError('unusable_server', { name, reason: error.message })
  }
}

/** Parses a header. Errors do not quote the input, which may be a secret. */
function readHeader(given: string): [name: string, value: string] {
  const [, name, value = ''] = /^([^\s:]+):[ \t]*(.*)$/s.exec(given) ?? []
  if (name === undefined) throw invalidValue('--header', 'header')
  return [name, value.trim()]
}

function readVariable(id: string, given: string, translator: Translator): [name: string, value: string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/s.exec(given) ?? []
  if (name === undefined) throw invalidValue('--env', 'variable')
  if (value !== undefined) return [name, value]
  const here = process.env[name]
  if (here === undefined) throw new UsageError('unset_here', { variable: name })
  return [name, `\${${translator.keep(id, name, here)}}`]
}

function mustBeSet(participant: McpParticipant, env: NodeJS.ProcessEnv): void {
  const unset = [...findVariables(participant)].find(
    ([name, { hasDefault }]) => !hasDefault && env[name] === undefined,
  )
  if (unset === undefined) return
  const [name] = unset
  throw new UsageError('unset_in_file', { variable: name })
}
