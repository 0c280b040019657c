import { spawn } from 'node:child_process'
import { chmodSync, closeSync, cpSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { type FailureName, failures } from '../../packages/cli/src/failure/failures.js'
import {
  commandLine,
  environment,
  meup,
  type Outcome,
  spawnMeup,
  startMeup,
  takePort,
  temporaryFolder,
  upUntil,
} from '../support/cli.js'
import { hasStrace, mountSmallDisk, tracing } from '../support/faults.js'
import { repositoryRoot } from '../support/files.js'
import { serveModel } from '../support/model-server.js'
import { snippetsOf } from '../support/snippets.js'
import { installWithoutSqlite } from '../support/without-sqlite.js'
import { needing } from '../verifies.js'

/** A newcomer's mistake, with the expected output. */
interface Mistake {
  /** Name of the row in the table of failures that the mistake leads to; absent = none. */
  readonly row?: FailureName
  /** Prepares everything. Returns the action with the mistake. */
  readonly prepare: () => Action | Promise<Action>
  /** The expected exit code. */
  readonly code: number
  /** Patterns of the printed cause, and of the next step. */
  readonly cause: RegExp
  readonly next: RegExp
  /** Maximum seconds until it is printed; default `promptSeconds`. */
  readonly maxSeconds?: number
}
type Action = () => Promise<Outcome>

const config = (more = '', head = 'gateway: { listen: "127.0.0.1:0" }'): string => `
version: 1
space: demo
${head}
participants:
  ana: { kind: human, capabilities: ["*"] }
  helper: { kind: agent, capabilities: [chat, mcp.proposal] }
  reviewer: { kind: agent, capabilities: [chat] }
${more}`

/** Makes a folder with a space, in which `meup` can be run. */
function inFolder(
  files: Record<string, string> = { 'space.yaml': config() },
  env: Record<string, string> = {},
) {
  const cwd = temporaryFolder(files)
  return {
    cwd,
    run:
      (...args: string[]): Action =>
      () =>
        meup(args, { cwd, env }),
  }
}

/** The action of running `meup` with these arguments in a folder with these files. */
const running =
  (args: readonly string[], files?: Record<string, string>, env?: Record<string, string>) => (): Action =>
    inFolder(files, env).run(...args)

/** Starts the space, and returns the action of running `meup` in the same folder. */
const nextTo =
  (
    args: readonly string[],
    { elsewhere = false, env = {} }: { elsewhere?: boolean; env?: Record<string, string> } = {},
  ) =>
  async (): Promise<Action> => {
    const { cwd } = inFolder()
    const { url } = await startMeup('gateway', cwd)
    const place = elsewhere ? ['--url', url, '--space', 'demo'] : []
    return () => meup([...args, ...place], { cwd: elsewhere ? temporaryFolder() : cwd, env })
  }

/** The action of running `meup up` with this participant until it prints `text`. */
const upPrinting =
  (text: RegExp, participant = '', env: Record<string, string> = {}) =>
  (): Action =>
  () =>
    upUntil(text, inFolder({ 'space.yaml': config(participant) }).cwd, env)

const exampleAgent = JSON.stringify(join(repositoryRoot, 'examples/model-agent/dist/model-agent.js'))
const modelAgent = (env: Record<string, string>): string =>
  `  bot: { kind: process, command: node, args: [${exampleAgent}], capabilities: [chat, reasoning.*], env: ${JSON.stringify(env)} }`

/** Prepares a space whose agent has a model at this address. Returns the action of asking it. */
async function askModel(baseURL: string): Promise<Action> {
  const env = { MODEL: 'openai-compatible/qwen3', MODEL_BASE_URL: baseURL, MODEL_API_KEY: 'k' }
  const { cwd, run } = inFolder({ 'space.yaml': config(modelAgent(env)) })
  await startMeup('up', cwd)
  return run('ask', 'bot', 'Can we deploy?')
}

/** Runs a program to its end, as a user without root's rights. */
function runAsNobody(args: readonly string[], cwd: string): Promise<Outcome> {
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  return collect(
    spawn('sh', ['-c', `exec ${commandLine(args.join(' '))}`], { cwd, env: environment({}), ...nobody }),
  )
}

function collect(child: ReturnType<typeof spawn>): Promise<Outcome> {
  const said = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    said.stdout += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    said.stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })))
}

