import { suggest } from '@meup/folds'
import type { Person } from './log/people.js'

/** Matches code, in which `@name` is not a mention. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g

/** Matches a name after `@` at the start of a word; trailing punctuation may belong to the name. */
const named = /(?<![\p{L}\p{N}@_.\-/])@([^\s@]+)/gu

/** A mention in a message. */
export interface NamedPart {
  readonly start: number
  readonly end: number
  /** `undefined` if no participant has this name. */
  readonly id: string | undefined
}

/** All `@name` parts of a message, in order; `isKnown` decides which of them are mentions. */
export function findNames(text: string, isKnown: (id: string) => boolean): readonly NamedPart[] {
  const plain = text.replace(code, (quoted) => ' '.repeat(quoted.length))
  return [...plain.matchAll(named)].map(({ index, 1: word = '' }) => {
    let id = word
    while (id !== '' && !isKnown(id) && /[^\p{L}\p{N}]$/u.test(id)) id = id.slice(0, -1)
    return { start: index, end: index + 1 + (id || word).length, id: isKnown(id) ? id : undefined }
  })
}

/** A partial name or command at the caret. */
export interface Completion {
  readonly sign: '@' | '/'
  /** Position of the `@` or `/`. */
  readonly start: number
  /** Text between the sign and the caret. */
  readonly query: string
}

export function findCompletion(text: string, caret: number): Completion | undefined {
  const before = text.slice(0, caret)
  const [, command] = /^\/([a-z]*)$/.exec(before) ?? []
  if (command !== undefined) return { sign: '/', start: 0, query: command }
  const [, name] = /(?<![\p{L}\p{N}@_.\-/])@([^\s@]*)$/u.exec(before) ?? []
  return name === undefined ? undefined : { sign: '@', start: caret - name.length - 1, query: name }
}

const maxCompletions = 6
const roles = ['agent', 'person', 'tool'] as const

/**
 * Participants that complete the query: first those whose names begin with it, then those that contain it; agents and present
 * ones first.
 */
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
  return `No participant is called ${name}.${meant === undefined ? '' : ` Did you mean @${meant}?`}`
}

/** Parses a slash command; `undefined` for a message, such as one that begins with `//`. */
export function readCommand(text: string): { readonly name: string; readonly argument: string } | undefined {
  const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text) ?? []
  return name === undefined ? undefined : { name, argument: argument.trim() }
}
