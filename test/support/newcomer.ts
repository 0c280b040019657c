import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { environment } from './cli.js'
import { calling, saying } from './model-server.js'

/** A user who types commands in a folder and waits for their output. Records how many seconds each step takes. */
export class Newcomer {
  readonly steps: { readonly step: string; readonly seconds: number }[] = []
  #folder: string
  readonly #env: Record<string, string>

  constructor(folder: string, env: Record<string, string> = {}) {
    this.#folder = folder
    this.#env = { NO_COLOR: '1', npm_config_update_notifier: 'false', ...env }
  }

  get folder(): string {
    return this.#folder
  }

  enters(folder: string): void {
    this.#folder = join(this.#folder, folder)
  }

  async step<Result>(step: string, act: () => Promise<Result>): Promise<Result> {
    const began = performance.now()
    const result = await act()
    this.steps.push({ step, seconds: Math.round((performance.now() - began) / 100) / 10 })
    return result
  }

  /** Runs a command, and waits for its end; it must succeed. */
  types(command: string): Promise<string> {
    return this.step(command, async () => {
      const { code, output } = await this.#run(command)
      expect(code, `${command}: ${output}`).toBe(0)
      return output
    })
  }

  #run(command: string): Promise<{ code: number; output: string }> {
    const options = { cwd: this.#folder, env: environment(this.#env), maxBuffer: 64 * 1024 * 1024 }
    return new Promise((resolve) =>
      execFile('sh', ['-c', command], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
      ),
    )
  }

  /** Runs `npx meup up` until the test is over, and waits until all participants are present. */
  async ups(): Promise<Terminal> {
    const terminal = new Terminal('npx meup up', this.#folder, environment(this.#env))
    await this.step('npx meup up', () => terminal.prints(/ (?:is|are) up\b/))
    return terminal
  }

  edits(file: string, from: string, to: string): void {
    const path = join(this.#folder, file)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(from)
    writeFileSync(path, text.replace(from, to))
  }

  /** Edits a file, and waits until the agent has restarted. */
  saves(what: string, file: string, from: string, to: string, agent: string): Promise<void> {
    return this.step(what, async () => {
      await using ana = await connect({ directory: this.#folder, as: 'ana' })
      const envelopes = ana.envelopes()
      this.edits(file, from, to)
      for await (const { kind, payload } of envelopes)
        if (kind === 'system.presence' && payload.event === 'join' && payload.participant.id === agent) return
    })
  }
}

/** A command that runs until the test is over. */
class Terminal {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #printed = ''
  #isOver = false

  constructor(command: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('sh', ['-c', command], { cwd, env, detached: true })
    this.#ended = new Promise<void>((resolve) => this.#child.once('close', () => resolve())).then(() => {
      this.#isOver = true
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#printed += chunk
      })
    onTestFinished(() => this.close())
  }

  get printed(): string {
    return this.#printed
  }

  /** Waits until the command has printed this. */
  async prints(text: RegExp): Promise<void> {
    await expect.poll(() => this.#printed, { timeout: 60_000, interval: 20 }).toMatch(text)
  }

  async close(): Promise<void> {
    if (!this.#isOver && this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGINT')
    await this.#ended
  }
}

/** The model's answers while the user edits its instructions: it reads the report, and repeats the last edit. */
export function reviewerScript({ messages }: { readonly messages: readonly { readonly role: string }[] }) {
  const [edit = 'no edit'] = /edit \d/.exec(JSON.stringify(messages)) ?? []
  return messages.at(-1)?.role === 'tool'
    ? saying(`Do not deploy: the token expires (${edit}).`)
    : calling('files__read_text_file', { _rationale: 'what fails decides', path: 'report.txt' })
}

/**
 * Plays the first hour in a new space with a model: runs it, edits it three times, breaks and mends it, and checks, tests and
 * packs it.
 */
export async function spendFirstHour(newcomer: Newcomer): Promise<void> {
  const ask = "npx meup ask reviewer 'Can we deploy?'"
  const terminal = await newcomer.ups()
  expect(await newcomer.types(ask)).toContain('Do not deploy: the token expires (no edit).')
  let before = 'You advise'
  for (const edit of ['edit 1', 'edit 2', 'edit 3']) {
    const after = `Of ${edit}: you advise`
    await newcomer.saves(`save ${edit}, until the agent is back`, 'role.ts', before, after, 'reviewer')
    expect(await newcomer.types(ask)).toContain(`(${edit})`)
    before = after
  }
  await newcomer.step('break it, until the error is read', async () => {
    newcomer.edits('role.ts', 'tools: [', 'tools: [[')
    await terminal.prints(/role\.ts:\d+:\d+: ERROR: [\s\S]*reviewer ended: exit 1/)
  })
  await newcomer.saves('mend it, until the agent is back', 'role.ts', '[[', '[', 'reviewer')
  expect(await newcomer.types(ask)).toContain('(edit 3)')
  await newcomer.types('npm run check')
  await newcomer.types('npm test')
  await newcomer.types('npm pack --silent')
  const packed = await newcomer.types('tar -tzf *.tgz')
  expect(packed).toContain('package/agent.ts')
  expect(packed).not.toMatch(/\.meup|node_modules/)
  await newcomer.step('Ctrl+C', () => terminal.close())
}
