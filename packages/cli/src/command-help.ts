import type { Command } from 'commander'
import { UsageError } from './lib/exit.js'

type Example = readonly [command: string, about: string]

/** Commands in the order of `meup help`, grouped by purpose. */
const groups = {
  'Start:': ['init', 'add', 'up', 'down', 'gateway', 'restart', 'spaces', 'space', 'token'],
  'Talk:': ['join', 'open', 'ask', 'send', 'watch', 'acp'],
  'Decide:': ['proposals', 'call', 'caps', 'invite', 'kick', 'pause', 'resume'],
  'Look:': ['ps', 'top', 'logs', 'search', 'reasoning', 'why', 'transcript', 'replay'],
  'Prove:': ['audit', 'erase'],
  'Operate:': ['stats', 'doctor', 'backup', 'restore', 'mcp', 'completion', 'man', 'help'],
} as const

/** Two examples per command. The example space has the participants ana, bot, and files (an MCP server). */
export const commandExamples: Readonly<Record<string, readonly Example[]>> = {
  init: [
    ['meup init my-space', 'asks what for, then writes a space with a first agent'],
    ['meup init my-model --template model --yes', 'asks nothing'],
  ],
  add: [
    ['meup add notes -- npx -y @modelcontextprotocol/server-filesystem .', 'a server that is started here'],
    ['meup add docs https://tools.example/mcp --header "X-Team: blue"', 'one that runs elsewhere'],
  ],
  up: [
    ['meup up', 'runs until Ctrl+C'],
    ['meup up -d --require bot', 'runs in the background; fails if bot does not join'],
  ],
  down: [
    ['meup down', 'ends the space of this folder'],
    ['meup -C ../other down', 'that of another'],
  ],
  gateway: [
    ['meup gateway', 'without programs'],
    ['meup gateway --listen 127.0.0.1:0 --json', 'on any free port; events as JSON'],
  ],
  restart: [
    ['meup restart bot', 'also if it waits or rests'],
    ['meup restart bot files', 'two'],
  ],
  spaces: [
    ['meup spaces', 'with their folders'],
    ['meup spaces --json', 'for a script'],
  ],
  'space init': [
    ['meup space init', 'a first space.yaml in this folder'],
    ['meup space init other --json', 'in another folder'],
  ],
  'space validate': [
    ['meup space validate', 'every mistake with its line'],
    ['meup space validate --config space.yaml --json', 'for a script'],
  ],
  'token create': [
    ['meup token create', 'for all who have none'],
    ['meup token create ben --show', 'for one, and prints it'],
  ],
  'token rotate': [
    ['meup token rotate ana', 'the old one is refused from now on'],
    ['meup token rotate ana --show', 'and prints the new one'],
  ],
  'token revoke': [
    ['meup token revoke ben', 'closes its connections'],
    ['meup token revoke ben --json', 'for a script'],
  ],
  'token list': [
    ['meup token list', 'where each lies'],
    ['meup token list ana --json', 'one'],
  ],
  join: [
    ['meup join', 'as the first person of the space'],
    ['meup join --as ana --to bot', 'a private conversation with bot'],
  ],
  open: [
    ['meup open', 'in your browser'],
    ['meup open --no-browser', 'prints the link'],
  ],
  ask: [
    ['meup ask bot "Why does the test fail?"', 'bot answers; everyone reads it'],
    ['git diff | meup ask "review this" --to bot --private', 'with what is piped in; only bot reads it'],
  ],
  send: [
    ['meup send "good morning"', 'to everyone'],
    ['meup send --kind chat --payload \'{"message":"for bot"}\' --to bot', 'any envelope'],
  ],
  watch: [
    ['meup watch --since 1h --time --no-follow', 'the last hour, with times'],
    ['meup watch --agent bot --kind chat --tail 20', 'what bot says, from now on too'],
  ],
  acp: [
    ['meup acp', 'in the settings of an editor: its agents are those of the space'],
    ['meup acp --to bot', 'bot alone'],
  ],
  'proposals ls': [
    ['meup proposals ls', 'what is open'],
    ['meup proposals ls --all --json', 'what was decided, too'],
  ],
  'proposals show': [
    ['meup proposals show P1', 'all that it carries out; the beginning of an id is enough'],
    ['meup proposals show P1 --json', 'exactly as it is sent'],
  ],
  'proposals approve': [
    ['meup proposals approve P1', 'does it, and prints the result'],
    ['meup proposals approve P1 --always --yes', 'and lets its proposer do the like'],
  ],
  'proposals reject': [
    ['meup proposals reject P1', 'without a word'],
    ['meup proposals reject P1 --message "the other file"', 'says why'],
  ],
  'proposals withdraw': [
    ['meup proposals withdraw P1', 'your own'],
    ['meup proposals withdraw P1 --as bot --json', 'as another participant whose token is here'],
  ],
  call: [
    ['meup call files/echo \'{"text":"hi"}\' --why "to try it"', 'calls a tool'],
    ['echo \'{"text":"hi"}\' | meup call files/echo -', 'with arguments from stdin'],
  ],
  'caps ls': [
    ['meup caps', 'who may do what'],
    ['meup caps ls bot --json', 'exactly'],
  ],
  'caps explain': [
    ['meup caps explain ana files/echo', 'a tool'],
    ['meup caps explain bot chat || echo "it may not"', 'a kind'],
  ],
  'caps grant': [
    ['meup caps grant bot chat --for 1h', 'for an hour'],
    ['meup caps grant bot \'{"tool":"files/*"}\' --reason "to look around"', 'the tools of files'],
  ],
  'caps revoke': [
    ['meup caps revoke bot chat', 'what was granted of it'],
    ['meup caps revoke bot "*" --reason "it is done"', 'all grants to bot'],
  ],
  'caps log': [
    ['meup caps log --since yesterday', 'refusals, grants, kicks, pauses'],
    ['meup caps log --participant bot --limit 20', 'about one'],
  ],
  invite: [
    ['meup invite carl chat', 'prints its token, once'],
    ['meup invite dora chat --for 1h --json', 'for an hour'],
  ],
  kick: [
    ['meup kick carl --for 1h', 'for an hour'],
    ['meup kick dora --reason "spam"', 'until invited'],
  ],
  pause: [
    ['meup pause bot --for 10m', 'it may only answer'],
    ['meup pause bot files --reason "maintenance"', 'until resumed'],
  ],
  resume: [
    ['meup resume bot', 'one'],
    ['meup resume bot files', 'two'],
  ],
  ps: [
    ['meup ps', 'once'],
    ['meup ps --json', 'for a script'],
  ],
  top: [
    ['meup top', 'as it changes; p pauses who does most'],
    ['meup top --as ana', 'as ana'],
  ],
  logs: [
    ['meup logs bot -f', 'as it prints more'],
    ['meup logs --tail 50 --json', 'of all programs'],
  ],
  search: [
    ['meup search good morning', 'who said so'],
    ['meup search --tool files/echo --since tuesday', 'who called it'],
  ],
  reasoning: [
    ['meup reasoning --thread bot', 'why it used its tools, in its latest turn'],
    ['meup reasoning all --thread bot', 'in all its turns'],
  ],
  why: [
    ['meup why', 'what led to the last answer, call or refusal'],
    ["meup why '#5' --json", 'to the envelope with that number'],
  ],
  'transcript log': [
    ['meup transcript log', 'the turns of each agent'],
    ['meup transcript log --json', 'for a script'],
  ],
  'transcript show': [
    ["meup transcript show '#48'", 'the turn that this envelope came of'],
    ['meup transcript show 1a2b3c', 'a commit by its hash'],
  ],
  'transcript diff': [
    ["meup transcript diff '#40' '#48'", 'what the model was sent more'],
    ["meup transcript diff '#40' '#48' --json", 'for a script'],
  ],
  'transcript compile': [
    ["meup transcript compile '#48'", 'what the model would be sent next'],
    ["meup transcript compile '#48' --reasoning", 'with its thinking'],
  ],
  'transcript verify': [
    ['meup transcript verify', 'nothing was changed'],
    ['meup transcript verify --json', 'for a script'],
  ],
  'transcript replay': [
    ["meup transcript replay '#48'", 'would it answer the same?'],
    ["meup transcript replay '#48' --instructions new.md", 'with other instructions'],
  ],
  replay: [
    ['meup replay --speed 10', 'the log of this space, ten times as fast'],
    ['meup replay export.jsonl', 'an export'],
  ],
  'audit trail': [
    ['meup audit trail', 'what was done, and why'],
    ['meup audit trail --thread bot --json', 'by one agent'],
  ],
  'audit export': [
    ['meup audit export -o export.jsonl', 'with its proof'],
    ['meup audit export --format markdown', 'for people'],
  ],
  'audit verify': [
    ['meup audit verify', 'the running log'],
    ['meup audit verify export.jsonl', 'an export'],
  ],
  erase: [
    ['meup erase \'#5\' --reason "personal data"', 'what it says is gone for good'],
    ['meup erase --from ben --reason "ben has left"', 'all that ben sent; asks first'],
  ],
  stats: [
    ['meup stats', 'of this folder'],
    ['meup stats --url http://127.0.0.1:8080', 'of another'],
  ],
  doctor: [
    ['meup doctor', 'what is wrong here'],
    ['meup doctor --json', 'for a script'],
  ],
  backup: [
    ['meup backup --to copy.db', 'while it runs, too'],
    ['meup backup --to copy2.db --json', 'for a script'],
  ],
  restore: [
    ['meup restore copy.db --to new.db', 'verifies it first'],
    ['meup restore copy.db --to other.db --json', 'for a script'],
  ],
  'mcp serve': [
    ['meup mcp serve', 'to an MCP client that starts it'],
    ['meup mcp serve --http 0', 'over HTTP, on a free port'],
  ],
  completion: [
    ['source <(meup completion bash)', 'in ~/.bashrc'],
    ['meup completion fish > meup.fish', 'in ~/.config/fish/completions'],
  ],
  help: [
    ['meup help', 'all commands'],
    ['meup help caps grant', 'one of them'],
  ],
  man: [
    ['meup man', 'all commands; meup man ask explains one'],
    ['meup man --roff > meup.1', 'for man'],
  ],
}

