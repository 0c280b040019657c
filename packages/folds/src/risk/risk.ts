import { isObject } from '../text.js'
import { findInCode, findInCommand, findInSql } from './destructive.js'

/** The most severe effect that a tool declares; `unknown` = not declared. */
export type ToolEffect = 'reads' | 'writes' | 'deletes' | 'unknown'

/** How carefully a call has to be reviewed. */
export interface Risk {
  /**
   * The class of the call. `destructive`: it may delete, overwrite, or use paths outside of its folder, and requires a
   * deliberate decision.
   */
  readonly level: 'reads' | 'writes' | 'unknown' | 'destructive'
  /** The reason of the level in one sentence. */
  readonly reason: string
}

export interface AssessedCall {
  readonly tool: string
  /** The arguments, masked and cut as in a view. */
  readonly parameters: unknown
  /** Declared effects of the tool, one for each addressee; empty = `unknown`. */
  readonly effects: readonly ToolEffect[]
}

const worstFirst = ['deletes', 'unknown', 'writes', 'reads'] as const

/**
 * Assesses a call by its tool's declared effect, and by its arguments: command lines, SQL, HTTP methods, paths, and the name of
 * the tool. Arguments and names only raise the risk above the declared one.
 */
export function assessRisk({ tool, parameters, effects }: AssessedCall): Risk {
  const effect = worstFirst.find((each) => effects.includes(each)) ?? 'unknown'
  if (effect === 'deletes')
    return { level: 'destructive', reason: 'Its server says that the tool may delete or overwrite.' }
  const found = findInArguments(parameters)
  if (found !== undefined) return { level: 'destructive', reason: found }
  const path = findOutsidePath(parameters)
  if (path !== undefined)
    return effect === 'reads'
      ? { level: 'unknown', reason: `It reads outside its working folder: ${path}.` }
      : { level: 'destructive', reason: `It reaches out of its working folder: ${path}.` }
  if (effect === 'reads') return { level: 'reads', reason: 'Its server says that the tool changes nothing.' }
  const verb = wordsOf(tool).find((word) => deletingWords.has(word))
  if (verb !== undefined)
    return { level: 'destructive', reason: `The name of the tool says that it may ${verb}.` }
  return effect === 'writes'
    ? { level: 'writes', reason: 'Its server says that the tool changes something.' }
    : { level: 'unknown', reason: 'Its server does not say whether the tool changes anything.' }
}

const deletingWords: ReadonlySet<string> = new Set([
  ...['delete', 'remove', 'drop', 'destroy', 'erase', 'purge', 'wipe', 'truncate', 'unlink', 'uninstall'],
  ...['reset', 'revoke', 'kill', 'terminate', 'overwrite', 'rm', 'rollback', 'shutdown', 'publish'],
])

/** The words of a name in lower case: `deleteFile`, `delete_file` and `repo.delete-file` contain `delete` and `file`. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

/** Arguments with these names are command lines, programs or queries. */
const commandName = /^(?:command|cmd|commands|script|shell|run|args?|argv|exec|executable|line)$/i
const queryName = /^(?:sql|query|queries|statements?|mutation)$/i
const codeName = /^(?:code|source|program|expression|snippet|javascript|python|input)$/i
const methodName = /^(?:method|verb|http_?method)$/i
/** Flags that skip the check a tool would make before it destroys something. */
const forceName = /^(?:force|recursive|overwrite|hard|purge|skip_?confirm\w*|yes)$/i

/** Limits: examined values, and their nesting. */
const [maxValues, maxNested] = [1000, 8]

interface Argument {
  readonly name: string
  readonly value: unknown
}

/** The strings, numbers and booleans of arguments, each with the name of its field. */
function* listArguments(value: unknown, name = '', depth = 0): Generator<Argument> {
  if (depth > maxNested) return
  if (Array.isArray(value)) {
    if (commandName.test(name) && value.every((each) => typeof each === 'string'))
      yield { name, value: value.map(quoteWord).join(' ') }
    else for (const each of value) yield* listArguments(each, name, depth + 1)
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value)) yield* listArguments(each, key, depth + 1)
  } else yield { name, value }
}

/** Quotes a word of an argument list that a shell would split. */
const quoteWord = (word: string): string =>
  /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

function* firstArguments(parameters: unknown): Generator<Argument> {
  let left = maxValues
  for (const each of listArguments(parameters)) {
    if (left-- === 0) return
    yield each
  }
}

