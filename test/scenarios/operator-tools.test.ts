import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, meup, readError, startMeup, temporaryFolder } from '../support/cli.js'

const within = { timeout: 40_000, interval: 25 }
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: agent }
`

/** Runs a line of bash, and waits for its end. */
function bash(line: string, cwd: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('bash', ['-c', line], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

test('init, validate, up: from nothing to a space that runs', async () => {
  const cwd = temporaryFolder()
  const made = await meup(['space', 'init', 'deep/My Space'], { cwd })
  expect(made).toMatchObject({ code: 0, stdout: `${cwd}/deep/My Space/space.yaml\n` })
  const folder = join(cwd, 'deep/My Space')
  const text = readFileSync(join(folder, 'space.yaml'), 'utf8')

  const again = await meup(['space', 'init', 'deep/My Space', '--json'], { cwd })
  expect(readError(again)).toMatchObject({ code: 'file_exists', exitCode: 2 })
  expect(readFileSync(join(folder, 'space.yaml'), 'utf8')).toBe(text)

  const valid = await meup(['space', 'validate', '--json'], { cwd: folder })
  expect(valid.code).toBe(0)
  const { spaces } = JSON.parse(valid.stdout)
  expect(spaces).toMatchObject([{ name: 'my-space', participants: [{ kind: 'human' }, { kind: 'agent' }] }])
  expect((await meup(['space', 'validate'], { cwd: folder })).stdout).toContain('space my-space')

  await startMeup('up', folder, ['--listen', '127.0.0.1:0'])
  expect(await meup(['send', 'hello'], { cwd: folder })).toMatchObject({ code: 0 })
  const [human] = spaces[0].participants
  const space = await connect({ as: human.id, directory: folder })
  expect(space.capabilities).toEqual(['*'])
  space.close()
})

test('validate tells every mistake with its place', async () => {
  const cwd = temporaryFolder({
    'space.yaml': config.replace('kind: human', 'kind: humane').concat('more: 1\n'),
  })
  const received = await meup(['space', 'validate'], { cwd })
  expect(received).toMatchObject({ code: 2, stderr: '' })
  expect(received.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^space\.yaml:6:16 participants\.ana\.kind: /),
    expect.stringMatching(/^space\.yaml:8:1 more: /),
  ])
  const json = await meup(['space', 'validate', '--json'], { cwd })
  expect(json.code).toBe(2)
  expect(JSON.parse(json.stdout)).toMatchObject({
    valid: false,
    problems: [
      { line: 6, column: 16, path: 'participants.ana.kind' },
      { line: 8, column: 1, path: 'more' },
    ],
  })
})

describe('doctor', () => {
  interface Report {
    readonly ok: boolean
    readonly settings: { name: string; value: string; from: string }[]
    readonly checks: { name: string; ok: boolean; detail: string; advice?: string }[]
  }

  async function examine(cwd: string, args: string[] = [], env: Record<string, string> = {}) {
    const { code, stdout } = await meup(['doctor', '--json', ...args], { cwd, env })
    const report = JSON.parse(stdout) as Report
    const wrong = report.checks.filter(({ ok }) => !ok)
    return { code, ...report, wrong: wrong.map(({ name }) => name).sort(), failures: wrong }
  }

  test('finds nothing wrong where nothing is, before a start and beside a running gateway', async () => {
    const cwd = temporaryFolder({ 'space.yaml': config })
    expect(await examine(cwd)).toMatchObject({ code: 0, ok: true, wrong: [] })
    const { url } = await startMeup('gateway', cwd)
    const report = await examine(cwd)
    expect(report).toMatchObject({ code: 0, ok: true, wrong: [] })
    expect(report.checks.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        `${url} answers`,
        'ana may enter demo',
        expect.stringContaining('runs here (pid'),
      ]),
    )
    const { stdout } = await meup(['doctor'], { cwd })
    expect(stdout).toContain(`✓ gateway: ${url} answers`)
    expect(stdout).toMatch(/^participants\.ana\.kind +human +space\.yaml:6$/m)
    expect(stdout).not.toContain(readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim())
    const unknown = { MEUP_TOKEN: 'nobody-has-this-token' } // The gateway refuses this token.
    expect(await examine(cwd, [], unknown)).toMatchObject({ code: 1, wrong: ['entry'] })
  })

  test('says of every setting where it comes from', async () => {
    const text = config.replace('127.0.0.1:0', `127.0.0.1:\${PORT}`)
    const cwd = temporaryFolder({ 'space.yaml': text })
    const env = { PORT: '8123', MEUP_SPACE: 'demo', MEUP_TOKEN: 'a-secret-token-0123' }
    const { settings } = await examine(cwd, ['--config', 'space.yaml', '--url', 'http://127.0.0.1:9'], env)
    const of = (name: string) => settings.find((setting) => setting.name === name)
    expect(of('config')).toEqual({ name: 'config', value: `${cwd}/space.yaml`, from: 'flag --config' })
    expect(of('gateway.listen')).toMatchObject({
      value: '127.0.0.1:8123',
      from: 'space.yaml:4, environment PORT',
    })
    expect(of('limits.contextDepth')).toMatchObject({ value: '5', from: 'default' })
    expect(of('commands go to')).toMatchObject({ value: 'http://127.0.0.1:9', from: 'flag --url' })
    expect(of('commands enter')).toMatchObject({ value: 'demo', from: 'environment MEUP_SPACE' })
    expect(of('with the token')).toMatchObject({ value: '(hidden)', from: 'environment MEUP_TOKEN' })
    const listened = await examine(cwd, ['--listen', '127.0.0.1:0'], env)
    expect(listened.settings).toContainEqual({
      name: 'gateway.listen',
      value: '127.0.0.1:0',
      from: 'flag --listen',
    })
  })

  test('finds a problem of each sort, and says what to do about it', async () => {
    const other = temporaryFolder({ 'space.yaml': config })
    await startMeup('gateway', other)
    const busy = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void busy.close())
    await vi.waitFor(() => expect(busy.listening).toBe(true), within)
    const { port } = busy.address() as { port: number }

    const cwd = temporaryFolder({
      'space.yaml': `${config.replace('127.0.0.1:0', `127.0.0.1:${port}`)}  tool: { kind: mcp, command: no-such }