/** The environment variables with which `node` loads a module before a program. */
function preload(code: string): Record<string, string> {
  const folder = temporaryFolder({ 'preload.mjs': code })
  return { NODE_OPTIONS: `--import=${join(folder, 'preload.mjs')}` }
}

const in1970 = `
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) { super(...(given.length === 0 ? [Date.now()] : given)) }
  static now() { return 60_000 }
}`
const asNode18 = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })`

/** Prepares a log file of another format version. */
async function logOfAnotherVersion(): Promise<Action> {
  const { cwd, run } = inFolder()
  const gateway = await startMeup('gateway', cwd)
  await gateway.stop('SIGTERM')
  const file = openSync(join(cwd, '.meup/space.db'), 'r+')
  writeSync(file, Buffer.from([0, 0, 3, 232]), 0, 4, 60) // `user_version` of SQLite.
  closeSync(file)
  return run('up')
}

/** Prepares a proposal, and a participant without the right to approve it. */
async function proposal(): Promise<Action> {
  const { cwd } = inFolder()
  await startMeup('gateway', cwd)
  const { said } = spawnMeup(['call', 'reviewer/look', '{}', '--as', 'helper'], cwd)
  await expect.poll(() => said.stderr).toMatch(/proposal \S+\n/)
  const [, id = ''] = /proposal (\S+)\n/.exec(said.stderr) ?? []
  return () => meup(['proposals', 'approve', id, '--as', 'reviewer'], { cwd })
}

const mistakes: Readonly<Record<string, Mistake>> = {
  'a port that is none': {
    prepare: running(['up', '--listen', '127.0.0.1:99999']),
    code: 2,
    cause: /--listen takes HOST:PORT, .* not 127\.0\.0\.1:99999/,
    next: /such as 127\.0\.0\.1:8080/,
  },
  'a port that is taken, named by --listen': {
    row: 'port_taken',
    prepare: async () => running(['up', '--listen', `127.0.0.1:${await takePort()}`])(),
    code: 1,
    cause: /is in use/,
    next: /stop that program, or choose another port with --listen/,
  },
  'a port of the system': {
    row: 'port_forbidden',
    prepare: () => {
      const { cwd } = inFolder()
      const [program = '', ...rest] = tracing('bind', join(cwd, 'trace'), 'error=EACCES')
      const command = `exec ${program} ${rest.join(' ')} ${commandLine('up --listen 127.0.0.1:80')}`
      return () => collect(spawn('sh', ['-c', command], { cwd, env: environment({}) }))
    },
    code: 1,
    cause: /127\.0\.0\.1:80 needs the rights/,
    next: /from 1024 on/,
  },
  'an address of another machine': {
    row: 'unknown_address',
    prepare: running(['up', '--listen', '192.0.2.1:0']),
    code: 1,
    cause: /192\.0\.2\.1:0 is not an address of this machine/,
    next: /listen on 127\.0\.0\.1/,
  },
  'meup up in an empty folder': {
    row: 'no_config',
    prepare: running(['up'], {}),
    code: 2,
    cause: /space\.yaml: there is no such file, the folder is empty/,
    next: /meup init makes a space/,
  },
  'a folder that is not there': {
    prepare: running(['-C', 'nowhere', 'up']),
    code: 2,
    cause: /there is no folder nowhere/,
    next: /meup init/,
  },
  'a misspelt key': {
    row: 'wrong_config',
    prepare: running(['up'], { 'space.yaml': config('', 'gatway: {}') }),
    code: 2,
    cause: /space\.yaml:4:1 gatway: is not known here/,
    next: /did you mean gateway\?/,
  },
  'a tab in YAML': {
    prepare: running(['up'], {
      'space.yaml': 'version: 1\nspace: demo\nparticipants:\n\tana: { kind: human }\n',
    }),
    code: 2,
    cause: /space\.yaml:4:1 /,
    next: /replace the tab/,
  },
  'a name that is there twice': {
    prepare: running(['up'], { 'space.yaml': config('  ana: { kind: human }\n') }),
    code: 2,
    cause: /space\.yaml:9:3 this key is there twice/,
    next: /keep one of them/,
  },
  'a name with capitals': {
    prepare: running(['up'], { 'space.yaml': config().replace('space: demo', 'space: My Space') }),
    code: 2,
    cause: /space: must be a name/,
    next: /lower-case letters, digits and -/,
  },
  'JSON with a comment': {
    prepare: running(['up'], { 'space.yaml': '{\n  // who is here\n  "version": 1, "space": "demo"\n}\n' }),
    code: 2,
    cause: /space\.yaml:2:3 /,
    next: /a comment begins with #/,
  },
  'a variable that is not set': {
    row: 'unset_variable',
    prepare: running(['up'], { 'space.yaml': config('', `gateway: { listen: "\${NOWHERE}" }`) }),
    code: 2,
    cause: /the environment variable NOWHERE is not set/,
    next: /set it, or write \$\{NOWHERE:-default\}/,
  },
  'a misspelt capability': {
    prepare: running(['space', 'validate'], {
      'space.yaml': config('  bot: { kind: agent, capabilities: [chatt] }'),
    }),
    code: 0,
    cause: /bot: "chatt" is not a kind of MEUP/,
    next: /did you mean "chat"\?/,
  },
  'a space that runs already': {
    row: 'already_running',
    prepare: nextTo(['up']),
    code: 1,
    cause: /this space runs already at http:\/\/127\.0\.0\.1:\d+ \(pid \d+\)/,
    next: /enter it with meup join/,
  },
  'a log that another space has open': {
    row: 'log_in_use',
    prepare: async () => {
      const { cwd } = inFolder()
      await startMeup('gateway', cwd)
      const storage = `storage: { kind: sqlite, path: ${join(cwd, '.meup/space.db')} }`
      return running(['up'], { 'space.yaml': config('', storage) })()
    },
    code: 1,
    cause: /Another gateway has the log \S+ open/,
    next: /Stop that gateway, or give this one another file/,
  },
  'a log of another version': {
    row: 'log_of_another_version',
    prepare: logOfAnotherVersion,
    code: 1,
    cause: /has format 1000, and this gateway reads format \d+/,
    next: /of the version that wrote it, or give this one another file/,
  },
  'a log that is none': {
    row: 'no_log',
    prepare: running(['up'], {
      'space.yaml': config('', 'storage: { kind: sqlite, path: log.txt }'),
      'log.txt': 'This is a text, and no database of any kind. '.repeat(100),
    }),
    code: 1,
    cause: /damaged or not a log/,
    next: /Restore it from a copy, or move it away/,
  },
  'no compiler when meup was installed': {
    row: 'no_sqlite',
    prepare: () => {
      const { cwd } = inFolder()
      const program = installWithoutSqlite('missing')
      return () => meup(['up'], { cwd, program })
    },
    code: 1,
    cause: /SQLite needs the package better-sqlite3, which is not installed/,
    next: /Install python3, make and a C\+\+ compiler, then run npm install better-sqlite3@12/,
  },
  'a clock in 1970': {
    row: 'wrong_clock',
    prepare: () => upPrinting(/listening on/, '', preload(in1970))(),
    code: 0,
    cause: /the clock of this machine says 1970/,
    next: /set it, and keep it right/,
  },
  'an old Node': {
    row: 'old_node',
    prepare: () => running(['up'], {}, preload(asNode18))(),
    code: 1,
    cause: /meup needs Node 20\.19 or newer, and this is 18\.20\.4/,
    next: /install a newer one/,
  },
  'a clone that is not built': {
    row: 'not_built',
    prepare: () => {
      const cwd = temporaryFolder({ 'package.json': '{"type":"module"}' })
      cpSync(join(repositoryRoot, 'packages/cli/bin'), join(cwd, 'bin'), { recursive: true })
      return () => collect(spawn(process.execPath, ['bin/meup.js'], { cwd }))
    },
    code: 1,
    cause: /meup is not built yet/,
    next: /run pnpm build/,
  },
  'no git': {
    prepare: () => inFolder({}, { PATH: '/nowhere' }).run('init', 'new', '--listen', '127.0.0.1:0'),
    code: 0,
    cause: /✓ new\/space\.yaml/,
    next: /now run/,
  },
  'a folder without rights': {
    row: 'forbidden_file',
    prepare: () => {
      const { cwd } = inFolder()
      chmodSync(cwd, 0o555)
      onTestFinished(() => chmodSync(cwd, 0o700))
      return () => runAsNobody(['up'], cwd)
    },
    code: 1,
    cause: /this user may not use \S+\.meup/,
    next: /give this user the rights/,
  },
  'a disk that is full': {
    row: 'full_disk',
    prepare: () => {
      const disk = mountSmallDisk(1)
      if (disk === undefined) throw new Error('no disk')
      writeFileSync(join(disk.folder, 'space.yaml'), config())
      disk.fill()
      return () => meup(['up'], { cwd: disk.folder })
    },
    code: 1,
    cause: /there is no room left/,
    next: /make room/,
  },
  'a token file that is not there': {
    row: 'missing_file',
    prepare: nextTo(['send', 'x', '--token-file', 'nothing']),
    code: 2,
    cause: /there is no nothing/,
    next: /check the name/,
  },
  'an empty file given as a token': {
    prepare: nextTo(['send', 'x', '--token-file', '/dev/null']),
    code: 2,
    cause: /\/dev\/null is empty/,
    next: /meup token list/,
  },
  'an empty token file': {
    row: 'unusable_token',
    prepare: () => {
      const { cwd, run } = inFolder()
      mkdirSync(join(cwd, '.meup/tokens'), { recursive: true })
      writeFileSync(join(cwd, '.meup/tokens/ana'), '')
      return run('up')
    },
    code: 2,
    cause: /the token in \S+ana is shorter than 16 characters/,
    next: /write a longer one, or delete the file/,
  },
  'meup join where no space is': {
    row: 'no_gateway',
    prepare: running(['join'], {}),
    code: 2,
    cause: /no space runs in \//,
    next: /start one here with meup up/,
  },
  'an address that is no URL': {
    row: 'wrong_url',
    prepare: running(['send', 'x', '--space', 'demo'], {}, { MEUP_URL: 'localhost:8080' }),
    code: 2,
    cause: /localhost:8080 is not an address/,
    next: /like http:\/\/127\.0\.0\.1:8080/,
  },
  'a gateway that does not run': {
    row: 'unreachable',
    prepare: running(['send', 'x', '--url', 'http://127.0.0.1:9', '--space', 'demo'], {}),
    code: 3,
    cause: /no gateway answers at http:\/\/127\.0\.0\.1:9: /,
    next: /start it with meup up/,
  },
  'no token': {
    row: 'no_token',
    prepare: nextTo(['send', 'x'], { elsewhere: true }),
    code: 4,
    cause: /A token is required/,
    next: /--token-file or MEUP_TOKEN; in the folder of the space, --as with a name is enough/,
  },
  'a wrong token': {
    row: 'wrong_token',
    prepare: nextTo(['send', 'x'], { elsewhere: true, env: { MEUP_TOKEN: 'nobody-has-this-token' } }),
    code: 4,
    cause: /Invalid token for space "demo"/,
    next: /meup token list/,
  },
  'a space that is not there': {
    row: 'unknown_space',
    prepare: nextTo(['send', 'x', '--space', 'dmeo', '--as', 'ana']),
    code: 1,
    cause: /There is no space dmeo/,
    next: /leave it out to enter/,
  },
  'an agent that is not there': {
    row: 'unknown_participant',
    prepare: nextTo(['ask', 'reviwer', 'Hello?']),
    code: 1,
    cause: /no one is called reviwer/,
    next: /did you mean reviewer\?/,
  },
  'a proposal that is not there': {
    row: 'unknown_proposal',
    prepare: nextTo(['proposals', 'approve', 'nothing']),
    code: 1,
    cause: /no proposal nothing is in the log/,
    next: /meup proposals ls shows what is open/,
  },
  'approving without the capability': {
    row: 'missing_capability',
    prepare: proposal,
    code: 5,
    cause: /"reviewer" is not allowed to send "mcp\.request"/,
    next: /It lacks the capability \{"tool":"reviewer\/look"\}/,
  },
  'meup restart where nothing runs': {
    row: 'no_programs',
    prepare: running(['restart', 'bot']),
    code: 3,
    cause: /no meup up runs in /,
    next: /start it with meup up/,
  },
  'meup restart beside a gateway alone': {
    row: 'gateway_alone',
    prepare: nextTo(['restart', 'helper']),
    code: 1,
    cause: /only meup gateway runs at http/,
    next: /run meup up instead/,
  },
  'meup restart of a person': {
    row: 'no_program',
    prepare: async () => {
      const { cwd, run } = inFolder()
      await startMeup('up', cwd)
      return run('restart', 'ana')
    },
    code: 2,
    cause: /ana is of kind human/,
    next: /choose one of: none/,
  },
  'a program that was kicked': {
    row: 'kicked_program',
    prepare: async () => {
      const { cwd, run } = inFolder({ 'space.yaml': config(modelAgent({})) })
      const { said, process, ended } = spawnMeup(['up'], cwd)
      await expect.poll(() => said.stderr).toContain('bot is up')
      return async () => {
        await run('kick', 'bot')()
        await expect.poll(() => said.stderr).toContain('was kicked')
        process.kill('SIGTERM')
        // Ignores output of the program itself: it may print a stack, because it does not expect to be kicked.
        const stderr = said.stderr.replace(/^bot {4}\|.*\n/gm, '')
        return { code: await ended, stdout: said.stdout, stderr }
      }
    },
    code: 0,
    cause: /bot was kicked by ana and rests until it is invited again/,
    next: /meup invite bot/,
  },
  'a program that ends before it answers': {
    row: 'program_ended',
    prepare: async () => {
      const { cwd, run } = inFolder()
      await startMeup('gateway', cwd)
      const helper = await connect({ as: 'helper', directory: cwd })
      helper.on('envelope', ({ kind }) => {
        if (kind === 'chat') void helper.leave()
      })
      return run('ask', 'helper', 'Hello?')
    },
    code: 9,
    cause: /helper stopped: its program ended/,
    next: /ask again/,
  },
  'asking an agent that is away': {
    row: 'no_answer',
    prepare: nextTo(['ask', 'helper', 'Hello?', '--timeout', '300ms']),
    code: 6,
    cause: /no sign of helper within 0\.3 s/,
    next: /allow more with --timeout/,
  },
  'a program that is not installed': {
    row: 'missing_program',
    prepare: upPrinting(/next try/, '  files: { kind: mcp, command: no-such-program }'),
    code: 0,
    cause: /files: cannot start "no-such-program"/,
    next: /install it, or correct the command/,
  },
  'a tool server that exits at once': {
    row: 'failed_server',
    prepare: upPrinting(/next try/, '  files: { kind: mcp, command: node, args: [-e, "process.exit(3)"] }'),
    code: 0,
    cause: /the tool server "files" did not start: it exited with code 3/,
    next: /run the command by hand/,
  },
  'a coding agent that is none': {
    row: 'failed_agent',
    prepare: upPrinting(/next try/, '  coder: { kind: acp, command: node, args: [-e, "process.exit(3)"] }'),
    code: 0,
    cause: /node did not start as a coding agent: it ended at once: exit 3/,
    next: /check args in space\.yaml/,
  },
  'a tool server elsewhere that is not there': {
    row: 'unreachable_server',
    prepare: upPrinting(/next try/, '  files: { kind: mcp, url: "http://127.0.0.1:9/mcp" }'),
    code: 0,
    cause:
      /the tool server "files" at http:\/\/127\.0\.0\.1:9\/mcp is not available: it could not be reached/,
    next: /check the url and the headers/,
  },
  'a tool server that hangs': {
    row: 'waiting',
    prepare: upPrinting(
      /still waiting/,
      '  files: { kind: mcp, command: node, args: [-e, "setInterval(() => {}, 1000)"] }',
    ),
    code: 0,
    cause: /still waiting for files/,
    next: /run its command by hand/,
    maxSeconds: 20, // A tool server is given ten seconds to start.
  },
  'an agent that exits at once': {
    row: 'ended_program',
    prepare: upPrinting(
      /bot ended/,
      '  bot: { kind: process, command: node, args: [-e, "process.exit(3)"] }',
    ),
    code: 0,
    cause: /bot ended: exit 3/,
    next: /next try in/,
  },
  'an agent that is run as CommonJS': {
    row: 'commonjs_program',
    prepare: () => () => {
      const bot = '  bot: { kind: process, command: node, args: [bot.js] }'
      const files = { 'bot.js': `import 'node:fs'`, 'package.json': '{"type":"commonjs"}' }
      return upUntil(/bot ended/, inFolder({ ...files, 'space.yaml': config(bot) }).cwd, {})
    },
    code: 0,
    cause: /bot ended: exit 1, it is run as CommonJS/,
    next: /put "type": "module" into its package\.json/,
  },
  'a model without its key': {
    row: 'missing_key',
    prepare: upPrinting(/bot ended/, modelAgent({ MODEL: 'anthropic/claude' })),
    code: 0,
    cause: /MODEL=anthropic\/claude needs ANTHROPIC_API_KEY/,
    next: /set it, or leave MODEL out/,
  },
  'a model without its key is not tried again': {
    row: 'wrong_setting',
    prepare: upPrinting(/bot ended/, modelAgent({ MODEL: 'anthropic/claude' })),
    code: 0,
    cause: /bot ended: exit 78, a setting of it is wrong/,
    next: /restarting when its files change/,
  },
  'a wrong key of a model': {
    row: 'wrong_key',
    prepare: async () => {
      const refusal = { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key' } }) }
      return askModel((await serveModel(() => refusal)).baseURL)
    },
    code: 9,
    cause: /I could not answer: \S+ at http:\/\/127\.0\.0\.1:\d+\/v1 answered 401/,
    next: /it needs a valid API key/,
  },
  'a model that cannot be reached': {
    row: 'unreachable_model',
    prepare: () => askModel('http://127.0.0.1:47999/v1'),
    code: 9,
    cause: /I could not answer: \S+ at http:\/\/127\.0\.0\.1:47999\/v1 cannot be reached/,
    next: /check that its server runs there/,
  },
  'a misspelt command': {
    prepare: running(['jion'], {}),
    code: 2,
    cause: /unknown command 'jion'/,
    next: /Did you mean join\?/,
  },
  'a misspelt option': {
    prepare: running(['up', '--lisen', 'x'], {}),
    code: 2,
    cause: /unknown option '--lisen'/,
    next: /Did you mean --listen\?/,
  },
  'an export that is not there': {
    prepare: running(['audit', 'verify', 'nothing.jsonl'], {}),
    code: 2,
    cause: /nothing\.jsonl cannot be read: there is no such file/,
    next: /Write an export with meup audit export -o nothing\.jsonl/,
  },
}

const needs: Readonly<Record<string, Parameters<typeof needing>>> = {
  'a port of the system': ['strace, and the right to trace', hasStrace],
  'a disk that is full': ['the right to mount a disk in memory (root)', () => process.getuid?.() === 0],
}

const promptSeconds = 10

for (const [name, { row, prepare, code, cause, next, maxSeconds = promptSeconds }] of Object.entries(
  mistakes,
)) {
  const [what, isThere] = needs[name] ?? ['nothing', () => true]
  test(
    `${name}: one sentence says why, and what to do`,
    needing(
      what,
      isThere,
    )(async () => {
      const act = await prepare()
      const began = performance.now()
      const outcome = await act()
      const seconds = (performance.now() - began) / 1000
      const text = `${outcome.stdout}${outcome.stderr}`
      expect(text).toMatch(cause)
      expect(text).toMatch(new RegExp(next, 'i'))
      expect(text).not.toMatch(/^\s+at /m)
      expect(outcome.code).toBe(code)
      expect(seconds).toBeLessThan(maxSeconds)
      if (row !== undefined) expect(text).toMatch(toPattern(failures[row].says))
    }),
  )
}

/** Converts the message of a row to a pattern, with any text in the places of values. */
const toPattern = (says: string): RegExp =>
  new RegExp(
    says
      .split(/\{\w+\}/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+'),
  )

test('the example of the page about them is what is said', async () => {
  const snippet = snippetsOf('docs/troubleshooting.md').find(({ language }) => language === 'console')
  const [command = '', ...said] = (snippet?.text ?? '').trimEnd().split('\n')
  const helper = '  helper: { kind: agent, capabilities: [mcp.proposal, { tool: "files/read_*" }] }'
  const { cwd, run } = inFolder({
    'space.yaml': config('  files: { kind: agent }').replace(/^ {2}helper: .*$/m, helper),
  })
  await startMeup('gateway', cwd)
  const { stdout } = await run(...command.replace('$ meup ', '').split(' '))()
  expect(stdout.trimEnd().split('\n')).toEqual(said)
})

test('there is a mistake for each failure of the table', () => {
  const shown = new Set(Object.values(mistakes).map(({ row }) => row))
  expect(Object.keys(failures).filter((name) => !shown.has(name as FailureName))).toEqual([])
})
