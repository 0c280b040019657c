import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  commandLine,
  demoInMemory,
  environment,
  readError,
  spawnMeup,
  temporaryFolder,
} from '../support/cli.js'
import { runSpace } from '../support/space.js'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'
import { writeAnswers } from '../support/writing.js'

vi.setConfig({ testTimeout: 120_000 })

const config = `${demoInMemory}
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*"] }
`

/** Opens a space whose agent answers with the text of the question. */
async function openSpace(answer = (text: string): string => text) {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await runSpace(cwd)
  const bot = await connect({ as: 'bot', directory: cwd })
  onTestFinished(() => bot.close())
  void bot.answer((turn) => turn.reply(answer(turn.text)))
  const run = (line: string) => runInShell(line.replace(/\bmeup /g, `${commandLine('')} `), cwd)
  return { cwd, bot, run }
}

function runInShell(line: string, cwd: string) {
  const child = spawn('bash', ['-c', line], { cwd, env: environment({}), stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  )
}

test('what is piped in is added to the question, and - is all of it', async () => {
  const { run } = await openSpace()
  const printed = [
    [`printf 'a diff\\n' | meup ask 'review this' --to bot`, 'review this\n\na diff\n'],
    [`printf 'all of it' | meup ask bot -`, 'all of it\n'],
    [`echo 'a file' > text; meup ask bot summarise < text`, 'summarise\n\na file\n'],
    ['meup ask bot alone < /dev/null', 'alone\n'],
    ['printf "" | meup ask bot nothing', 'nothing\n'],
    ['meup ask bot closed <&-', 'closed\n'],
  ] as const
  const outcomes = await Promise.all(printed.map(([line]) => run(line)))
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(printed.map(([, answer]) => answer))
})

test('a question or message without words is not sent', async () => {
  const { run } = await openSpace()
  const lines = [
    `meup ask bot ''`,
    `meup ask ' '`,
    'meup ask bot', // A name alone, so that the question is missing.
    `printf 'a diff' | meup ask bot`,
    'meup ask @bot',
    `printf 'a diff' | meup ask bot ''`,
    `meup send ''`,
    `printf ' ' | meup send -`,
    'meup send < /dev/null',
  ]
  for (const { code, stdout, stderr } of await Promise.all(lines.map(run))) {
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/an argument is missing or wrong\. Write meup (?:ask|send) /)
  }
  expect((await run('printf bot | meup ask bot -')).stdout).toBe('bot\n')
  expect((await run('meup ask bot bot')).stdout).toBe('bot\n')
})

test('stdin that is empty, no text or too much is refused with what to do', async () => {
  const { run } = await openSpace()
  expect(await run('printf "" | meup ask bot -')).toMatchObject({ code: 2, stdout: '' })
  const binary = await run(`printf '\\xff\\xfe' | meup ask bot 'what is it'`)
  expect(binary).toMatchObject({ code: 2, stderr: expect.stringContaining('UTF-8') })
  const long = await run(`head -c 1048576 /dev/zero | tr '\\0' x | meup ask bot 'count them'`)
  expect(long).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('payload_too_large') })
  expect(long.stderr).toContain('limits.maxEnvelopeBytes')
})

test('a message, and the arguments of a call, may come from stdin', async () => {
  const { run, bot } = await openSpace()
  const said: string[] = []
  bot.on('envelope', ({ kind, payload }) => kind === 'chat' && said.push(payload.message))
  expect(await run(`printf 'from a pipe\\n' | meup send -`)).toMatchObject({ code: 0 })
  await vi.waitFor(() => expect(said).toContain('from a pipe'))
  const sent = await run(`meup send --json '@bot Look at this'`)
  expect(JSON.parse(sent.stdout).payload).toMatchObject({ message: 'Look at this', mentions: ['bot'] })
  expect(await run(`printf '@Override void f() {}' | meup send -`)).toMatchObject({ code: 0 })
  expect(await run(`meup send '@bott Look at this'`)).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('bott'),
  })
  const call = await run(`printf '{"a":' | meup call bot/tool -`)
  expect(call).toMatchObject({ code: 2, stderr: expect.stringContaining('JSON') })
})

test('commands that join more often than their participant may wait until they may', async () => {
  const rates = 'limits: { rates: { control: { perSecond: 2, burst: 1 } } }'
  const cwd = temporaryFolder({
    'space.yaml': config.replace('capabilities: ["*"] }', `capabilities: ["*"], ${rates} }`),
  })
  await runSpace(cwd)
  const commands = [1, 2, 3].map((count) => spawnMeup(['send', `message ${count}`], cwd))
  expect(await Promise.all(commands.map(({ ended }) => ended))).toEqual([0, 0, 0])
})

