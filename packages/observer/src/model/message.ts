import { suggest } from '@meup/folds'
import type { Person } from './log/people.js'

/** Code is skipped, so that names in it mention no one. */
const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g

/** A name after `@` at the beginning of a word; trailing punctuation may belong to the name. */
const named = /(?<![\p{L}\p{N}@_.\-/])@([^\s@]+)/gu

/** A mention in a message. */
export interface NamedPart {
  readonly start: number
  readonly end: number
  /** `undefined` = unknown name. */
  readonly id: string | undefined
}

/** All `@name` parts of a message, in order. Only names accepted by `isKnown` are mentions. */
export function findNames(text: string, isKnown: (id: string) => boolean): readonly NamedPart[] {
  const plain = text.replace(code, (quoted) => ' '.repeat(quoted.length))
  return [...plain.matchAll(named)].map(({ index, 1: word = '' }) => {
    let id = word
    while (id !== '' && !isKnown(id) && /[^\p{L}\p{N}]$/u.test(id)) id = id.slice(0, -1)
    return { start: index, end: index + 1 + (id || word).length, id: isKnown(id) ? id : undefined }
  })
}

/** A name or command at the caret that can be completed. */
export interface Completion {
  readonly sign: '@' | '/'
  /** Position of the sign. */
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

/** Maximum names in a list of completions. */
const maxCompletions = 6
const roles = ['agent', 'person', 'tool'] as const

/** Participants whose names begin with the query, then those that contain it; agents and present ones first. */
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

/** A line that begins with a slash is a command; `undefined` = a message. `//` begins a message with a slash. */
export function readCommand(text: string): { readonly name: string; readonly argument: string } | undefined {
  const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text) ?? []
  return name === undefined ? undefined : { name, argument: argument.trim() }
}
