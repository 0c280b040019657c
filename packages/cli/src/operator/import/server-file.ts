import { basename, dirname, resolve } from 'node:path'
import { brief, isObject, onOneLine } from '@meup/folds'
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { parse as parseToml, TomlError } from 'smol-toml'
import { UsageError } from '../../lib/exit.js'
import { readTextFile } from './read-text.js'

/** The servers in another program's configuration file, not yet translated. */
export interface ServerFile {
  /** Base of relative paths, and value of `${workspaceFolder}`. */
  readonly folder: string
  readonly servers: readonly FoundServer[]
  /** Descriptions for `${input:id}`, by id. */
  readonly inputs: ReadonlyMap<string, InputDescription>
  readonly notices: readonly string[]
}

interface FoundServer {
  readonly name: string
  readonly value: unknown
  /** `file:line:column` of a value in the server, or else of the server itself. */
  locate(...path: readonly string[]): string
}

/** An entry of `inputs` in a VS Code file. */
export interface InputDescription {
  readonly description?: string
  readonly isPassword: boolean
  readonly default?: string
  /** Allowed values. */
  readonly options?: readonly string[]
}

type Json = Readonly<Record<string, unknown>>
type Keys = readonly string[]

interface Parsed {
  readonly root: unknown
  locate(keys: Keys): string
  /** Describes duplicate keys of the object at this path. */
  describeRepeated(keys: Keys): string[]
}

/**
 * Reads servers from a file, recognized by its content rather than its name. `directory`: folder of the new space. Throws
 * `UsageError`.
 */
