import { type Command, Option } from 'commander'
import { addTargetOptions, type ConnectionFlags, withConnection, withTarget } from '../lib/connection.js'
import { collectNames } from '../lib/options.js'
import type { AddFlags } from '../operator/add.js'
import type { BackupFlags } from '../operator/backup.js'
import type { DoctorFlags } from '../operator/doctor.js'
import type { DownFlags } from '../operator/down.js'
import type { InitFlags } from '../operator/init.js'
import type { LogsFlags } from '../operator/logs.js'
import type { RestartFlags } from '../operator/restart.js'
import type { StatsFlags } from '../operator/stats.js'
import { providers, templates } from '../operator/templates.js'
import type { TokenFlags, TokenVerb } from '../operator/tokens.js'
import type { RunFlags } from '../run/run.js'

// Commands import their implementation only when they run, so that the others start fast.

const descriptions = {
  gateway: 'run the gateway alone',
  up: 'run the gateway, its tool servers and its programs',
} as const

/** `meup gateway` and `meup up`. */
export function addRunCommands(program: Command): void {
  for (const name of ['gateway', 'up'] as const) {
    const command = program
      .command(name)
      .description(descriptions[name])
      .option('--config <file>', 'configuration', 'space.yaml')
      .option('--listen <host:port>', 'address to listen on instead of the configured one')
      .option('--json', 'print events and the log as JSON, one object a line')
      .option('--watch', 'reload when the configuration or a token changes, not only on SIGHUP')
      .option('--verbose', 'log everything, not only what goes wrong')
      .action(async ({ detach, ...flags }: RunFlags & { readonly detach?: boolean }) =>
        detach
          ? (await import('../operator/up-detached.js')).startDetached(flags)
          : (await import('../run/run.js')).run(name, flags),
      )
    if (name === 'up')
      command
        .option('-d, --detach', 'run in the background; meup down ends it')
        .option(
          '--require <participants>',
          'exit with 1 if one of these does not start: a name, or several with commas; may be repeated',
          collectNames,
        )
  }
}

export function addRestart(program: Command): void {
  const command = program
    .command('restart')
    .description('restart programs of the running meup up, also those that wait or rest')
    .argument('<participant...>', 'which; <space>/<participant> where the configuration has several spaces')
  withConfig(command).action(async (names: readonly string[], flags: RestartFlags) =>
    (await import('../operator/restart.js')).restart(names, flags),
  )
}

/** `meup down`, `logs` and `spaces`. */
export function addRunning(program: Command): void {
  withConfig(program.command('down').description('end the space of this folder and its programs')).action(
    async (flags: DownFlags) => (await import('../operator/down.js')).down(flags),
  )
  const logs = program
    .command('logs')
    .description('show what programs of the running meup up print, and why they ended')
    .argument('[participant...]', 'whose (default: all)')
    .option('-f, --follow', 'go on as they print more')
    .option('--tail <count>', 'begin with this number of the last lines', '200')
  withConfig(logs).action(async (names: readonly string[], flags: LogsFlags) =>
    (await import('../operator/logs.js')).showLogs(names, flags),
  )
  program
    .command('spaces')
    .description('list your spaces that run on this machine')
    .option('--json', 'print one JSON array')
    .action(async (flags: { readonly json?: boolean }) =>
      (await import('../operator/spaces.js')).listLocalSpaces(flags),
    )
}

/** `meup ps` and `meup top`. */
export function addWork(program: Command): void {
  withConnection(program.command('ps'), 'print one JSON object')
    .description('show how the participants of a space are doing: state, messages, calls and tokens')
    .action(async (flags: ConnectionFlags) => (await import('../top/ps.js')).listWork(flags))
  withTarget(program.command('top'))
    .description('the same as it changes; keys pause, kick, interrupt and explain')
    .addHelpText('after', '\n↑ ↓ choose · p pause or resume · k kick · i interrupt · w why · q quit')
    .action(async (flags: ConnectionFlags) => (await import('../top/top.js')).top(flags))
}

