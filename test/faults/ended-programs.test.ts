import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { expect, onTestFinished, test } from 'vitest'
import { environment, type RunningSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { freePort } from '../support/free-port.js'
import { shiftClock } from '../support/shifted-clock.js'

const hour = 3_600_000
const timeout = 120_000

const config = (port: number, abandonAfter: string) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:${port}" }
reasoning: { abandonAfter: ${abandonAfter} }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*"] }
`

/** An agent that thinks about each question until a file exists, which lets it answer. */
const agent = `
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from ${JSON.stringify(join(repositoryRoot, 'packages/agent-sdk/dist/index.js'))}
const space = await connect({ directory: '.', as: 'bot' })
await space.answer(async (turn) => {
  const run = await turn.reason('Hm')
  while (!existsSync('answer')) await pause(20)
  await run.conclude()
  await turn.reply('done')
})
`

/** Starts a gateway and an agent, each in its own process, and asks a question that the agent thinks about. */
async function stage(abandonAfter = '3s') {
  const folder = temporaryFolder({ 'space.yaml': config(await freePort(), abandonAfter), 'bot.mjs': agent })
  const { through, setOffset } = shiftClock(folder)
  let gateway: RunningSpace = await startMeup('gateway', folder, [], through)
  const { url } = gateway
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  const ana = await connect({ url, space: 'demo', token, session: false })
  onTestFinished(() => ana.close())
  const startAgent = async () => {
    const child = spawn(process.execPath, ['bot.mjs'], { cwd: folder, env: environment({}) })
    onTestFinished(() => void child.kill('SIGKILL'))
    await ana.whenPresent(['bot'], { timeoutMs: 30_000 })
    return child
  }
  const bot = await startAgent()
  const ask = () => ana.ask('why?', { to: ['bot'], timeoutMs: 60_000 })
  const http = new HttpClient({ url, space: 'demo', token })
  const states = async () => (await http.readContexts()).contexts.map(({ state }) => state)
  const answer = ask().then(
    ({ text }) => text,
    (error: unknown) => error,
  )
  await expect.poll(states).toEqual(['open'])
  return {
    ...{ answer, ask, states, startAgent, setOffset },
    mayAnswer: (may: boolean) =>
      may ? writeFileSync(join(folder, 'answer'), '') : rmSync(join(folder, 'answer')),
    kill: {
      agent: async () => {
        bot.kill('SIGKILL')
        await once(bot, 'close')
      },
      gateway: () => gateway.stop('SIGKILL'),
    },
    restart: async () => {
      gateway = await startMeup('gateway', folder, [], through)
    },
  }
}

test.for([
  ['agent', 'gateway', 0],
  ['gateway', 'agent', -hour],
] as const)(
  'kill -9 of the %s and the %s, and the clock %i ms off at the restart: the run ends, and its asker is told',
  { timeout },
  async ([first, second, offset]) => {
    const { answer, ask, states, startAgent, setOffset, mayAnswer, kill, restart } = await stage()
    await kill[first]()
    await kill[second]()
    setOffset(offset)
    await restart()
    expect(await answer).toMatchObject({
      code: 'program_ended',
      message: 'bot stopped: its program ended',
    })
    expect(await states()).toEqual(['cancelled'])
    mayAnswer(true)
    await startAgent()
    expect((await ask()).text).toBe('done')
  },
)

test('kill -9 of the gateway alone: the run goes on, and is answered', {
  timeout,
}, async () => {
  // The gateway waits 60 s for the agent: long enough for it to come back, even on a busy machine.
  const { answer, states, mayAnswer, kill, restart } = await stage('60s')
  await kill.gateway()
  await restart()
  await expect.poll(states, { timeout: 30_000 }).toEqual(['open'])
  mayAnswer(true)
  expect(await answer).toBe('done')
  expect(await states()).toEqual(['concluded'])
})