/** Adds groups and examples to the help of a program. */
export function addHelp(program: Command): void {
  const sorted: readonly string[] = Object.values(groups).flat()
  for (const [title, names] of Object.entries(groups))
    for (const name of names) program.commands.find((each) => each.name() === name)?.helpGroup(title)
  addHelpCommand(program)
  // Sorts the commands, because Commander lists the groups in the order of their commands.
  const commands = program.commands as Command[]
  commands.sort((one, other) => sorted.indexOf(one.name()) - sorted.indexOf(other.name()))
  for (const { path, command } of listLeaves(program)) {
    const examples = commandExamples[path] ?? []
    const width = Math.max(...examples.map(([line]) => line.length))
    const lines = examples.map(([line, about]) => `  ${line.padEnd(width)}  ${about}`)
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
}

/** `meup help caps grant`. Commander's own `help` would explain `caps` only. */
function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('explain a command')
    .argument('[command...]', 'which')
    .helpGroup('Operate:')
    .action((words: readonly string[]) => explainCommand(program, words))
}

/** Prints the help of a command, such as `['caps', 'grant']`; without words, that of the program. */
export function explainCommand(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next === undefined) throw new UsageError('unknown_command', { command: words.join(' ') })
    command = next
  }
  command.outputHelp()
}

/** Commands without subcommands, with their paths below the program. */
export function listLeaves(program: Command): { readonly path: string; readonly command: Command }[] {
  return program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ path: command.name(), command }]
      : listLeaves(command).map(({ path, command: leaf }) => ({
          path: `${command.name()} ${path}`,
          command: leaf,
        })),
  )
}
