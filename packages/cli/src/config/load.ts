import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { imitationsIn } from '@meup/protocol'
import { getRemedy } from '../failure/failure.js'
import { type Config, toAuth, toGateway, toSpaceEntry } from './config.js'
import { ConfigError } from './config-error.js'
import { type FileShared, type FileSpace, OneSpaceFile, SeveralSpacesFile } from './schema.js'
import { readSecrets } from './secrets.js'
import { toStorage } from './storage.js'
import { isMapValue, validateConfig } from './validate.js'
import {
  type ConfigFinding,
  expandVariables,
  locate,
  plainValue,
  readYaml,
  type YamlSource,
} from './yaml-source.js'

/** A configuration with the positions of its settings in the file. */
export interface ConfigFile {
  readonly config: Config
  readonly source: YamlSource
}

interface ReadOptions {
  /** File name for error messages, and base of relative paths; the file need not exist. */
  readonly file: string
  readonly env: NodeJS.ProcessEnv
}

/** Reads a configuration file. Throws `ConfigError` with all mistakes. */
export function loadConfig(path: string, env: NodeJS.ProcessEnv = process.env): Config {
  return readConfig(path, env).config
}

/** Like `loadConfig`, with the positions of the settings. */
export function readConfig(path: string, env: NodeJS.ProcessEnv = process.env): ConfigFile {
  const secrets = readSecrets(dirname(resolve(path)))
  return parseFile(readConfigText(path), { file: path, env: { ...secrets, ...env } })
}

/** Like `loadConfig`, from a text. */
export function parseConfig(text: string, options: ReadOptions): Config {
  return parseFile(text, options).config
}

export function parseFile(text: string, options: ReadOptions): ConfigFile {
  const { source, problems, readable } = readYaml(text)
  if (!readable) throw new ConfigError(options.file, problems)

  const reported = new Set<string>()
  const report = ({ path, message, at }: ConfigFinding) => {
    const name = path.join('.')
    // Reports only the first mistake at a path, because further ones usually follow from it.
    if (!reported.has(name)) problems.push({ ...locate(source, path, at), path: name, message })
    reported.add(name)
  }
  expandVariables(source.document.contents, options.env).forEach(report)
  const checked = check(plainValue(source), report)
  for (const [name, space] of checked?.spaces ?? []) {
    const inSpace = checked?.several ? ['spaces', name] : []
    const place = [...inSpace, 'participants']
    for (const [id, imitated] of imitationsIn(Object.keys(space.participants ?? {}))) {
      report({
        path: [...place, id],
        message: `could be taken for ${imitated}; choose another name`,
        at: 'key',
      })
    }
    const { frontDesk, participants = {} } = space
    if (frontDesk !== undefined && !Object.hasOwn(participants, frontDesk)) {
      const message = `names ${frontDesk}, which is not a participant; name one of ${Object.keys(participants).join(', ')}`
      report({ path: [...inSpace, 'frontDesk'], message, at: 'value' })
    }
  }
  if (checked === undefined || problems.length > 0) throw new ConfigError(options.file, problems)

  const { shared, spaces, several } = checked
  const file = resolve(options.file)
  const directory = dirname(file)
  const config: Config = {
    file,
    directory,
    gateway: toGateway(shared.gateway ?? {}),
    storage: toStorage(shared.storage ?? { kind: 'sqlite' }, directory),
    auth: toAuth(shared.auth ?? {}, directory),
    spaces: spaces.map(([name, space]) => toSpaceEntry(name, space, directory)),
    several,
  }
  return { config, source }
}

interface Checked {
  readonly shared: FileShared
  readonly spaces: readonly (readonly [name: string, FileSpace])[]
  readonly several: boolean
}

function check(value: unknown, report: (finding: ConfigFinding) => void): Checked | undefined {
  if (isMapValue(value) && Object.hasOwn(value, 'spaces')) {
    if (!validateConfig(SeveralSpacesFile, value, report)) return undefined
    return { shared: value, spaces: Object.entries(value.spaces), several: true }
  }
  if (!validateConfig(OneSpaceFile, value, report)) return undefined
  return { shared: value, spaces: [[value.space, value]], several: false }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: `there is no such file; ${getRemedy('no_config')}`,
  ENOENT_EMPTY: `there is no such file, the folder is empty; ${getRemedy('no_config')}`,
  EACCES: `this user may not read it; ${getRemedy('forbidden_file')}`,
  EISDIR: 'this is a folder; name the file in it',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'this is not UTF-8 text; save it as that',
}

/** The text of a configuration file. Throws `ConfigError`. */
export function readConfigText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const isLost = code === 'ENOENT' && isEmpty(dirname(resolve(path)))
    const reason = reasons[isLost ? 'ENOENT_EMPTY' : code] ?? `cannot be read: ${message}`
    throw new ConfigError(path, [{ line: 0, column: 0, path: '', message: reason }], {
      cause: error,
    })
  }
}

const isEmpty = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length === 0
