import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { environment, meupCommand, type Outcome, startMeup, temporaryFolder } from './cli.js'
import { repositoryRoot } from './files.js'
import { canRunHere, runHere } from './meup-here.js'
import { saying, serveModel } from './model-server.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
limits: { rates: { chat: { perSecond: 5000, burst: 5000 } } }
participants:
  ana: { kind: human, capabilities: ["*", space.erase, observe.targeted] }
  ben: { kind: human, capabilities: [chat] }
  desktop: { kind: human, capabilities: [chat] }
  eve: { kind: human, capabilities: [chat] }
  stranger: { kind: agent, capabilities: [chat] }
  bot: { kind: process, command: node, args: [bot.mjs], capabilities: [chat, "reasoning.*", mcp.proposal, mcp.withdraw] }
  files: { kind: process, command: node, args: [files.mjs], capabilities: [mcp.response] }
${['coder', 'janitor', 'reviewer', 'thinker']
  .map(
    (name) =>
      `  ${name}: { kind: process, command: node, args: [agent.mjs], capabilities: [chat, "reasoning.*", participant.clear] }`,
  )
  .join('\n')}
`

const idleConfig = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [agent.mjs], capabilities: [chat, "reasoning.*"] }
`

const files = `
import { connect } from '@meup/agent-sdk'
const space = await connect()
const input = { type: 'object', properties: { text: { type: 'string' } } }
space.tool('echo', { input }, ({ text }) => String(text))
`

const agent = `
import { connect } from '@meup/agent-sdk'
const space = await connect()
await space.answer(async (turn) => {
  await turn.reason('Looking', async (run) => {
    await run.thought('It is simple')
    await run.conclude('Done')
  })
  await turn.reply('I removed old.log')
})
`

const bot = (baseURL: string): string => `
import { connect } from '@meup/agent-sdk'
const space = await connect()
await space.agent({ model: 'm', baseURL: ${JSON.stringify(baseURL)}, transcript: 'full' })
`

/** Maximum milliseconds that one command line of the docs may run, on a busy machine. */
const maxMs = 30_000

/** A running space for the examples in help and docs, in a folder in which a shell finds `meup`. */
export class PreparedSpace {
  readonly folder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #modelUrl: string
  /** Seqs of the answers of `bot`, in place of the seqs that command lines of the docs name. */
  readonly #answers: number[] = []
  #eve: SpaceClient | undefined
  readonly url: string