/** `meup init`: creates a space with a first agent in an empty folder. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('write a space with a first agent into a folder; never over another one')
    .argument('[folder]', 'where; it is made if need be', '.')
    .addOption(new Option('--template <name>', 'what for (default: hello)').choices(Object.keys(templates)))
    .addOption(
      new Option('--provider <name>', 'of --template model: whose it is (default: anthropic)').choices(
        Object.keys(providers),
      ),
    )
    .option('--model <name>', 'which one')
    .option(
      '--base-url <url>',
      'where a server is that speaks as OpenAI’s does, such as http://127.0.0.1:11434/v1',
    )
    .option('--key <variable>', 'the environment variable with its key')
    .option('--space <name>', 'name of the space (default: that of the folder)')
    .option('--person <name>', 'your name in it (default: as you are logged in)')
    .option('--agent <name>', 'name of the agent (default: by the template)')
    .option(
      '--listen <host:port>',
      'address to listen on (default: 127.0.0.1, the first free port from 8080 on)',
    )
    .option(
      '--import <file>',
      'a file with MCP servers of another program, which become participants; may be repeated',
      repeat,
    )
    .option(
      '--from <folder>',
      'where the packages of meup are as files, as pnpm packs in a clone writes them',
    )
    .option('--yes', 'ask nothing, as without a terminal')
    .option('--json', 'print one JSON object, and ask nothing')
    .action(async (folder: string, flags: InitFlags) =>
      (await import('../operator/init.js')).init(folder, flags),
    )
}

export function addAdd(program: Command): void {
  const command = program
    .command('add')
    .description('write an MCP server into space.yaml; a meup up that runs here starts it')
    .argument('<name>', 'its name in the space')
    .argument('[target...]', 'its address, or -- and its command')
    .option(
      '--env <variable>',
      'NAME=value for its command, or NAME for the value that is set here; may be repeated',
      repeat,
    )
    .option('--header <header>', 'a header for its address, such as "X-Team: blue"; may be repeated', repeat)
    .option('--replace', 'replace a server that is there already; its capabilities and limits stay')
    .option('--space <name>', 'space, where the configuration has several')
    .addHelpText(
      'after',
      '\nmeup add files -- npx -y @modelcontextprotocol/server-filesystem .' +
        '\nmeup add tools https://tools.example/mcp --header "Authorization: Bearer …"' +
        '\nValues that look like secrets are kept in .meup/secrets, and named by variables.',
    )
  withConfig(command).action(async (name: string, words: readonly string[], _: unknown, own: Command) =>
    (await import('../operator/add.js')).add(
      name,
      { words, isCommand: process.argv.includes('--') },
      own.optsWithGlobals<AddFlags>(),
    ),
  )
}

export function addSpace(program: Command): void {
  const group = program.command('space').description('write and check the configuration of a space')
  group
    .command('init')
    .description('write a first space.yaml, with you and an agent in it; never over another one')
    .argument('[folder]', 'where; it is made if need be', '.')
    .option('--json', 'print one JSON object')
    .action(async (folder: string, flags: { json?: boolean }) =>
      (await import('../operator/space-file.js')).initSpace(folder, flags),
    )
  group
    .command('validate')
    .description('check a configuration: every mistake with its line and column, or what would run')
    .option('--config <file>', 'configuration', 'space.yaml')
    .option('--json', 'print one JSON object')
    .action(async (flags: { config: string; json?: boolean }) =>
      (await import('../operator/space-file.js')).validateSpace(flags),
    )
}

const verbs: Record<TokenVerb, { readonly argument: string; readonly description: string }> = {
  create: {
    argument: '[participant]',
    description: 'make a token for a participant, or for all who never had one',
  },
  rotate: {
    argument: '<participant>',
    description: 'replace a token; connections made with the old one are closed',
  },
  revoke: {
    argument: '<participant>',
    description: 'take a token away for good; connections made with it are closed',
  },
}

export function addToken(program: Command): void {
  const group = program
    .command('token')
    .description('make, replace, take away and list the tokens of participants')
    .addHelpText(
      'after',
      '\nA token identifies a participant. It is in .meup/tokens/<participant> next to the configuration.' +
        '\nA gateway that runs here follows at once; it also reads its configuration again then.',
    )
  for (const verb of ['create', 'rotate', 'revoke'] as const) {
    const command = withFlags(group.command(verb), verb === 'revoke')
    command
      .description(verbs[verb].description)
      .argument(verbs[verb].argument, 'whose token')
      .action(async (participant: string | undefined, flags: TokenFlags) =>
        (await import('../operator/tokens.js')).runTokenChange(verb, participant, flags),
      )
  }
  withFlags(group.command('list').alias('ls'), true)
    .description('list tokens, their files and what is wrong with them')
    .argument('[participant]', 'whose token')
    .action(async (participant: string | undefined, flags: TokenFlags) =>
      (await import('../operator/tokens.js')).listTokens(participant, flags),
    )
}

function withFlags(command: Command, isMute: boolean): Command {
  command
    .option('--config <file>', 'configuration', 'space.yaml')
    .option('--space <name>', 'space, where the configuration has several')
    .option('--json', 'print one JSON object')
  if (!isMute) command.option('--show', 'print the token itself')
  return command
}

export function addDoctor(program: Command): void {
  addTargetOptions(program.command('doctor'))
    .option('--json', 'print one JSON object')
    .description('show every setting and its source, then find what is wrong here')
    .option('--config <file>', 'configuration (default: space.yaml)')
    .option('--listen <host:port>', 'address to listen on instead of the configured one')
    .addHelpText('after', '\nIt changes nothing. Exits with 1 when something is wrong.')
    .action(async (flags: DoctorFlags) => (await import('../operator/doctor.js')).doctor(flags))
}

/** `meup backup` and `meup restore`. */
export function addBackup(program: Command): void {
  const backup = program
    .command('backup')
    .description('copy the log to a file, while its gateway runs or not')
    .requiredOption('--to <file>', 'where; never over another file')
  withConfig(backup).action(async (flags: BackupFlags & { to: string }) =>
    (await import('../operator/backup.js')).backUp(flags),
  )
  const restore = program
    .command('restore')
    .description('verify a backup, and put it where the log is to be; never over another one')
    .argument('<file>', 'the backup')
    .option('--to <file>', 'the log (default: storage.path of the configuration)')
  withConfig(restore).action(async (file: string, flags: BackupFlags & { to?: string }) =>
    (await import('../operator/backup.js')).restore(file, flags),
  )
}

export function addStats(program: Command): void {
  const stats = program
    .command('stats')
    .description('show how the gateway of this folder and its spaces are doing')
    .option('--url <url>', 'address of another gateway')
  withConfig(stats).action(async (flags: StatsFlags) => (await import('../operator/stats.js')).stats(flags))
}

/** Collects the values of a repeatable option. */
const repeat = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

const withConfig = (command: Command): Command =>
  command.option('--config <file>', 'configuration', 'space.yaml').option('--json', 'print one JSON object')
