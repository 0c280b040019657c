import { thinkingLevels } from '@meup/agent-sdk/internal'
import { suggest } from '@meup/folds'
import { matchMentions, readNames } from '../lib/addressees.js'
import { formatTable } from '../lib/output.js'

type Form = readonly [takes: string, about: string]

/** Slash commands, by section of `/help`; each with its forms. */
export const slashCommands = {
  Inspection: {
    '/reasoning': [
      ['', 'why the agent that answered last used its tools, in its latest turn'],
      ['<number>', 'the same of the turn with this number'],
      ['all', 'the same of all its turns'],
      ['… @<agent>', 'the same of another agent'],
    ],
    '/why': [
      ['', 'what led to the last answer, call or refusal, and by which right'],
      ['<words>', 'the same of the one that says them; or of #48, an id, or a turn such as 3 or bot turn 3'],
    ],
    '/participants': [
      ['[start]', 'who belongs to the space, is here, and thinks; [start] = only names that begin so'],
    ],
    '/replay': [
      ['[count]', 'what was last in the log, again'],
      ['<from>-<to>', 'the envelopes with these numbers'],
    ],
  },
  Talk: {
    '/msg': [
      ['<participant> <text>', 'says it to one alone, or to several with commas; @name asks for all to read'],
    ],
    '/copy': [
      ['', 'copies the last message of another participant, as it was written'],
      ['code [number]', 'its last block of code, or that with this number'],
    ],
  },
  Display: {
    '/filter': [
      ['', 'what you see at present, and how much the gateway has kept back'],
      ['@<agent> <kind>', 'only what these say, only envelopes of these kinds'],
      [
        'reasoning:<detail>',
        'full, summary (how much), boundaries (no thoughts) or none; context:<path> = only there and below',
      ],
      ['off', 'everything again'],
    ],
    '/thoughts': [['', 'hides what agents think from you, or shows it again (Ctrl+T)']],
    '/output': [['', 'shows all that tools give back, or a line of it (Ctrl+O)']],
  },
  Decisions: {
    '/pending': [['', 'what waits for a decision (Ctrl+P)']],
    '/approve': [['<proposal>', 'does it; y does the one in the last line']],
    '/always': [
      ['[proposal]', 'does it, and lets its proposer do the like; asks with which arguments, until when'],
    ],
    '/reject': [['<proposal> [why]', 'refuses it; n the one in the last line']],
    '/grant': [['<participant> <capability…>', 'gives what you hold; for:1h = for so long']],
    '/allow': [
      ['[refusal]', 'grants what the last refused call lacked; asks with which arguments, until when'],
    ],
  },
  Agents: {
    '/interrupt': [['[number]', 'asks the run that answers you to stop, or another one (Esc)']],
    '/pause': [['<participant…> [10m]', 'keeps them from acting, for so long or until /resume']],
    '/resume': [['<participant…>', 'lets them act again']],
    '/hide': [
      ['[@agent]', 'hides the thoughts of its run from everyone until the run ends; all read who hid them'],
    ],
    '/show': [['[@agent]', 'shows it to everyone again']],
    '/reply': [['[@agent] <text>', 'answers the latest thought of its run, before its next step']],
    '/ask': [['#<seq> <question>', 'asks about that thought; the answer comes apart from the run']],
    '/think': [
      ['off|low|high|auto', 'how much models are to think about what you say next; auto = as they are set'],
    ],
    '/compact': [
      ['[@agent]', 'has the agent that answered last, or another one, put its memory into short notes'],
    ],
  },
  Help: {
    '/exit': [['', 'leaves; so do /quit, Ctrl+D, and Ctrl+C twice']],
    '/help': [['', 'this']],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<`/${string}`, readonly Form[]>>>>

type Sections = typeof slashCommands
export type CommandName = { [Name in keyof Sections]: keyof Sections[Name] }[keyof Sections]
export const commandNames = Object.values(slashCommands).flatMap(Object.keys) as readonly CommandName[]

/** A line that the user has typed, parsed. */
export type Typed =
  /** `mention`: addressees of a message that everyone can read; `to`: the only readers. */
  | { readonly say: string; readonly mention?: readonly string[]; readonly to?: readonly string[] }
  | { readonly command: CommandName; readonly argument: string }
  | { readonly unknown: string }
  /** A message whose addressee is unknown. */
  | { readonly stranger: string; readonly isPrivate: boolean }

/**
 * Parses a line. A path such as `/etc/hosts` is chat text; a leading `//` is an escaped slash. `participants`: valid
 * addressees.
 */
export function readTyped(line: string, participants: readonly string[] = []): Typed {
  if (line.startsWith('//')) return { say: line.slice(1) }
  if (/^@\S/.test(line)) return readMentions(line, participants)
  const [, word, argument = ''] = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(line.trimEnd()) ?? []
  if (word === undefined) return { say: line }
  const command = commandNames.find((name) => name === (word === '/quit' ? '/exit' : word))
  if (command === undefined) return { unknown: word }
  return (command === '/msg' && readPrivate(argument, participants)) || { command, argument }
}

/** Parses `@bot What fails?`, `@bot,ben …` and `@bot @ben …`. */
function readMentions(line: string, participants: readonly string[]): Typed {
  const [, named = line, text] = matchMentions(line) ?? []
  const mention = readNames(named)
  const stranger = mention.find((name) => !participants.includes(name))
  if (stranger !== undefined) return { stranger, isPrivate: false }
  return text === undefined ? { say: line } : { say: text, mention }
}

/** Parses the argument of `/msg bot What fails?`; `undefined` if the name or the text is missing. */
function readPrivate(argument: string, participants: readonly string[]): Typed | undefined {
  const [, named = '', say] = /^(\S+)\s+(\S.*)$/s.exec(argument) ?? []
  if (say === undefined) return undefined
  const to = readNames(named)
  const stranger = to.find((name) => !participants.includes(name))
  return stranger === undefined ? { say, to } : { stranger, isPrivate: true }
}

/** The output of `/help`. */
export function helpLines(): string[] {
  const rows = Object.entries(slashCommands).flatMap(([section, commands]) =>
    Object.entries<readonly Form[]>(commands).flatMap(([name, forms]) =>
      forms.map(([takes, about]) => ({ section, row: [`  ${name} ${takes}`.trimEnd(), about] })),
    ),
  )
  const lines = formatTable(rows.map(({ row }) => row))
  const titled = rows.flatMap(({ section }, at) => [
    ...(rows[at - 1]?.section === section ? [] : ['', section]),
    lines[at] ?? '',
  ])
  return ['Lines are messages; // begins a message with a slash. Ctrl+D leaves.', ...titled]
}

export function describeUnknownSlashCommand(word: string): string {
  const meant = suggest(word, commandNames)
  return `✗ there is no ${word}; ${meant === undefined ? '/help says what there is' : `did you mean ${meant}?`}`
}

/** Words that completion offers. */
interface Known {
  readonly participants: readonly string[]
  /** Names of tools that were called. */
  readonly tools: readonly string[]
  /** Ids of open proposals. */
  readonly proposals: readonly string[]
}

const details = ['reasoning:full', 'reasoning:summary', 'reasoning:boundaries', 'reasoning:none']

/** Completes the last word of a line: returns the candidates, and the word. */
export function completeLine(line: string, known: Known): [string[], string] {
  const part = /[^\s,]*$/.exec(line)?.[0] ?? ''
  const named = known.participants.map((id) => `@${id}`)
  if (part === line)
    return [startingWith(part, line.startsWith('/') ? commandNames : line.startsWith('@') ? named : []), part]
  if (!line.startsWith('/')) return [startingWith(part, part.startsWith('@') ? named : []), part]
  const [command = '', ...words] = line.split(/\s+/)
  return [startingWith(part, wordsFor(command, words.length - 1, known)), part]
}

/** Candidates for an argument; `at` is its index. */
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
