import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { meup, readError, runMeup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { some } from '../support/soak.js'

const server = join(
  repositoryRoot,
  'examples/deploy-review/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
)
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  mute: { kind: agent, capabilities: ["reasoning.*"] }
  files: { kind: mcp, command: node, args: [${JSON.stringify(server)}, .] }
`
const space = (extra: Record<string, string> = {}): string =>
  temporaryFolder({ 'space.yaml': config, ...extra })

test('up serves tools, send, call, watch and join work beside it, and SIGTERM ends it with 0', async () => {
  const cwd = space({ 'note.txt': 'what the note says\n' })
  const running = await startMeup('up', cwd)
  expect(statSync(join(cwd, '.meup/tokens/ana')).mode & 0o777).toBe(0o600)

  const sent = await runMeup(['send', 'hello', '--json'], { cwd })
  expect(sent.code).toBe(0)
  expect(JSON.parse(sent.stdout)).toMatchObject({ from: 'ana', kind: 'chat', payload: { message: 'hello' } })

  const called = await runMeup(['call', 'files/read_text_file', '{"path":"note.txt"}', '--why', 'to know'], {
    cwd,
  })
  expect(called).toMatchObject({ code: 0, stdout: 'what the note says\n\n' })

  const joined = await runMeup(['join'], { cwd, input: 'typed\n' })
  expect(joined).toMatchObject({ code: 0, stdout: expect.stringContaining('ana: typed') })

  const watched = await runMeup(['watch', '--from', '1', '--no-follow'], { cwd })
  expect(watched.stdout).toContain('ana → files/read_text_file {"path":"note.txt"}  — to know')
  expect(watched.stdout).toContain('files ← read_text_file: success (19 chars)')
  expect(await running.stop('SIGTERM')).toBe(0)
})

test('exit codes tell what went wrong, and stderr what to do', async () => {
  const cwd = space()
  expect(await runMeup(['send', 'x'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('MEUP_URL'),
  })
  const nowhere = ['--url', 'http://127.0.0.1:9', '--space', 'demo']
  expect(await runMeup(['send', 'x', ...nowhere], { cwd })).toMatchObject({ code: 3, stdout: '' })

  const running = await startMeup('gateway', cwd)
  const wrong = temporaryFolder({ token: 'nobody-has-this-token' })
  expect((await runMeup(['send', 'x', '--token-file', join(wrong, 'token')], { cwd })).code).toBe(4)
  const denied = await runMeup(['send', 'x', '--as', 'mute'], { cwd })
  expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining('capability_violation') })
  const late = await runMeup(['call', 'mute/anything', '--timeout', '0.2'], { cwd })
  expect(late.code).toBe(6)
  expect((await runMeup(['send', 'x', '--as', 'ana', '--space', 'other'], { cwd })).code).toBe(1)
  expect(await runMeup(['send'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Write meup send <message>'),
  })
  const misused = [
    ['watch', '--from', 'x'],
    ['watch', '--context', 'run//step'],
    ['watch', '--no-follow', '--context', 'a run'],
    ['call', 'nameless'],
    ['send', '--payload', '{'],
    ['nonsense'],
  ]
  for (const args of some(misused, 3))
    expect(await meup(args, { cwd })).toMatchObject({ code: 2, stdout: '' })
  expect(readError(await meup(['watch', '--from', 'x', '--json'], { cwd }))).toEqual({
    code: 'invalid_value',
    message: '--from takes a whole number such as 20, not x.',
    exitCode: 2,
    details: { option: '--from', expected: 'a whole number such as 20', value: 'x' },
  })
  expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test('a configuration with mistakes is refused with every one of them', async () => {
  const broken = config
    .replace('kind: human', 'kind: humane')
    .replace('space: demo', 'space: demo\nsurprise: 1')
  const cwd = temporaryFolder({ 'space.yaml': broken })
  const { code, stderr } = await meup(['gateway'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toMatch(/space\.yaml:4:1 surprise/)
  expect(stderr).toMatch(/space\.yaml:7:16 participants\.ana\.kind/)
})

test('a port in use is said plainly', async () => {
  const cwd = space()
  const { url } = await startMeup('gateway', cwd)
  const other = temporaryFolder({ 'space.yaml': config.replace('127.0.0.1:0', new URL(url).host) })
  const taken = await meup(['gateway'], { cwd: other })
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('--listen') })
})

test('what others say cannot move the cursor or disguise a line', async () => {
  const cwd = space()
  await startMeup('gateway', cwd)
  await meup(['send', 'safe\u001b[2J\u202e\u0007text'], { cwd })
  const { stdout } = await meup(['watch', '--from', '1', '--no-follow'], { cwd })
  expect(stdout).toContain('ana: safe[2Jtext')
  expect(readFileSync(join(cwd, '.meup/gateway.json'), 'utf8')).toContain('127.0.0.1')
})

test('ask prints the answer alone, tells why there is none, and gives up in time', async () => {
  const agent = `
import { connect } from ${JSON.stringify(join(repositoryRoot, 'packages/agent-sdk/dist/index.js'))}
const space = await connect()
async function* words() { yield 'It '; yield 'is '; yield '5.' }
await space.answer((turn) => {
  if (turn.text === 'fail') throw new Error('out of paper')
  return turn.text === 'wait' ? new Promise(() => {}) : turn.reply(words())
})
`
  const bot = '  bot: { kind: process, command: node, args: [agent.mjs], capabilities: [chat] }\n'
  const cwd = temporaryFolder({ 'space.yaml': config + bot, 'agent.mjs': agent })
  const running = await startMeup('up', cwd)
  const ask = (...args: string[]) => meup(['ask', 'bot', ...args], { cwd })
  expect(await ask('What is 2 + 3?')).toMatchObject({ code: 0, stdout: 'It is 5.\n' })
  const failed = { code: 9, stdout: '', stderr: 'meup: bot: I could not answer: out of paper\n' }
  expect(await ask('fail')).toEqual(failed)
  const asJson = await ask('fail', '--json')
  const error = { code: 'no_answer', message: 'bot: I could not answer: out of paper', exitCode: 9 }
  expect([asJson.code, JSON.parse(asJson.stderr)]).toEqual([9, { error }])
  expect(JSON.parse(asJson.stdout)).toMatchObject({ from: 'bot', payload: { noAnswer: 'failed' } })
  const { stdout } = await ask('What is 2 + 3?', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'chat', from: 'bot', payload: { message: 'It is 5.' } })
  expect((await ask('wait', '--timeout', '300ms')).code).toBe(6)
  expect((await ask('what is 2 + 3?', '--private')).stdout).toBe('It is 5.\n')
  const { stdout: log } = await meup(['watch', '--from', '1', '--no-follow', '--json', '--kind', 'chat'], {
    cwd,
  })
  const said = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(said.map(({ to, payload }) => [to, payload.mentions])).toContainEqual([['bot'], undefined])
  expect(said.map(({ to, payload }) => [to, payload.mentions])).toContainEqual([undefined, ['bot']])
  expect(await meup(['ask', '--private', 'Well?'], { cwd })).toMatchObject({ code: 2 })
  expect(await meup(['ask', 'what', 'is', 'it?'], { cwd })).toMatchObject({ code: 1 })
  expect(await running.stop('SIGTERM')).toBe(0)
})