function findInArguments(parameters: unknown): string | undefined {
  for (const { name, value } of firstArguments(parameters)) {
    if (value === true && forceName.test(name)) return `\`${name}\` skips a check.`
    if (isCut(name, value)) return 'Its arguments are too long to be assessed.'
    if (typeof value !== 'string') continue
    const found = findInText(name, value)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether an argument was cut: views cut texts and drop the last fields, and the missing part may be the dangerous one. */
const isCut = (name: string, value: unknown): boolean =>
  name === '…' || (typeof value === 'string' && value.endsWith('…') && isRun(name))

const isRun = (name: string): boolean =>
  [commandName, queryName, codeName, methodName].some((pattern) => pattern.test(name))

function findInText(name: string, text: string): string | undefined {
  if (commandName.test(name)) return findInCommand(text) ?? findInEncoded(text)
  if (queryName.test(name)) return findInSql(text)
  if (codeName.test(name)) return findInSql(text) ?? findInCode(text) ?? findInEncoded(text)
  if (methodName.test(name) && /^delete$/i.test(text.trim())) return 'It sends an HTTP DELETE.'
  return undefined
}

/** Runs of characters that may be Base64. */
const encoded = /[A-Za-z\d+/_-]{12,}={0,2}/g

/** Decodes Base64 in a command. Returns why the text may destroy something. */
function findInEncoded(text: string): string | undefined {
  for (const [word] of text.matchAll(encoded)) {
    const decoded = decodeBase64(word)
    const found = decoded === undefined ? undefined : (findInCommand(decoded) ?? findInCode(decoded))
    if (found !== undefined) return `Base64 in it says \`${decoded?.slice(0, 40)}\`. ${found}`
  }
  return undefined
}

/** Decodes a word; `undefined` if it is not the Base64 of a text. */
function decodeBase64(word: string): string | undefined {
  try {
    const text = atob(word.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, ''))
    return /^[\t\n\r\x20-\x7e]+$/.test(text) ? text : undefined
  } catch {
    return undefined // Not Base64.
  }
}

const pathName = /path|file|folder|dir|source|dest|target|uri|url|^to$|^from$|command|cmd|cwd/i
const folderName = /^(?:cwd|workdir|working_?dir(?:ectory)?)$/i
/** Matches folders of the machine or the user, outside of any task, and files with keys. */
const places =
  /(?:^|[\s'"=:])(~(?:\/[^\s'"]*)?|(?:file:\/\/)?\/(?:etc|usr|bin|sbin|var|root|boot|dev(?!\/null)|lib|sys|proc|System|Library)(?:\/[^\s'"]*)?|[A-Za-z]:\\(?:Windows|Users)[^\s'"]*)(?=$|[\s'";|&])/

/** Finds a path in the arguments that is outside of the call's working folder. */
function findOutsidePath(parameters: unknown): string | undefined {
  let folder: string | undefined
  const found: string[] = []
  for (const { name, value } of firstArguments(parameters)) {
    if (typeof value !== 'string') continue
    if (folderName.test(name)) folder = value
    else if (pathName.test(name)) found.push(...(/\s/.test(value) ? value.split(/[\s'"]+/) : [value]))
  }
  // The agent chooses its folder: a system folder does not make the paths in it harmless.
  if (folder !== undefined && isMachineFolder(folder)) return folder
  return found.find((path) => leadsOut(path, folder))
}

const machineFolder = /^(?:etc|usr|bin|sbin|boot|dev|lib|sys|proc|System|Library)(?:\/|$)/

/** Whether a folder is the root, a direct child of it, or a system folder. */
function isMachineFolder(folder: string): boolean {
  const path = normalise(folder)
  return folder.startsWith('/') && (!path.includes('/') || machineFolder.test(path))
}

function leadsOut(path: string, folder: string | undefined): boolean {
  if (/^[a-z][\w+.-]*:\/\//i.test(path) && !path.startsWith('file:')) return false
  const isAbsolute = path.startsWith('/')
  if (isAbsolute && folder?.startsWith('/')) {
    return !`${normalise(path)}/`.startsWith(`${normalise(folder)}/`)
  }
  return places.test(path) || (!isAbsolute && normalise(path).startsWith('..'))
}

/** Resolves `.` and `..` in a path. */
function normalise(path: string): string {
  const parts: string[] = []
  for (const part of path.split(/[/\\]+/)) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}
