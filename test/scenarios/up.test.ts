import { execFileSync, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, meup, spawnMeup, takePort, temporaryFolder, upUntil } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'

const sdk = JSON.stringify(join(repositoryRoot, 'packages/agent-sdk/dist/index.js'))

/** The source of an agent that prints a line, answers each turn with `word`, and crashes after answering `Fail`. */
const agent = (word: string): string => `
import { connect } from ${sdk}
console.log('ready to say ${word}')
const space = await connect()
await space.answer(async (turn) => {
  if (turn.text === 'Fail') setImmediate(() => { throw new Error('told to\\n  fail') })
  await turn.reply('${word}')
})
`
const config = (participants: string): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
${participants}
`
const bots = config(`
  bot: { kind: process, command: node, args: [bot.mjs] }
  other: { kind: process, command: node, args: [other.mjs] }`)

async function enter(folder: string): Promise<SpaceClient> {
  const space = await connect({ as: 'ana', directory: folder })
  onTestFinished(() => space.close())
  return space
}

test('what participants print is shown live, each line with its name, and stacks are left as they are', async () => {
  const folder = temporaryFolder({ 'space.yaml': bots, 'bot.mjs': agent('one'), 'other.mjs': agent('other') })
  const { said, process, ended } = spawnMeup(['up'], folder)
  // Both programs are reported in one line, unless a busy machine delays one of them.
  await expect.poll(() => said.stderr).toMatch(/^\d\d:\d\d:\d\d {2}bot (and other are|is) up \([\d.]+ s\)$/m)
  await expect.poll(() => said.stderr).toMatch(/other (is|are) up/)
  const [first, , third] = said.stderr.split('\n')
  expect(first).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+ · space demo$/)
  expect(third).toBe('starting bot and other')
  expect(said.stdout.split('\n').sort()).toEqual([
    '',
    'bot   | ready to say one',
    'other | ready to say other',
  ])
  const ana = await enter(folder)
  await ana.chat('Fail')
  await expect
    .poll(() => said.stderr)
    .toMatch(/^\d\d:\d\d:\d\d {2}✗ bot ended: exit 1, bot\.mjs:6:\d+: Error: told to · next try in 0\.\d s$/m)
  expect(said.stderr).toMatch(
    /\nbot {3}\| Error: told to\nbot {3}\| {3}fail\nbot {3}\| {5}at Immediate\.<anonymous> \(file:.*bot\.mjs:6:\d+\)\n/,
  )
  process.kill('SIGTERM')
  expect(await ended).toBe(0)
})

test.runIf(existsSync('/usr/bin/script'))('at a terminal each participant has a colour', async () => {
  const cwd = temporaryFolder({ 'space.yaml': bots, 'bot.mjs': agent('one'), 'other.mjs': agent('other') })
  const terminal = spawn('/usr/bin/script', ['-qefc', commandLine('up'), '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: undefined, CI: undefined },
  })
  onTestFinished(() => void terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (chunk: Buffer) => {
    shown += chunk
  })
  const coloured = () =>
    [...shown.replaceAll('\u001b', '␛').matchAll(/␛\[1;(\d+)m(\w+) *␛\[0m \| ready/g)].map(
      ([, colour, name]) => [name, colour],
    )
  await expect
    .poll(() =>
      coloured()
        .map(([name]) => name)
        .sort(),
    )
    .toEqual(['bot', 'other'])
  expect(new Set(coloured().map(([, colour]) => colour)).size).toBe(2)
})

test('what the gateway says is a line that names what it is about, and no secret', () => {
  const cli = JSON.stringify(join(repositoryRoot, 'packages/cli/dist/index.js'))
  const script = `
    const { operatorLog } = await import(${cli})
    const log = operatorLog('warn')
    const fields = { space: 'demo', lost: 3, token: 'secret', deeper: { env: 'secret' } }
    log.info(fields, 'not shown')
    log.error({ ...fields, err: new Error('disk\\u001b[2J full') }, 'the log of demo refused a commit')`
  const command = [process.execPath, '--input-type=module', '--eval', script]
  const said = execFileSync('/bin/sh', ['-c', '"$@" 2>&1', 'sh', ...command], { encoding: 'utf8' })
  expect(said).toBe('✗ the log of demo refused a commit: disk[2J full (lost 3)\n')
})

test('with --json each line is an object', async () => {
  const folder = temporaryFolder({
    'space.yaml': bots,
    'bot.mjs': agent('one'),
    'other.mjs': `console.error('x')`,
  })
  const { said } = spawnMeup(['up', '--json'], folder)
  const objects = (text: string) =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const events = () => objects(said.stdout)
  const logged = () => objects(said.stderr)
  const participants = ['bot', 'other']
  await expect.poll(() => events().map(({ event }) => event)).toContain('ready')
  expect(events()).toEqual(
    expect.arrayContaining([
      { event: 'starting', participants },
      { event: 'started', participants },
      expect.objectContaining({ event: 'ended', participant: 'other', reason: 'exit 0', resting: true }),
      expect.objectContaining({ event: 'ready', participants: ['bot'], waitedMs: expect.any(Number) }),
    ]),
  )
  await expect.poll(logged).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        participant: 'bot',
        stream: 'stdout',
        text: 'ready to say one',
        level: 30,
      }),
      expect.objectContaining({ participant: 'other', stream: 'stderr', text: 'x', level: 40 }),
      expect.objectContaining({ participant: 'other', reason: 'exit 0' }),
    ]),
  )
})

test('with --json a stack is one event, in its place before the end of its program', async () => {
  const folder = temporaryFolder({
    'space.yaml': config('  bot: { kind: process, command: node, args: [bot.mjs], watch: false }'),
    'bot.mjs': `console.error('first')
