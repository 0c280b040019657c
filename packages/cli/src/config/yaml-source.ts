import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import type { ConfigProblem } from './config-error.js'

/** A parsed file, with the positions of its nodes. */
export interface YamlSource {
  readonly document: Document.Parsed
  readonly lines: LineCounter
}

/** Keys and indexes from the root. */
export type YamlPath = readonly string[]

/** A mistake at a value or its key. */
export interface ConfigFinding {
  readonly path: YamlPath
  readonly message: string
  /** Whether to point at the key or the value. A missing key is reported at its map. */
  readonly at: 'key' | 'value'
}

/** Position of a path in the file; lines and columns count from 1. */
export function locate(
  { document, lines }: YamlSource,
  path: YamlPath,
  at: ConfigFinding['at'],
): { line: number; column: number } {
  let node: unknown = document.contents
  let offset = getOffset(node) ?? 0
  for (const [depth, segment] of path.entries()) {
    const child = findChild(node, segment, document)
    if (child === undefined) break
    const key = getOffset(child.key)
    const wantsKey = at === 'key' && depth === path.length - 1
    offset = (wantsKey ? key : getOffset(child.value)) ?? key ?? offset
    node = child.value
  }
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** The node at a path; `undefined` if it is missing. */
function find({ document }: YamlSource, path: YamlPath): { key: unknown; value: unknown } | undefined {
  let found: { key: unknown; value: unknown } | undefined = { key: undefined, value: document.contents }
  for (const segment of path) {
    found = findChild(found.value, segment, document)
    if (found === undefined) return undefined
  }
  return found
}

const getKeyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

const getOffset = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)

/** Finds a child node. As in `plainValue`, the last of duplicate keys wins. */
function findChild(
  node: unknown,
  segment: string,
  document: Document,
): { key: unknown; value: unknown } | undefined {
  const parent = isAlias(node) ? node.resolve(document) : node
  if (isMap(parent)) return parent.items.findLast(({ key }) => getKeyText(key) === segment)
  if (!isSeq(parent)) return undefined
  const item = parent.items[Number(segment)]
  return item === undefined ? undefined : { key: item, value: item }
}

interface Reading {
  readonly source: YamlSource
  readonly problems: ConfigProblem[]
  /** Whether values can be validated in spite of the problems. */
  readonly readable: boolean
}

/** Errors that leave the meaning of the rest of the file intact. */
const recoverableCodes = ['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED']

const advice: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is there twice; keep one of them',
  TAG_RESOLVE_FAILED: 'tags have no meaning here; put text that begins with ! in quotes',
  BAD_ALIAS: 'an alias needs a name; put text that begins with * in quotes',
  MULTIPLE_DOCS: 'a second document begins here; put everything into one',
  NON_STRING_KEY: 'a key must be text',
  TAB_AS_INDENT: 'lines are indented with spaces in YAML; replace the tab',
  UNEXPECTED_TOKEN: 'this does not belong here; put text that holds { } [ ] , : or # in quotes',
}

/** Limits how often aliases may be expanded: enough to share a list, too few for a YAML bomb. */
const maxAliasCount = 1000

/** Parses YAML 1.2, without resolving tags. */
export function readYaml(text: string): Reading {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
  })
  const source = { document, lines }
  const errors: YAMLError[] = [...document.errors, ...document.warnings]
  const problems = errors.map(({ code, message, pos }) =>
    createProblem(source, pos[0], advice[code] ?? `this is not YAML: ${message}`),
  )
  if (errors.some(({ code }) => !recoverableCodes.includes(code))) {
    return { source, problems: removeRepeated(problems), readable: false }
  }
  const fatal = document.contents === null ? [createEmptyFileProblem(source)] : findAliasProblems(source)
  return { source, problems: [...problems, ...fatal], readable: fatal.length === 0 }
}

/** The file as plain values. Throws `ReferenceError` for invalid aliases. */
export function plainValue({ document }: YamlSource): unknown {
  return document.toJS({ maxAliasCount })
}

