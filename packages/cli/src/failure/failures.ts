import { exitCodes } from './exit-codes.js'

/** A failure that new users may meet; documented in docs/troubleshooting.md. */
export interface FailureRow {
  readonly when: 'start' | 'files' | 'connect' | 'agents'
  /** The printed message; `{name}` is a placeholder for a value. */
  readonly says: string
  readonly cause: string
  /** The next step, in Markdown; also part of the message if this program prints it. */
  readonly remedy: string
  /** The exit code if the failure ends the command; default 1. */
  readonly exit?: (typeof exitCodes)[keyof typeof exitCodes]
}

/**
 * All documented failures. `pnpm tables` writes docs/troubleshooting.md from this table, and test/scenarios/mistakes.test.ts
 * causes each of them.
 */
export const failures = {
  old_node: {
    when: 'start',
    says: 'meup needs Node 20.19 or newer, and this is {version}',
    cause: 'An older Node is first in `PATH`.',
    remedy: 'install a newer one from https://nodejs.org, or choose it with nvm',
  },
  not_built: {
    when: 'start',
    says: 'meup is not built yet',
    cause: 'A fresh clone has sources alone.',
    remedy: 'run `pnpm build` in the clone',
  },
  no_config: {
    when: 'start',
    says: '{file}: there is no such file',
    cause: 'The folder has no space, or it is another folder.',
    remedy: '`meup init` makes a space, `-C <folder>` and `--config <file>` choose one',
    exit: exitCodes.usage,
  },
  wrong_config: {
    when: 'start',
    says: '{file}:{line}:{column} {mistake}',
    cause: 'A mistake in [space.yaml](space-yaml.md); every one is listed.',
    remedy: 'correct that line, and check it with `meup space validate`',
    exit: exitCodes.usage,
  },
  unset_variable: {
    when: 'start',
    says: 'the environment variable {variable} is not set',
    cause: '`space.yaml` uses it.',
    remedy: 'set it, or give it a default in the file',
    exit: exitCodes.usage,
  },
  port_taken: {
    when: 'start',
    says: '{address} is in use',
    cause: 'Another program listens there. `meup up` takes the next free port, unless `--listen` names one.',
    remedy: 'stop that program, or choose another port with `--listen` or `gateway.listen`',
  },
  port_forbidden: {
    when: 'start',
    says: '{address} needs the rights of an administrator',
    cause: 'Ports below 1024 are reserved.',
    remedy: 'choose a port from 1024 on with `--listen` or `gateway.listen`',
  },
  unknown_address: {
    when: 'start',
    says: '{address} is not an address of this machine',
    cause: 'The host in it does not resolve, or is that of another machine.',
    remedy: 'listen on `127.0.0.1` for this machine alone, or on `0.0.0.0` for others too',
  },
  already_running: {
    when: 'start',
    says: 'this space runs already at {url} (pid {pid})',
    cause: '`meup up` was started twice.',
    remedy: 'enter it with `meup join`, or stop it with `meup down`',
  },
  log_in_use: {
    when: 'start',
    says: 'Another gateway has the log {path} open',
    cause: 'Two configurations name one file.',
    remedy: 'stop that gateway, or set another `storage.path`',
  },
  log_of_another_version: {
    when: 'start',
    says: 'The log {path} has format {format}, and this gateway reads format {known}',
    cause: 'Another version of meup wrote the file.',
    remedy: 'start it with that version, or set another `storage.path` for a new log',
  },
  no_log: {
    when: 'start',
    says: 'The log file is damaged or not a log',
    cause: '`storage.path` names another file, or the disk failed.',
    remedy: 'restore it from a copy, or move it away to begin a new log',
  },
  no_sqlite: {
    when: 'start',
    says: 'SQLite needs the package better-sqlite3, which {reason}',
    cause:
      'On Node 20 it is compiled when it is installed, if there is no compiled one for this machine, and that failed or was not allowed.',
    remedy:
      'install python3, make and a C++ compiler, then run `npm install better-sqlite3@12`, or after a change of Node `npm rebuild better-sqlite3`, in a clone `pnpm install`; or set `storage: { kind: memory }`',
  },
  wrong_clock: {
    when: 'start',
    says: 'the clock of this machine says {time}',
    cause:
      'It has no battery and no time service. Times in the log would be wrong, and tokens of an issuer fail.',
    remedy: 'set it, and keep it right with a time service',
  },
  forbidden_file: {
    when: 'files',
    says: 'this user may not use {path}',
    cause: 'The file or its folder belongs to another user, or the disk is read-only.',
    remedy: 'give this user the rights, or run meup as the owner of the folder',
  },
  full_disk: {
    when: 'files',
    says: 'there is no room left for {path}',
    cause: 'The disk, a quota or a limit of file sizes (`ulimit -f`) is exhausted.',
    remedy: 'make room, then start again',
  },
  missing_file: {
    when: 'files',
    says: 'there is no {path}',
    cause: 'The name is misspelt, or relative to another folder.',
    remedy: 'check the name, or choose its folder with `-C`',
    exit: exitCodes.usage,
  },
  unusable_token: {
    when: 'files',
    says: 'the token in {path} is shorter than 16 characters',
    cause: 'The file is empty, or was cut.',
    remedy: 'write a longer one, or delete the file to have one made',
    exit: exitCodes.usage,
  },
  no_gateway: {
    when: 'connect',
    says: 'no space runs in {folder}',
    cause: 'It was not started or has ended, or the folder is another one.',
    remedy:
      'start one here with `meup up`, name another folder with `-C` or an address with `--url` or `MEUP_URL`, or see with `meup spaces` which run',
    exit: exitCodes.usage,
  },
  wrong_url: {
    when: 'connect',
    says: '{url} is not an address like http://127.0.0.1:8080',
    cause: '`--url` or `MEUP_URL` is misspelt.',
    remedy: 'write it with http:// or https:// and the port',
    exit: exitCodes.usage,
  },
  unreachable: {
    when: 'connect',
    says: 'no gateway answers at {url}: {reason}',
    cause: 'It was stopped, listens elsewhere, or a firewall is between.',
    remedy: 'start it with `meup up`, or correct `--url` or `MEUP_URL` (`meup doctor` shows which counts)',
    exit: exitCodes.unreachable,
  },
  no_programs: {
    when: 'connect',
    says: 'no meup up runs in {folder}',
    cause: 'It was stopped, or runs in another folder.',
    remedy: 'start it with `meup up`, or choose its folder with `-C`',
    exit: exitCodes.unreachable,
  },
  gateway_alone: {
    when: 'connect',
    says: 'only meup gateway runs at {url}, which has no programs',
    cause: 'Its programs were started by something else, or not at all.',
    remedy: 'run `meup up` instead to have them started here',
  },
  no_program: {
    when: 'connect',
    says: '{name} is of kind {kind}, and no program of meup up',
    cause: 'Participants of kind `mcp`, `acp` and `process` are programs.',
    remedy: 'choose one of: {programs}',
    exit: exitCodes.usage,
  },
  no_token: {
    when: 'connect',
    says: 'A token is required',
    cause: 'The space takes no guests, and no token was found.',
    remedy:
      'give one with `--token-file` or `MEUP_TOKEN`; in the folder of the space, `--as` with a name is enough',
    exit: exitCodes.auth,
  },
  wrong_token: {
    when: 'connect',
    says: 'Invalid token for space "{space}"',
    cause: 'The token is of another space, was replaced or revoked.',
    remedy: 'look at `meup token list`, or ask the operator for a new one',
    exit: exitCodes.auth,
  },
  unknown_space: {
    when: 'connect',
    says: 'There is no space {space}',
    cause: '`--space` or `MEUP_SPACE` is misspelt.',
    remedy: 'leave it out to enter the only space, or the first one of this folder',
  },
  unknown_participant: {
    when: 'connect',
    says: 'no one is called {name}',
    cause: 'The name is misspelt, or neither in `space.yaml` nor invited.',
    remedy: 'did you mean {meant}?',
  },
  unknown_proposal: {
    when: 'connect',
    says: 'no proposal {id} is in the log',
    cause: 'The id is misspelt, or of another space.',
    remedy: '`meup proposals ls` shows what is open',
  },
  missing_capability: {
    when: 'connect',
    says: '"{participant}" is not allowed to send "{kind}"',
    cause: 'No capability of it covers that.',
    remedy: 'ask a participant that holds one for a grant: `meup caps explain` says which',
    exit: exitCodes.denied,
  },
  no_answer: {
    when: 'connect',
    says: 'no {what} within {time}',
    cause: 'The agent or the tool is slow, or hangs.',
    remedy: 'allow more with `--timeout`, or see with `meup watch --tail 20` what it does',
    exit: exitCodes.timeout,
  },
  program_ended: {
    when: 'connect',
    says: '{participant} stopped: its program ended',
    cause: 'The agent was restarted, or its program or the gateway ended, before it answered.',
    remedy: 'ask again: a new program does not answer what was asked before it started',
    exit: exitCodes.noAnswer,
  },
  missing_program: {
    when: 'agents',
    says: '{participant}: cannot start "{command}": {reason}',
    cause: 'The program is not installed, or not in `PATH`.',
    remedy: 'install it, or correct the command in `space.yaml`',
  },
  failed_server: {
    when: 'agents',
    says: 'the tool server "{participant}" did not start: {reason}',
    cause: 'Its command ends at once, or speaks no MCP. What it printed is above. It is tried again.',
    remedy: 'run the command by hand in the folder of `space.yaml` to see why',
  },
  failed_agent: {
    when: 'agents',
    says: '{command} did not start as a coding agent: {reason}',
    cause: 'The command ends at once, or speaks no ACP; most need an argument for that.',
    remedy: 'run the command by hand, and check `args` in `space.yaml`',
  },
  unreachable_server: {
    when: 'agents',
    says: 'the tool server "{participant}" at {url} is not available: {reason}',
    cause: 'The `url` is wrong, or the server is away.',
    remedy: 'check the url and the headers in `space.yaml`',
  },
  waiting: {
    when: 'agents',
    says: 'still waiting for {participants}',
    cause:
      'A tool server does not answer, or an agent does not connect. The others work. A server or coding agent is stopped and tried again after its `startTimeout`.',
    remedy:
      'run its command by hand, with `MEUP_PARTICIPANT={participant}` before it, to see what it waits for',
  },
  ended_program: {
    when: 'agents',
    says: '{participant} ended: {reason}',
    cause:
      'The program ended or crashed. What it printed is above. It is tried again after 0.5 to 60 seconds, and rests after ten failures within ten minutes.',
    remedy:
      'correct it: `meup up` starts it again when you save it; `meup restart {participant}` starts it at once',
  },
  wrong_setting: {
    when: 'agents',
    says: '{participant} ended: exit 78, a setting of it is wrong',
    cause:
      'It lacks a setting, such as the key of a model, and says which above. It starts again when its files change.',
    remedy: 'set that in the environment of `meup up`, and start it again',
  },
  commonjs_program: {
    when: 'agents',
    says: '{participant} ended: exit 1, it is run as CommonJS',
    cause:
      'It uses `import` or `await` as a module does, and its `package.json` says that it is none, as `npm init -y` writes it. It starts again when its files change, `package.json` too.',
    remedy: 'put `"type": "module"` into its `package.json`',
  },
  kicked_program: {
    when: 'agents',
    says: '{participant} was kicked by {by} and rests until {end}',
    cause:
      'A participant removed it from the space. It starts again when the kick ends, or when it is invited.',
    remedy: 'invite it again with `meup invite {participant}`',
  },
  missing_key: {
    when: 'agents',
    says: 'MODEL={model} needs {variable}',
    cause: 'The agent has no key for that model.',
    remedy: 'set it, or leave `MODEL` out to run the example with a script',
  },
  wrong_key: {
    when: 'agents',
    says: 'I could not answer: {model} answered 401',
    cause: 'The key of the model is wrong or has expired.',
    remedy: 'give the agent a valid key, and restart it',
    exit: exitCodes.noAnswer,
  },
  unreachable_model: {
    when: 'agents',
    says: 'I could not answer: {model} cannot be reached',
    cause: 'The address of the model is wrong, or its server is away.',
    remedy: 'check its `baseURL` (`MODEL_BASE_URL` in the example), and that the server runs',
    exit: exitCodes.noAnswer,
  },
} as const satisfies Record<string, FailureRow>

export type FailureName = keyof typeof failures
