import { thinkingLevels } from '@meup/agent-sdk/internal'
import { suggest } from '@meup/folds'
import { formatTable } from '../lib/output.js'

interface SlashCommand {
  readonly name: `/${string}`
  /** Section of `/help`. */
  readonly section: string
  readonly forms: readonly (readonly [takes: string, about: string])[]
}

/** The slash commands. */
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
  {
    name: '/why',
    section: 'Inspection',
    forms: [
      ['', 'what led to the last answer, call or refusal, and by which right'],
      ['<words>', 'the same of the one that says them; or of #48, an id, or a turn such as 3 or bot turn 3'],
    ],
  },
  {
    name: '/participants',
    section: 'Inspection',
    forms: [['[start]', 'who belongs to the space, is here, and thinks; [start] = only names that begin so']],
  },
  {
    name: '/replay',
    section: 'Inspection',
    forms: [
      ['[count]', 'what was last in the log, again'],
      ['<from>-<to>', 'the envelopes with these numbers'],
    ],
  },
  {
    name: '/msg',
    section: 'Talk',
    forms: [
      ['<participant> <text>', 'says it to one alone, or to several with commas; @name asks for all to read'],
    ],
  },
  {
    name: '/copy',
    section: 'Talk',
    forms: [
      ['', 'copies the last message of another participant, as it was written'],
      ['code [number]', 'its last block of code, or that with this number'],
    ],
  },
  {
    name: '/filter',
    section: 'Display',
    forms: [
      ['', 'what you see at present, and how much the gateway has kept back'],
      ['@<agent> <kind>', 'only what these say, only envelopes of these kinds'],
      [
        'reasoning:<detail>',
        'full, summary (how much), boundaries (no thoughts) or none; context:<path> = only there and below',
      ],
      ['off', 'everything again'],
    ],
  },
  {
    name: '/thoughts',
    section: 'Display',
    forms: [['', 'hides what agents think from you, or shows it again (Ctrl+T)']],
  },
  {
    name: '/output',
    section: 'Display',
    forms: [['', 'shows all that tools give back, or a line of it (Ctrl+O)']],
  },
  { name: '/pending', section: 'Decisions', forms: [['', 'what waits for a decision (Ctrl+P)']] },
  {
    name: '/approve',
    section: 'Decisions',
    forms: [['<proposal>', 'does it; y does the one in the last line']],
  },
  {
    name: '/always',
    section: 'Decisions',
    forms: [
      ['[proposal]', 'does it, and lets its proposer do the like; asks with which arguments, until when'],
    ],
  },
  {
    name: '/reject',
    section: 'Decisions',
    forms: [['<proposal> [why]', 'refuses it; n the one in the last line']],
  },
  {
    name: '/grant',
    section: 'Decisions',
    forms: [['<participant> <capability…>', 'gives what you hold; for:1h = for so long']],
  },
  {
    name: '/allow',
    section: 'Decisions',
    forms: [['[refusal]', 'grants what the last refused call lacked; asks with which arguments, until when']],
  },
  {
    name: '/interrupt',
    section: 'Agents',
    forms: [['[number]', 'asks the run that answers you to stop, or another one (Esc)']],
  },
  {
    name: '/pause',
    section: 'Agents',
    forms: [['<participant…> [10m]', 'keeps them from acting, for so long or until /resume']],
  },
  { name: '/resume', section: 'Agents', forms: [['<participant…>', 'lets them act again']] },
  {
    name: '/hide',
    section: 'Agents',
    forms: [['[@agent]', 'hides what it thinks in its run from everyone, who read by whom']],
  },
  { name: '/show', section: 'Agents', forms: [['[@agent]', 'shows it to everyone again']] },
  {
    name: '/reply',
    section: 'Agents',
    forms: [['[@agent] <text>', 'answers the latest thought of its run, before its next step']],
  },
  {
    name: '/ask',
    section: 'Agents',
    forms: [['#<seq> <question>', 'asks about that thought; the answer comes apart from the run']],
  },
  {
    name: '/think',
    section: 'Agents',
    forms: [
      ['off|low|high|auto', 'how much models are to think about what you say next; auto = as they are set'],
    ],
  },
  {
    name: '/compact',
    section: 'Agents',
    forms: [
      ['[@agent]', 'has the agent that answered last, or another one, put its memory into short notes'],
    ],
  },
  { name: '/exit', section: 'Help', forms: [['', 'leaves; so do /quit, Ctrl+D, and Ctrl+C twice']] },
  { name: '/help', section: 'Help', forms: [['', 'this']] },
] as const satisfies readonly SlashCommand[]

export type CommandName = (typeof slashCommands)[number]['name']

