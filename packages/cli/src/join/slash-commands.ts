import { table } from '../operator/table.js'

interface SlashCommand {
  readonly name: `/${string}`
  /** Of `/help`. */
  readonly section: string
  readonly forms: readonly (readonly [takes: string, about: string])[]
}

/** What may be typed in place of something to say. */
export const slashCommands = [
  {
    name: '/reasoning',
    section: 'Inspection',
    forms: [
      ['', 'why the agent that answered last used its tools, in its latest turn'],
      ['<number>', 'the same of the turn with this number'],
      ['all', 'the same of all its turns'],
      ['… @<agent>', 'the same of another agent'],
    ],
  },
  { name: '/help', section: 'Help', forms: [['', 'this']] },
] as const satisfies readonly SlashCommand[]

type Name = (typeof slashCommands)[number]['name']

/** What a line that was typed means. */
export type Typed =
  | { readonly say: string }
  | { readonly command: Name; readonly argument: string }
  | { readonly unknown: string }

/** Reads a line. What looks like a path is said; so is, without the first slash, what begins with two. */
export function readTyped(line: string): Typed {
  if (line.startsWith('//')) return { say: line.slice(1) }
  const [, word, argument = ''] = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(line.trimEnd()) ?? []
  if (word === undefined) return { say: line }
  const command = slashCommands.find(({ name }) => name === word)
  return command === undefined ? { unknown: word } : { command: command.name, argument }
}

/** The lines of `/help`. */
export function helpLines(): string[] {
  const rows = slashCommands.flatMap(({ name, section, forms }) =>
    forms.map(([takes, about]) => ({ section, row: [`  ${name} ${takes}`.trimEnd(), about] })),
  )
  const lines = table(rows.map(({ row }) => row))
  const titled = rows.flatMap(({ section }, at) => [
    ...(rows[at - 1]?.section === section ? [] : ['', section]),
    lines[at] ?? '',
  ])
  return ['What you type is said; // says what begins with a slash. Ctrl+D leaves.', ...titled]
}

/** For Tab: what the line may become, and which part of it that is about. */
export function completeLine(line: string, participants: readonly string[]): [string[], string] {
  const word = /\S*$/.exec(line)?.[0] ?? ''
  if (word === line) return [startingWith(word, line.startsWith('/') ? names : []), word]
  const isReasoning = line.startsWith('/reasoning ')
  const words = isReasoning ? ['all', ...participants.map((id) => `@${id}`)] : []
  return [startingWith(word, words), word]
}

const names: readonly string[] = slashCommands.map(({ name }) => name)

const startingWith = (start: string, words: readonly string[]): string[] =>
  words.filter((word) => word.startsWith(start))