  private constructor(folder: string, url: string, modelUrl: string) {
    this.#modelUrl = modelUrl
    this.folder = folder
    this.url = url
    this.#env = environment({
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      NO_COLOR: '1',
      SEARCH_API_KEY: 'a key',
      TOOLS_TOKEN: 'a token',
    })
  }

  static async start(): Promise<PreparedSpace> {
    const { baseURL } = await serveModel(() => saying('It is so.'))
    const folder = createFolder(baseURL)
    // Send the first chats before the programs join, so that the envelopes that may be erased have small seqs.
    const early = await startMeup('gateway', folder)
    const ana = await connect({ as: 'ana', directory: folder })
    for (let at = 0; at < 8; at++) await ana.chat(`good morning ${at}`, { to: ['ben'] })
    ana.close()
    await early.stop('SIGTERM')
    const { url } = await startMeup('up', folder)
    const prepared = new PreparedSpace(folder, url, baseURL)
    await prepared.#fill()
    return prepared
  }

  async #fill(): Promise<void> {
    const ana = await connect({ as: 'ana', directory: this.folder })
    // Stays connected as eve to ask questions in the background, so no command line of the docs may change eve's token.
    const eve = await connect({ as: 'eve', directory: this.folder })
    onTestFinished(() => eve.close())
    this.#eve = eve
    await ana.whenPresent(['bot', 'files', 'coder', 'janitor', 'reviewer', 'thinker'], { timeoutMs: 60_000 })
    ana.on('envelope', ({ kind, id, from, seq }) => {
      if (kind === 'reasoning.start' && from === 'bot') this.#env.RUN = id
      if (kind === 'chat' && from === 'bot' && seq !== undefined) this.#answers.push(seq)
    })
    for (let turn = 0; turn < 2; turn++) await ana.ask('Why?', { mention: 'bot' })
    for (let turn = 0; turn < 24; turn++) await ana.ask('Clean up.', { mention: 'janitor' })
    ana.close()
  }

  /** Replaces addresses, hashes and seqs in a line by those of this space. */
  async translate(line: string): Promise<string> {
    const [before, after] = this.#answers
    const here = line
      .replace('http://127.0.0.1:8080', this.url)
      .replace("'#40'", `'#${before}'`)
      .replace(/'#(?:48|1620)'/, `'#${after}'`)
      .replace('meup erase 48', 'meup erase 7')
      .replace('--http 8081', '--http 0')
      .replace('127.0.0.1:8081', '127.0.0.1:0')
      .replace(/(meup transcript replay \S+)/, `$1 --base-url ${this.#modelUrl}`)
    if (!/1a2b3c|3fa91c2e|81b0cc/.test(here)) return here
    const { stdout } = await this.run('meup transcript log --json')
    const [first, ...others] = stdout
      .split('\n')
      .filter(Boolean)
      .map((entry) => JSON.parse(entry).commit.hash as string)
    return here.replace(/1a2b3c|3fa91c2e/, String(first)).replace('81b0cc', String(others.at(-1)))
  }

  /** Makes a proposal whose id begins with `P1`, and calls `act`. The proposal is closed afterwards. */
  async withProposal<Value>(as: string, act: () => Promise<Value>): Promise<Value> {
    const space = await connect({ as, directory: this.folder, session: false, unhandled: 'decline' })
    const params = { name: 'echo', arguments: { text: 'hi' } }
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { id } = await space.send({ id: `P1-${Date.now()}`, kind: 'mcp.proposal', to: ['files'], payload })
    try {
      return await act()
    } finally {
      // Ignores failures, because the line may already have decided the proposal.
      await Promise.allSettled([
        space.send({ kind: 'mcp.withdraw', correlationId: id, payload: { reason: 'over' } }),
      ])
      space.close()
    }
  }

  /** Makes an empty folder, or one with a space that does not run. */
  createFolder(hasSpace: boolean): string {
    const parent = temporaryFolder()
    for (const name of ['here', 'other']) mkdirSync(join(parent, name))
    if (hasSpace) {
      symlinkSync(join(repositoryRoot, 'node_modules'), join(parent, 'node_modules'))
      for (const name of ['here', 'other']) {
        writeFileSync(join(parent, name, 'agent.mjs'), agent)
        writeFileSync(join(parent, name, 'space.yaml'), idleConfig)
      }
    }
    return join(parent, 'here')
  }

  /** Asks questions again and again, so that commands that follow the space have something to print. */
  async #talkUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#eve?.ask('And now?', { mention: ['bot', 'thinker'] })
  }

  /** Runs a line in a shell. `isEndless`: stops it once it has printed something, with `--json` on stdout. */
  async run(line: string, { cwd = this.folder, isEndless = false } = {}): Promise<Run> {
    const args = isEndless ? undefined : argumentsOf(line)
    if (args === undefined || !canRunHere(args)) return this.#spawn(line, cwd, isEndless)
    return runHere(args, { cwd, env: this.#env, input: '' })
  }

  #spawn(line: string, cwd: string, isEndless: boolean): Promise<Run> {
    const child = spawn('bash', ['-c', line], {
      cwd,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const said = { stdout: '', stderr: '' }
    return new Promise((resolve, reject) => {
      let isInterrupted = !isEndless
      const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
      const interrupt = (): void => {
        if (!isInterrupted && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
        isInterrupted = true
      }
      child.stdout.on('data', (chunk: Buffer) => {
        said.stdout += chunk
        interrupt()
      })
      child.stderr.on('data', (chunk: Buffer) => {
        said.stderr += chunk
        if (!line.includes('--json')) interrupt()
      })
      const talking = isEndless && this.#talkUntil(() => isInterrupted || hasEnded())
      const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), maxMs)
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        const ran = { code: signal === 'SIGINT' ? 130 : code, ...said }
        Promise.resolve(talking).then(() => resolve(ran), reject)
      })
    })
  }
}

/** The outcome of a command line; `code` is `null` if the shell had to be killed. */
export type Run = Outcome

/** Returns the arguments of a line that is only a `meup` command, without variables, patterns or redirections. */
function argumentsOf(line: string): readonly string[] | undefined {
  const word = String.raw`(?:[\w@%+=:,./-]|'[^']*'|"[^"$\`\\]*")+`
  if (/ init\b/.test(line) || !new RegExp(`^meup(?: ${word})*$`).test(line)) return undefined
  const [, ...words] = line.match(new RegExp(word, 'g')) ?? []
  return words.map((each) => each.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

function createFolder(baseURL: string): string {
  const folder = temporaryFolder({
    'space.yaml': config,
    'files.mjs': files,
    'agent.mjs': agent,
    'bot.mjs': bot(baseURL),
    'new.md': 'Answer in one word.',
    'question.md': 'Why?',
  })
  // Dependencies for programs in the folder: the SDK, and the packages for models.
  symlinkSync(join(repositoryRoot, 'bench/node_modules'), join(folder, 'node_modules'))
  symlinkSync('.', join(folder, 'demo'))
  mkdirSync(join(folder, 'bin'))
  const [node, entry] = meupCommand([])
  const programs = { meup: `exec '${node}' '${entry}' "$@"`, 'xdg-open': 'true' }
  for (const [name, command] of Object.entries(programs)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${command}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  expect(spawnSync('git', ['init', '--quiet'], { cwd: folder }).status).toBe(0)
  return folder
}