const createEmptyFileProblem = (source: YamlSource): ConfigProblem =>
  createProblem(source, 0, 'the file is empty; begin with version: 1 and space: <name>')

/** Unresolved aliases, and aliases that expand too often. */
function findAliasProblems(source: YamlSource): ConfigProblem[] {
  const offsets: number[] = []
  const problems: ConfigProblem[] = []
  visit(source.document, {
    Alias(_key, alias) {
      const offset = alias.range?.[0] ?? 0
      offsets.push(offset)
      if (alias.resolve(source.document) !== undefined) return
      const message = `there is no anchor &${alias.source} above; put text that begins with * in quotes`
      problems.push(createProblem(source, offset, message))
    },
  })
  if (problems.length > 0) return problems
  try {
    plainValue(source)
    return []
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    return [createProblem(source, offsets.at(-1) ?? 0, 'aliases repeat too much of the file; write it out')]
  }
}

function createProblem({ lines }: YamlSource, offset: number, message: string): ConfigProblem {
  const { line, col } = lines.linePos(offset)
  return { line, column: col, path: '', message }
}

/** Removes consequential errors: those on the same line as the previous one, or with the same message. */
function removeRepeated(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.filter(({ line, message }, i) => {
    const before = problems[i - 1]
    return before?.line !== line && before?.message !== message
  })
}

/** Matches `$${`, `${…}`, and an unclosed `${`. */
const variableReference = /\$\$\{|\$\{([^}]*)\}|\$\{/g
const variableContent = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/**
 * Expands variables in every text below this node, in place: `${NAME}` becomes its value, `${NAME:-default}` the default if
 * NAME is unset or empty, and `$${` a literal `${`. Keys are not expanded, and values are text, never YAML. Returns the
 * references that could not be expanded.
 */
export function expandVariables(node: unknown, env: NodeJS.ProcessEnv, path: YamlPath = []): ConfigFinding[] {
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) => expandVariables(value, env, [...path, getKeyText(key)]))
  }
  if (isSeq(node)) return node.items.flatMap((item, i) => expandVariables(item, env, [...path, String(i)]))
  if (!isScalar(node) || typeof node.value !== 'string') return []
  const problems: string[] = []
  node.value = expandText(node.value, env, problems)
  return problems.length === 0 ? [] : [{ path, message: problems.join('; '), at: 'value' }]
}

function expandText(text: string, env: NodeJS.ProcessEnv, problems: string[]): string {
  return text.replace(variableReference, (match: string, content: string | undefined) => {
    if (match === '$${') return '${'
    const [, name, fallback] = variableContent.exec(content ?? '') ?? []
    if (name === undefined) {
      problems.push(`write \${NAME} or \${NAME:-default}, not ${match}; $\${ is a literal \${`)
      return ''
    }
    const value = env[name]
    if (fallback !== undefined) return value || fallback
    if (value === undefined) {
      problems.push(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
    }
    return value ?? ''
  })
}

/** Position of a setting in the file. */
interface SettingOrigin {
  readonly line: number
  /** Names of environment variables in the value. */
  readonly variables: readonly string[]
}

const reference = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)/g

/** Finds the position of a setting, and its variables; `undefined` if the file does not contain the setting. */
export function findYamlOrigin(source: YamlSource, path: YamlPath): SettingOrigin | undefined {
  const found = find(source, path)
  if (found === undefined) return undefined
  const names = textsIn(found.value).flatMap((text) => [...text.matchAll(reference)])
  return {
    line: locate(source, path, 'key').line,
    variables: [...new Set(names.flatMap(([, name]) => name ?? []))],
  }
}

/** The text of a setting as written; `${NAME}` stays unexpanded, so that no secret is shown. */
export function readWrittenText(source: YamlSource, path: YamlPath): string {
  return textsIn(find(source, path)?.value).join(' ')
}

function textsIn(node: unknown): string[] {
  if (isScalar(node)) return [node.source ?? String(node.value)]
  if (isSeq(node)) return node.items.flatMap(textsIn)
  return isMap(node) ? node.items.flatMap(({ value }) => textsIn(value)) : []
}