export function readServerFile(path: string, directory: string): ServerFile {
  const text = readTextFile(path)
  const isJson = /^\s*(?:\{|\/[/*])/.test(text)
  const { root, locate, describeRepeated } = isJson ? parseJson(text, path) : parseTomlFile(text, path)
  const { places, inputs = [], notices = [] } = findPlaces(root, directory) ?? refuse(path, root)
  const servers = places.flatMap((place) =>
    Object.entries(getObject(root, place)).map(([name, value]) => ({
      name,
      value,
      locate: (...keys: Keys) => locate([...place, name, ...keys]),
    })),
  )
  if (servers.length === 0) throw new UsageError('no_servers', { path, reason: 'it has no servers' })
  return {
    ...{ folder: getWorkspace(path), servers, inputs: readInputs(getList(root, inputs)) },
    notices: [...notices, ...places.flatMap(describeRepeated)],
  }
}

/** The workspace folder: clients keep its configuration in a subfolder such as `.vscode`. */
function getWorkspace(path: string): string {
  const folder = dirname(resolve(path))
  return basename(folder).startsWith('.') ? dirname(folder) : folder
}

function parseJson(text: string, path: string): Parsed {
  const errors: ParseError[] = []
  const tree = parseLimited(() => parseTree(text, errors, { allowTrailingComma: true }), path)
  const [error] = errors
  if (tree === undefined || error !== undefined) {
    const reason = error === undefined ? 'no value' : printParseErrorCode(error.error)
    const words = reason.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
    throw new UsageError('damaged_json', {
      place: `${path}:${placeOf(text, error?.offset ?? 0)}`,
      reason: words,
    })
  }
  return {
    root: getNodeValue(tree),
    locate: (keys) => {
      const found = findNearest(tree, keys)
      return `${path}:${placeOf(text, (found.parent?.type === 'property' ? found.parent : found).offset)}`
    },
    describeRepeated: (keys) => {
      const names = findNearest(tree, keys).children?.flatMap(({ children }) => children?.[0] ?? []) ?? []
      return names
        .filter(({ value }, at) => names.findIndex((each) => each.value === value) < at)
        .map(({ value, offset }) => {
          const server = brief(onOneLine(String(value)), 100)
          return `${path}:${placeOf(text, offset)} ${server} is there twice; the last one is taken`
        })
    },
  }
}

/** The node at a path, or its nearest ancestor. The last of duplicate keys wins, as in the parsed value. */
function findNearest(tree: Node, keys: Keys): Node {
  let found = tree
  for (const key of keys) {
    const properties = found.type === 'object' ? (found.children ?? []) : []
    const [, value] = properties.findLast(({ children }) => children?.[0]?.value === key)?.children ?? []
    if (value === undefined) break
    found = value
  }
  return found
}

/** `line:column`, counted from 1. */
function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/)
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}

function parseTomlFile(text: string, path: string): Parsed {
  try {
    const root = parseLimited(() => parseToml(text), path)
    return { root, locate: (keys) => `${path}:${findTable(text, keys)}`, describeRepeated: () => [] }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
    const place = `${path}:${error.line}:${error.column}`
    throw new UsageError('unknown_format', { place, reason: `it is neither JSON nor TOML (${reason})` })
  }
}

/** Approximate position of a value: the TOML parser reports none, so the line of its table is used. */
function findTable(text: string, keys: Keys): string {
  const names = keys.slice(0, 2).map((key) => `["']?${escapeRegExp(key)}["']?`)
  const found = new RegExp(`^\\s*\\[\\s*${names.join('\\s*\\.\\s*')}\\s*\\]`, 'm').exec(text)
  return placeOf(text, found === null ? 0 : text.indexOf('[', found.index))
}

/** Parsers recurse: deep nesting would overflow the stack. */
function parseLimited<Value>(parse: () => Value, path: string): Value {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError('no_servers', { path, reason: 'it is nested too deep' })
  }
}

interface Places {
  /** Paths of the objects that contain servers by name. */
  readonly places: readonly Keys[]
  /** Path of the list of inputs. */
  readonly inputs?: Keys
  readonly notices?: readonly string[]
}

function refuse(path: string, root: unknown): never {
  const keys = isObject(root) ? Object.keys(root).slice(0, 8).join(', ') : ''
  const found = isObject(root) ? (keys === '' ? 'an empty object' : brief(onOneLine(keys), 200)) : 'no object'
  throw new UsageError('unknown_format', { place: path, reason: `it has ${found}` })
}

function findPlaces(root: unknown, directory: string): Places | undefined {
  if (!isObject(root)) return undefined
  if (isObject(root.mcpServers) || hasProjects(root)) return findClaudePlaces(root, directory)
  for (const key of ['context_servers', 'mcp_servers']) if (isObject(root[key])) return { places: [[key]] }
  if (isObject(root.servers)) return { places: [['servers']], inputs: ['inputs'] }
  const { mcp } = root
  if (!isObject(mcp)) return undefined
  if (isObject(mcp.servers)) return { places: [['mcp', 'servers']], inputs: ['mcp', 'inputs'] }
  return Object.values(mcp).some(isServer) ? { places: [['mcp']] } : undefined
}

const isServer = (value: unknown): boolean => isObject(value) && ('command' in value || 'url' in value)

const hasProjects = ({ projects }: Json): boolean =>
  isObject(projects) && Object.values(projects).some((each) => isObject(each) && isObject(each.mcpServers))

/** Finds servers in `~/.claude.json`: the user's, and those of each project. */
function findClaudePlaces(root: Json, directory: string): Places {
  const ofUser: Keys[] = isObject(root.mcpServers) ? [['mcpServers']] : []
  const projects = Object.keys(getObject(root, ['projects'])).filter(
    (name) => Object.keys(getObject(root, ['projects', name, 'mcpServers'])).length > 0,
  )
  const chosen = projects.includes(directory) ? [directory] : projects
  const places = [...ofUser, ...chosen.map((name) => ['projects', name, 'mcpServers'])]
  if (chosen.length === 0 || chosen[0] === directory) return { places }
  const notice = `the servers of all projects in it are added, since none of them is ${directory}: ${chosen.join(', ')}`
  return { places, notices: [brief(onOneLine(notice), 500)] }
}

const getValue = (root: unknown, keys: Keys): unknown =>
  keys.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root)

function getObject(root: unknown, keys: Keys): Json {
  const value = getValue(root, keys)
  return isObject(value) ? value : {}
}

function getList(root: unknown, keys: Keys): readonly unknown[] {
  const value = keys.length === 0 ? undefined : getValue(root, keys)
  return Array.isArray(value) ? value : []
}

function readInputs(inputs: readonly unknown[]): Map<string, InputDescription> {
  return new Map(
    inputs.filter(isObject).map(({ id, description, password, options, default: value }) => [
      String(id),
      {
        isPassword: password === true,
        ...(typeof description === 'string' && { description }),
        ...(typeof value === 'string' && { default: value }),
        ...(Array.isArray(options) && { options: options.map(readOption) }),
      },
    ]),
  )
}

const readOption = (option: unknown): string => String(isObject(option) ? option.value : option)

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
