import { slashCommands } from './slash-commands.js'

/** What a line may name. */
export interface Known {
  readonly participants: readonly string[]
  /** Ids of what waits for a decision. */
  readonly proposals: readonly string[]
}

const names: readonly string[] = slashCommands.map(({ name }) => name)
const details = ['reasoning:full', 'reasoning:boundaries', 'reasoning:none']

/** For Tab: what the line may become, and which part of it that is about. */
export function completeLine(line: string, known: Known): [string[], string] {
  const part = /\S*$/.exec(line)?.[0] ?? ''
  if (part === line) return [startingWith(part, line.startsWith('/') ? names : []), part]
  const [command = '', ...words] = line.split(/\s+/)
  return [startingWith(part, wordsFor(command, words.length - 1, known)), part]
}

/** `at`: how many words stand before. */
function wordsFor(command: string, at: number, { participants, proposals }: Known): readonly string[] {
  const named = participants.map((id) => `@${id}`)
  switch (command) {
    case '/reasoning':
      return ['all', ...named]
    case '/filter':
      return ['off', ...details, ...named]
    case '/approve':
      return at === 0 ? proposals : ['always']
    case '/reject':
      return at === 0 ? proposals : []
    case '/grant':
    case '/participants':
      return at === 0 ? participants : []
    case '/pause':
    case '/resume':
      return participants
  }
  return []
}

const startingWith = (start: string, words: readonly string[]): string[] =>
  words.filter((word) => word.startsWith(start))