import { existsSync } from 'node:fs'
setInterval(() => { if (existsSync('go')) throw new Error('broken') }, 20)`,
  })
  const { said } = spawnMeup(['up', '--json'], folder)
  await expect.poll(() => said.stderr).toContain('first')
  writeFileSync(join(folder, 'go'), '')
  await expect.poll(() => said.stderr).toMatch(/bot ended/)
  const logged = said.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const end = logged.findIndex(({ reason }) => /^exit 1, bot\.mjs:3:\d+: Error: broken$/.test(reason))
  expect(logged.slice(0, end)).toEqual([
    expect.objectContaining({ participant: 'bot', stream: 'stderr', text: 'first' }),
    expect.objectContaining({
      participant: 'bot',
      stream: 'stderr',
      text: expect.stringMatching(/bot\.mjs:3\n[\s\S]*\nError: broken\n {4}at [\s\S]*\nNode\.js v/),
    }),
  ])
})

test('up takes the next free port if that of space.yaml is in use, and says so; gateway does not', async () => {
  const port = await takePort()
  const yaml = config('').replace('127.0.0.1:0', `127.0.0.1:${port}`)
  const folder = temporaryFolder({ 'space.yaml': yaml })
  const { said } = spawnMeup(['up'], folder)
  await expect.poll(() => said.stderr).toMatch(/^listening on /m)
  const [, listening = ''] = /^listening on http:\/\/127\.0\.0\.1:(\d+)/m.exec(said.stderr) ?? []
  expect(Number(listening)).toBeGreaterThan(port)
  expect(said.stderr).toMatch(
    new RegExp(`^! 127\\.0\\.0\\.1:${port}, where .* listen, is in use; it takes port ${listening}$`, 'm'),
  )
  expect((await enter(folder)).id).toBe('ana')
  expect(await meup(['gateway'], { cwd: temporaryFolder({ 'space.yaml': yaml }) })).toMatchObject({
    code: 1,
    stderr: `meup: 127.0.0.1:${port} is in use. Stop that program, or choose another port with --listen or gateway.listen.\n`,
  })
})

test('a stack is printed with --verbose alone', async () => {
  const args = ['send', 'x', '--url', 'http://127.0.0.1:9', '--space', 'demo']
  expect((await meup(args)).stderr.trim().split('\n')).toHaveLength(1)
  expect((await meup([...args, '--verbose'])).stderr).toMatch(/^meup: no gateway answers[\s\S]*^\s+at /m)
})

/** The source of an MCP server that answers once a file exists. */
const slowServer = `
const { existsSync } = require('node:fs')
const answers = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const wait = setInterval(() => {
    if (!existsSync('go')) return
    clearInterval(wait)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? { tools: [] } }))
  }, 20)
})
`
const slow = config('  tools: { kind: mcp, command: node, args: [server.cjs] }')

test('the gateway listens before its participants have started', async () => {
  const folder = temporaryFolder({ 'space.yaml': slow, 'server.cjs': slowServer })
  const { said } = spawnMeup(['up'], folder)
  await expect.poll(() => said.stderr).toMatch(/\nstarting tools\n$/)
  const ana = await enter(folder)
  await ana.chat('before')
  expect(said.stderr).not.toContain('tools is up')
  writeFileSync(join(folder, 'go'), '')
  await expect.poll(() => said.stderr).toMatch(/ {2}tools is up \([\d.]+ s\)\n$/)
  expect(ana.participants.map(({ id }) => id)).toContain('tools')
})

// On a busy machine, a single shutdown may take too long, so the test is repeated if it fails.
test('a signal ends a start that is under way', { retry: 2 }, async () => {
  const folder = temporaryFolder({ 'space.yaml': slow, 'server.cjs': slowServer })
  const { said, process, ended } = spawnMeup(['up'], folder)
  await expect.poll(() => said.stderr).toMatch(/\nstarting tools\n$/)
  process.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(said.stderr).not.toContain('meup:')
  expect(existsSync(join(folder, '.meup/gateway.json'))).toBe(false)
})

test.for(['process', 'mcp'])(
  'a %s that cannot be started is one line, and the space goes on',
  async (kind) => {
    const participants = `  bot: { kind: ${kind}, command: no-such-program }`
    const folder = temporaryFolder({ 'space.yaml': config(participants) })
    const { said, process, ended } = spawnMeup(['up'], folder)
    const [first = '', second = ''] = await vi.waitFor(() => {
      const lines = said.stderr.split('\n').filter((line) => line.includes('✗'))
      expect(lines.length).toBeGreaterThan(1)
      return lines
    }, 30_000)
    expect(first).toMatch(
      /✗ bot: cannot start "no-such-program": the command was not found on the PATH of its environment\. Install it, or correct the command in space\.yaml\. · next try in 0\.\d s$/,
    )
    expect(second).toMatch(/✗ bot did not start \(2nd time in [\d.]+ m?s, same error\) · next try in /)
    await (await enter(folder)).chat('still here')
    process.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(said.stderr).not.toMatch(/^\s+at /m)
  },
)

test('a coding agent that is not installed is named with the command that installs it', async () => {
  const folder = temporaryFolder({ 'space.yaml': config('  bot: { kind: acp, agent: opencode }') })
  const { stderr } = await upUntil(/✗ .*\n/, folder, { PATH: folder })
  expect(stderr).toContain('Install it: npm install -g opencode-ai, or correct the command in space.yaml')
  expect(stderr).toMatch(/\nending; a second Ctrl\+C ends at once\n/)
})

describe('a participant that is required', () => {
  const requiring = (participants: string, ...args: string[]) => {
    const cwd = temporaryFolder({ 'space.yaml': config(participants), 'bot.mjs': agent('one') })
    return meup(['up', ...args], { cwd })
  }

  test('and does not start ends the space with the cause', async () => {
    const { code, stderr } = await requiring(
      '  bot: { kind: mcp, command: no-such-program }',
      '--require',
      'bot',
    )
    expect(code).toBe(1)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^meup: bot: cannot start "no-such-program": /)
  })

  test('and does not join in time ends the space', async () => {
    const { code, stderr } = await requiring(
      '  bot: { kind: process, command: sleep, args: ["60"], startTimeout: 500ms }',
      '--require',
      'bot',
    )
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, 'meup: bot has not joined within 0.5 s'])
  })

  test('and is no program is refused before anything starts', async () => {
    const { code, stdout, stderr } = await requiring(
      '  bot: { kind: process, command: sleep, args: ["60"] }',
      '--require',
      'bot,bto',
    )
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Did you mean bot?')
  })

  test('and joins leaves the space running, whatever others do', async () => {
    const participants = `
  bot: { kind: process, command: node, args: [bot.mjs] }
  broken: { kind: mcp, command: no-such-program }`
    const folder = temporaryFolder({ 'space.yaml': config(participants), 'bot.mjs': agent('one') })
    const { said, process, ended } = spawnMeup(['up', '--require', 'demo/bot'], folder)
    await expect.poll(() => said.stderr).toContain('bot is up')
    process.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

test('an agent that joins after the others is reported when it does', async () => {
  const folder = temporaryFolder({
    'space.yaml': bots.replace('args: [bot.mjs]', 'args: [bot.mjs], startTimeout: 1s'),
    'bot.mjs': `
import { existsSync } from 'node:fs'
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
${agent('one')}`,
    'other.mjs': agent('other'),
  })
  const { said } = spawnMeup(['up'], folder)
  await expect.poll(() => said.stderr).toMatch(/ {2}! still waiting for bot/)
  expect(said.stderr).not.toContain('bot is up')
  writeFileSync(join(folder, 'go'), '')
  await expect.poll(() => said.stderr).toMatch(/ {2}bot is up \(/)
})

test('meup restart starts a program anew', async () => {
  const folder = temporaryFolder({ 'space.yaml': bots, 'bot.mjs': agent('one'), 'other.mjs': agent('other') })
  const { said } = spawnMeup(['up'], folder)
  const countJoins = () => said.stderr.match(/ {2}bot (and other are|is) up/g)?.length ?? 0
  await expect.poll(countJoins).toBe(1)
  expect(await meup(['restart', 'bot', '--json'], { cwd: folder })).toMatchObject({
    code: 0,
    stdout: '{"restarted":["bot"]}\n',
  })
  await expect.poll(countJoins).toBe(2)
})