storage: { kind: sqlite, path: "${other}/.meup/space.db" }
`,
    })
    mkdirSync(join(cwd, '.meup/tokens'), { recursive: true, mode: 0o700 })
    writeFileSync(join(cwd, '.meup/tokens/ana'), 'a-token-of-my-own-0123')
    chmodSync(join(cwd, '.meup/tokens/ana'), 0o644)
    writeFileSync(join(cwd, '.meup/tokens/ben'), 'short', { mode: 0o600 })
    const dead = { url: 'http://127.0.0.1:9', spaces: ['demo'], pid: 2 ** 22 + 1, people: { demo: ['ana'] } }
    writeFileSync(join(cwd, '.meup/gateway.json'), JSON.stringify(dead), { mode: 0o600 })

    const report = await examine(cwd)
    expect(report).toMatchObject({ code: 1, ok: false })
    expect(report.wrong).toEqual(['gateway', 'log', 'modes', 'port', 'programs', 'tokens'])
    for (const { advice } of report.failures) expect(advice).toMatch(/./)
    const text = await meup(['doctor'], { cwd })
    expect(text.code).toBe(1)
    expect(text.stdout).toContain(`✗ port: 127.0.0.1:${port} is held by another program\n  → stop it, or`)
  })

  test('finds mistakes in the file, and looks at the rest all the same', async () => {
    const cwd = temporaryFolder({ 'space.yaml': `${config}more: 1\n` })
    expect(await examine(cwd)).toMatchObject({ code: 1, wrong: ['config'] })
    const nothing = temporaryFolder()
    expect(await examine(nothing)).toMatchObject({ code: 1, wrong: ['config'] })
  })
})

test('completion is a script that bash takes, and offers what there is', async () => {
  const cwd = temporaryFolder()
  const script = `${commandLine('completion bash')} > meup.bash`
  expect(await bash(`${script} && bash -n meup.bash`, cwd)).toEqual({ code: 0, stdout: '', stderr: '' })
  const typed = `COMP_WORDS=(meup token r); COMP_CWORD=2; _meup; echo "\${COMPREPLY[@]}"`
  expect(await bash(`source ./meup.bash; ${typed}`, cwd)).toMatchObject({ stdout: 'rotate revoke\n' })
  expect((await meup(['completion', 'tcsh'], { cwd })).code).toBe(2)
})

test.runIf(existsSync('/usr/bin/script'))('up ends with the terminal that it was started in', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const terminal = spawn('/usr/bin/script', ['-qefc', commandLine('up'), '/dev/null'], { cwd, stdio: 'pipe' })
  onTestFinished(() => void terminal.kill('SIGKILL'))
  const file = join(cwd, '.meup/gateway.json')
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), within)
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number }
  onTestFinished(() => {
    if (existsSync(file)) process.kill(pid, 'SIGKILL')
  })
  terminal.kill('SIGKILL')
  await vi.waitFor(() => expect(existsSync(file)).toBe(false), within)
})

test('every command explains itself', async () => {
  // The completion for fish lists all commands, each with the beginning of its help.
  const { stdout } = await meup(['completion', 'fish'])
  const commands = [...stdout.matchAll(/__meup_at "meup ?(.*?)"' -f -a '(.+?)' -d '(.*)'$/gm)]
    .map(([, group = '', name = '', about = '']) => ({ path: `${group} ${name}`.trim(), about }))
    .filter(({ path }) => !path.startsWith('completion ')) // Leaves out one command per shell.
  expect(commands.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['up', 'token rotate', 'space validate', 'doctor', 'completion', 'watch']),
  )
  for (const { path, about } of commands) expect(about, path).toMatch(/^[a-z].{15,}/)
  const received = [['--help'], ['token', '--help'], ['token', 'rotate', '--help']]
  for (const args of received) {
    const help = await meup(args)
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toMatch(/^Usage: meup .*\n\n[A-Za-z].{15,}/)
  }
})
