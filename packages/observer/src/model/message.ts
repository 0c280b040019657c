import { suggest } from '@meup/folds'
import type { Person } from './log/people.js'

/** Code is quoted, so that names in it call nobody. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g

/** A name after `@`, where a word begins; what ends a sentence may be part of a name, or not. */
const named = /(?<![\p{L}\p{N}@_.\-/])@([^\s@]+)/gu

/** A part of a message that names somebody. */
export interface NamedPart {
  readonly start: number
  readonly end: number
  /** `undefined` = nobody of the space is called so. */
  readonly id: string | undefined
}

/** Every `@name` of a message, in its order. Only names of `isKnown` are names of somebody. */
export function findNames(text: string, isKnown: (id: string) => boolean): readonly NamedPart[] {
  const plain = text.replace(code, (quoted) => ' '.repeat(quoted.length))
  return [...plain.matchAll(named)].map(({ index, 1: word = '' }) => {
    let id = word
    while (id !== '' && !isKnown(id) && /[^\p{L}\p{N}]$/u.test(id)) id = id.slice(0, -1)
    return { start: index, end: index + 1 + (id || word).length, id: isKnown(id) ? id : undefined }
  })
}

/** What is being typed at the caret: a name or a command, to be completed. */
export interface Completion {
  readonly sign: '@' | '/'
  /** Where the sign stands. */
  readonly start: number
  /** What stands between it and the caret. */
  readonly query: string
}

export function findCompletion(text: string, caret: number): Completion | undefined {
  const before = text.slice(0, caret)
  const [, command] = /^\/([a-z]*)$/.exec(before) ?? []
  if (command !== undefined) return { sign: '/', start: 0, query: command }
  const [, name] = /(?<![\p{L}\p{N}@_.\-/])@([^\s@]*)$/u.exec(before) ?? []
  return name === undefined ? undefined : { sign: '@', start: caret - name.length - 1, query: name }
}

/** Names that a list of completions has room for. */
const maxCompletions = 6
const roles = ['agent', 'person', 'tool'] as const

/** Those whose names begin with the query, then those that contain it; each time agents first, and who is here. */
export function completeName(query: string, people: readonly Person[]): readonly Person[] {
  const sought = query.toLowerCase()
  const weigh = ({ id, isPresent, role }: Person): number =>
    (id.toLowerCase().startsWith(sought) ? 0 : 10) + (isPresent ? 0 : 5) + roles.indexOf(role)
  return people
    .filter(({ id }) => id.toLowerCase().includes(sought))
    .sort((one, other) => weigh(one) - weigh(other))
    .slice(0, maxCompletions)
}

export function unknownName(name: string, known: readonly string[]): string {
  const meant = suggest(name, known)
  return `Nobody here is called ${name}.${meant === undefined ? '' : ` Did you mean @${meant}?`}`
}

/** A line that begins with a slash is a command; `undefined` = it is a message. `//` says what begins with a slash. */
export function readCommand(text: string): { readonly name: string; readonly argument: string } | undefined {
  const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text) ?? []
  return name === undefined ? undefined : { name, argument: argument.trim() }
}
