import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { commandLine, demoInMemory, meup, startMeup, temporaryFolder } from '../support/cli.js'
import { drivePage } from '../support/driven-page.js'
import { repositoryRoot } from '../support/files.js'
import { freePort } from '../support/free-port.js'
import { enterPage } from '../support/proposals.js'
import { openPane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

const config = `${demoInMemory}participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs], capabilities: [chat, "reasoning.*"] }
`

const sdk = JSON.stringify(join(repositoryRoot, 'packages/agent-sdk/dist/index.js'))

/** The source of an agent that thinks about each question, and gives `answer` if there is one. */
const agent = (answer?: string): string => `
import { connect } from ${sdk}
const space = await connect()
await space.answer(async (turn) => {
  const run = await turn.reason('Hm')
  await run.thought('let me see')
  ${answer === undefined ? 'await new Promise(() => {})' : `await run.conclude(); await turn.reply('${answer}')`}
})
`

const endText = 'bot stopped: its program ended'

/** Opens a space whose agent thinks forever, until a test saves another version of it. */
async function stage() {
  const folder = temporaryFolder({ 'space.yaml': config, 'bot.mjs': agent() })
  const { url } = await startMeup('up', folder)
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  const ana: SpaceClient = await connect({ url, space: 'demo', token, session: false })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['bot'], { timeoutMs: 60_000 })
  const http = new HttpClient({ url, space: 'demo', token })
  const thinks = async (): Promise<void> => {
    await expect
      .poll(async () => (await http.readContexts()).contexts.filter(({ state }) => state === 'open'))
      .toHaveLength(1)
  }
  return {
    folder,
    url,
    token,
    ana,
    http,
    thinks,
    save: () => writeFileSync(join(folder, 'bot.mjs'), agent('saved')),
  }
}

verifies(
  'O01',
  'a run ends with its program: who asked an agent that is saved reads why at once, and the next program answers',
  async () => {
    const { url, token, ana, http, thinks, save } = await stage()
    const asked = ana.ask('why?', { to: ['bot'] }).then(
      () => 'it was answered',
      (error: unknown) => error,
    )
    await thinks()
    const began = performance.now()
    const left = new Promise<number>((resolve) => {
      ana.on('envelope', ({ kind, payload }) => {
        const { event } = payload as { event?: string }
        if (kind === 'system.presence' && event === 'leave') resolve(performance.now())
      })
    })
    save()
    expect(await asked).toMatchObject({ code: 'program_ended', message: endText })
    expect(performance.now() - (await left)).toBeLessThan(2000)
    await ana.whenPresent(['bot'], { timeoutMs: 30_000 })
    expect((await ana.ask('and now?', { to: ['bot'], timeoutMs: 30_000 })).text).toBe('saved')
    expect(performance.now() - began).toBeLessThan(30_000)
    const turns = await http.getJson<{ turns: { state: string }[] }>('turns', { thread_id: 'demo/bot' })
    expect(turns.turns.map(({ state }) => state).sort()).toEqual(['abandoned', 'completed'])
    const { contexts } = await http.readContexts()
    expect(contexts.map(({ state }) => state)).toEqual(['cancelled', 'concluded'])
    const exported = await fetch(`${url}/spaces/demo/audit/export?format=markdown`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await exported.text()).toContain(endText)
  },
)

test(
  'a person reads it on the page and in the terminal, and nothing thinks on',
  withChromium(async (chromium) => {
    const { folder, url, token, thinks, save } = await stage()
    const page = await drivePage(chromium)
    await enterPage(page, url, token)
    const pane = openPane(commandLine('join --as ana'), { cwd: folder })
    await pane.sees('you are ana')
    pane.type('@bot why?')
    pane.press('Enter')
    await thinks()
    await page.shows('Thinking')
    save()
    await page.shows(endText)
    await pane.sees(endText)
    await page.hides('Thinking')
    await pane.shows((screen) => expect(screen).not.toMatch(/thinking…/i))
    await pane.shows((screen) => expect(screen).toMatch(/restarting[\s\S]*bot is here/))
    pane.type('@bot and now?')
    pane.press('Enter')
    await pane.sees('saved')
    await page.shows('saved')
  }),
)