/** The meaning of a typed line. */
export type Typed =
  /** `mention`: the addressees, while everyone reads it; `to`: the only readers. */
  | { readonly say: string; readonly mention?: readonly string[]; readonly to?: readonly string[] }
  | { readonly command: CommandName; readonly argument: string }
  | { readonly unknown: string }
  /** The addressee is unknown. */
  | { readonly stranger: string; readonly isPrivate: boolean }

/**
 * Parses a line. Paths are chat text, and so are lines that begin with `//`, without their first slash. `participants`: those
 * whom a line may name.
 */
export function readTyped(line: string, participants: readonly string[] = []): Typed {
  if (line.startsWith('//')) return { say: line.slice(1) }
  if (/^@\S/.test(line)) return readMentions(line, participants)
  const [, word, argument = ''] = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(line.trimEnd()) ?? []
  if (word === undefined) return { say: line }
  const command = slashCommands.find(({ name }) => name === (word === '/quit' ? '/exit' : word))
  if (command === undefined) return { unknown: word }
  return (
    (command.name === '/msg' && readPrivate(argument, participants)) || { command: command.name, argument }
  )
}

/** `@bot What fails?`, `@bot,ben …` and `@bot @ben …` ask those whom they name. */
function readMentions(line: string, participants: readonly string[]): Typed {
  const [, named = line, text] = /^((?:@\S+\s+)+)(\S.*)$/s.exec(line) ?? []
  const mention = readNames(named)
  const stranger = mention.find((name) => !participants.includes(name))
  if (stranger !== undefined) return { stranger, isPrivate: false }
  return text === undefined ? { say: line } : { say: text, mention }
}

/** `/msg bot What fails?`; `undefined` = a name or a text is missing. */
function readPrivate(argument: string, participants: readonly string[]): Typed | undefined {
  const [, named = '', say] = /^(\S+)\s+(\S.*)$/s.exec(argument) ?? []
  if (say === undefined) return undefined
  const to = readNames(named)
  const stranger = to.find((name) => !participants.includes(name))
  return stranger === undefined ? { say, to } : { stranger, isPrivate: true }
}

const readNames = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).flatMap((name) => name.replace(/^@|:$/g, '') || [])),
]

/** The lines of `/help`. */
export function helpLines(): string[] {
  const rows = slashCommands.flatMap(({ name, section, forms }) =>
    forms.map(([takes, about]) => ({ section, row: [`  ${name} ${takes}`.trimEnd(), about] })),
  )
  const lines = formatTable(rows.map(({ row }) => row))
  const titled = rows.flatMap(({ section }, at) => [
    ...(rows[at - 1]?.section === section ? [] : ['', section]),
    lines[at] ?? '',
  ])
  return ['Lines are messages; // begins a message with a slash. Ctrl+D leaves.', ...titled]
}

/** The message for an unknown command. */
export function describeUnknownSlashCommand(word: string): string {
  const meant = suggest(word, names)
  return `✗ there is no ${word}; ${meant === undefined ? '/help says what there is' : `did you mean ${meant}?`}`
}

/** Candidates for completion. */
interface Known {
  readonly participants: readonly string[]
  /** Tools that were called, by name. */
  readonly tools: readonly string[]
  /** Ids of open proposals. */
  readonly proposals: readonly string[]
}

const names: readonly string[] = slashCommands.map(({ name }) => name)
const details = ['reasoning:full', 'reasoning:summary', 'reasoning:boundaries', 'reasoning:none']

/** Completes a line: the candidates, and the part that they replace. */
export function completeLine(line: string, known: Known): [string[], string] {
  const part = /[^\s,]*$/.exec(line)?.[0] ?? ''
  const named = known.participants.map((id) => `@${id}`)
  if (part === line)
    return [startingWith(part, line.startsWith('/') ? names : line.startsWith('@') ? named : []), part]
  if (!line.startsWith('/')) return [startingWith(part, part.startsWith('@') ? named : []), part]
  const [command = '', ...words] = line.split(/\s+/)
  return [startingWith(part, wordsFor(command, words.length - 1, known)), part]
}

/** `at`: index of the word among the arguments. */
function wordsFor(command: string, at: number, { participants, proposals, tools }: Known): readonly string[] {
  const named = participants.map((id) => `@${id}`)
  switch (command) {
    case '/reasoning':
      return ['all', ...named]
    case '/filter':
      return ['off', ...details, ...named]
    case '/approve':
    case '/always':
    case '/reject':
      return at === 0 ? proposals : []
    case '/grant':
      return at === 0 ? participants : tools
    case '/participants':
      return at === 0 ? participants : []
    case '/think':
      return at === 0 ? [...thinkingLevels, 'auto'] : []
    case '/compact':
    case '/hide':
    case '/reply':
    case '/show':
      return at === 0 ? named : []
    case '/msg':
      return at === 0 ? participants : []
    case '/pause':
    case '/resume':
      return participants
  }
  return []
}

const startingWith = (start: string, words: readonly string[]): string[] =>
  words.filter((word) => word.startsWith(start))