test('a question to everyone says that all are away, and waits for the first', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await runSpace(cwd)
  const asking = spawnMeup(['ask', 'anybody?'], cwd)
  await expect.poll(() => asking.said.stderr).toBe('no one is here to answer; waiting for bot to join\n')
  const bot = await connect({ as: 'bot', directory: cwd })
  onTestFinished(() => bot.close())
  void bot.answer((turn) => turn.reply('I am'))
  expect(await asking.ended).toBe(0)
  expect(asking.said.stdout).toBe('I am\n')
})

test('a question to an agent whose program fails, or has failed, says why and where to look', async () => {
  const cwd = temporaryFolder({
    'space.yaml': `${demoInMemory}
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs], restart: never, capabilities: [chat] }
`,
    'bot.mjs': `import { existsSync } from 'node:fs'
setInterval(() => { if (existsSync('go')) throw new Error('broken') }, 20)`,
  })
  const { said } = spawnMeup(['up'], cwd)
  await expect.poll(() => said.stderr).toContain('starting bot')
  const early = spawnMeup(['ask', 'bot', 'Well?'], cwd)
  await expect.poll(() => early.said.stderr).toContain('waiting for bot to join\n')
  writeFileSync(join(cwd, 'go'), '')
  const why = 'exit 1, bot.mjs:2:49: Error: broken. See what it printed with meup logs bot.\n'
  await expect.poll(() => early.said.stderr).toContain(why)
  const late = spawnMeup(['ask', 'Well?'], cwd)
  await expect.poll(() => late.said.stderr).toContain(why)
  expect(late.said.stderr).toContain('no one is here to answer')
  expect(late.said.stderr).toContain('bot is resting after 1 failure: meup restart bot · ')
})

test('a tool that a participant does not have is an error with those that it has', async () => {
  const { run, bot } = await openSpace()
  const input = { type: 'object' } as const
  bot.tool('read', { input }, () => 'read')
  bot.tool('write', { input }, () => 'written')
  const near = readError(await run('meup call bot/raed --json'))
  expect(near).toMatchObject({ code: 'unknown_name', exitCode: 2, details: { meant: 'bot/read' } })
  const other = readError(await run('meup call bot/nope --json'))
  expect(other).toMatchObject({ details: { name: 'bot/nope', meant: 'one of bot/read, bot/write' } })
})

test('an agent that cannot answer is exit code 9, and nothing is on stdout', async () => {
  const { run } = await openSpace(() => {
    throw new Error('out of paper')
  })
  const failed = { code: 9, stdout: '', stderr: 'meup: bot: I could not answer: out of paper\n' }
  expect(await run('meup ask bot "Well?" || exit $?')).toEqual(failed)
})

test('a reader that has gone ends it with 141', async () => {
  const { run } = await openSpace(() => 'x'.repeat(100_000))
  const { code, stderr } = await run(`meup ask bot "Well?" | true; exit \${PIPESTATUS[0]}`)
  expect([code, stderr]).toEqual([141, ''])
})

const question = (seat: SpaceClient): Promise<string> =>
  new Promise((resolve) => {
    seat.on('envelope', ({ id, kind }) => kind === 'chat' && resolve(id))
  })

test(
  'a terminal shows on stderr what is done, and a file gets the answer alone',
  inTmux(async () => {
    const { seats, open, cwd, url } = await terminalSpace(['planner'], { columns: 40 })
    const token = readFileSync(join(cwd, '.meup/tokens/planner'), 'utf8').trim()
    const planner = await writeAnswers({ url, space: 'demo', token })
    const asked = question(seats.planner)
    const pane = open('ask planner "Why?" > answer')
    const id = await asked
    await pane.sees(/^no answer yet \d+ s · Ctrl\+C/m)
    await seats.planner.send({
      kind: 'reasoning.start',
      correlationId: id,
      payload: { message: 'Looking it up' },
    })
    await pane.sees(/^planner ○ Thinking\.\.\. \d+ s · Look/m)
    planner.answer(id, 'Because')
    await pane.sees('ended 0')
    expect(pane.all()).toBe('ended 0')
    expect(readFileSync(join(cwd, 'answer'), 'utf8')).toBe('Because\n')
  }),
)

test(
  'Ctrl+C takes the question back, and leaves the terminal clean',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'])
    const cancelled = new Promise<unknown>((resolve) => {
      seats.planner.on('envelope', ({ kind, payload }) => kind === 'chat.cancel' && resolve(payload))
    })
    const pane = open('ask planner "Why?"')
    await pane.sees('no answer yet')
    pane.press('C-c')
    await pane.sees('ended 130')
    expect(await cancelled).toEqual({ reason: 'interrupted' })
    expect(pane.all().replaceAll('^C', '')).toBe('meup: interrupted\nended 130')
  }),
)