/** The source of an agent that takes each question, writes half an answer, and begins no run. */
const silent = `
import { connect } from ${sdk}
const space = await connect()
async function* half() {
  yield 'half an answer'
  await new Promise(() => {})
}
await space.answer(async (turn) => {
  await turn.acknowledge()
  await turn.reply(half())
})
`

/**
 * Starts a space with the agent `silent` and a log on disk. `begin` starts it again; `taken` waits until bot takes a question.
 */
async function silentSpace() {
  const port = await freePort()
  const text = config.replace('127.0.0.1:0', `127.0.0.1:${port}`).replace('storage: { kind: memory }\n', '')
  const folder = temporaryFolder({ 'space.yaml': text, 'bot.mjs': silent })
  const begin = () => startMeup('up', folder)
  const running = await begin()
  const ana = await connect({ directory: folder, as: 'ana', session: false })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['bot'], { timeoutMs: 60_000 })
  const taken = () =>
    new Promise<void>((resolve) => {
      ana.on('envelope', ({ kind }) => void (kind === 'chat.acknowledge' && resolve()))
    })
  return { folder, running, begin, taken, ana }
}

test.each(['a save', 'SIGTERM', 'SIGKILL'] as const)(
  'who asks everyone is answered by none after %s, and reads at once to ask again',
  async (how) => {
    const { folder, running, begin, taken } = await silentSpace()
    const isTaken = taken()
    const asked = meup(['ask', 'why?', '--as', 'ana'], { cwd: folder })
    await isTaken
    if (how === 'a save') writeFileSync(join(folder, 'bot.mjs'), `${silent}\n`)
    else {
      await running.stop(how)
      await begin()
    }
    expect(await asked).toMatchObject({ code: 9, stderr: expect.stringContaining(`${endText}. Ask again`) })
  },
)

test(
  'and so does who asks in the terminal, and on the page, also when it is opened anew',
  withChromium(async (chromium) => {
    const { folder, running, taken } = await silentSpace()
    const page = await drivePage(chromium)
    const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
    await enterPage(page, running.url, token)
    const pane = openPane(commandLine('join --as ana'), { cwd: folder })
    await pane.sees('you are ana')
    const isTaken = taken()
    pane.type('why?')
    pane.press('Enter')
    await isTaken
    writeFileSync(join(folder, 'bot.mjs'), `${silent}\n`)
    await pane.sees('Your message has no answer: ask again')
    await page.shows('Your message has no answer: ask again')
    await page.reload()
    await page.shows('Your message has no answer: ask again')
  }),
)

const proposing = `${demoInMemory}participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: [chat, mcp.proposal, mcp.withdraw] }
  tool: { kind: agent, capabilities: [mcp.response] }
`
const nobodyWaits = `${endText}; no one waits for the result`

test(
  'whoever may approve a proposal is told that its program has ended: in lists, on the page and in the terminal',
  withChromium(async (chromium) => {
    const folder = temporaryFolder({ 'space.yaml': proposing })
    const { url } = await startMeup('gateway', folder)
    const enter = async (as: string): Promise<SpaceClient> => {
      const client = await connect({ directory: folder, as })
      onTestFinished(() => client.close())
      return client
    }
    const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
    const [bot] = [await enter('bot'), await enter('tool')]
    const page = await drivePage(chromium)
    await enterPage(page, url, token)
    const pane = openPane(commandLine('join --as ana'), { cwd: folder })
    await pane.sees('you are ana')
    const params = { name: 'act', arguments: {} }
    const { id, outcome } = await bot.propose({ to: 'tool', method: 'tools/call', params })
    outcome.catch(() => {}) // The test does not wait for an outcome.
    await page.shows('1 pending')
    await pane.sees('1 pending')
    await page.hides(nobodyWaits)
    bot.close()
    await page.shows(nobodyWaits)
    await pane.sees(nobodyWaits)
    await page.reload()
    await page.shows(nobodyWaits)
    for (const command of ['ls', `show ${id}`]) {
      const { stdout } = await meup(['proposals', ...command.split(' '), '--as', 'ana'], { cwd: folder })
      expect(stdout).toContain(nobodyWaits)
    }
    const approved = await meup(['proposals', 'approve', id, '--as', 'ana'], { cwd: folder })
    expect(approved.stderr).toContain(nobodyWaits)
  }),
)
