import { spawnSync } from 'node:child_process'
import { connect, type Space } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { typist } from '../support/typist.js'
import { needing, verifies } from '../verifies.js'

const atTerminal = needing('`script` of util-linux', () =>
  spawnSync('script', ['--version']).stdout?.includes('util-linux'),
)

const space = `
version: 1
space: demo
gateway: { listen: 127.0.0.1:8080 }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat, observe.visibility] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*"] }
`
const ctrlT = '\u0014'

/** A space with an agent in it, ana who talks at one terminal, and ben who watches at another. */
async function threeOfThem() {
  const cwd = temporaryFolder({ 'space.yaml': space })
  const running = await startMeup('up', cwd, ['--listen', '127.0.0.1:0'])
  const bot = await connect({ url: running.url, space: 'demo', as: 'bot', directory: cwd })
  onTestFinished(() => bot.close())
  const [ana, ben] = [typist('join --as ana --verbose', cwd), typist('watch --as ben', cwd)]
  await Promise.all([ana.sees('you are ana'), bot.whenPresent(['ana', 'ben'])])
  return { running, cwd, bot, ana, ben }
}

/** How often a run was hidden or shown, as the log has it. */
async function toggles({ url }: { url: string }, cwd: string): Promise<number> {
  const late = await connect({ url, space: 'demo', as: 'ben', directory: cwd, after: 0 })
  let count = 0
  late.on('envelope', ({ kind }) => {
    if (kind === 'observe.visibility') count++
  })
  await seen(late)
  late.close()
  return count
}

/** Waits until a seat has seen what it says itself. */
async function seen(seat: Space): Promise<void> {
  const envelopes = seat.envelopes()
  const { id } = await seat.chat('up to here')
  for await (const envelope of envelopes) if (envelope.id === id) return
}

verifies(
  ['O14', 'O18', 'O19', 'O22'],
  'Ctrl+T hides and shows the thoughts of a run at every terminal, past ones too',
  atTerminal(async () => {
    const { bot, ana, ben } = await threeOfThem()
    const run = await bot.reason('about to think')
    await run.thought('one')
    await run.thought('')
    await Promise.all([ana.sees('  bot · one'), ben.sees('  bot · one')])

    ana.press(ctrlT)
    await Promise.all([ana.sees('thinking hidden'), ben.sees('thinking hidden')])
    await run.thought('two')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), ben.sees('bot: still here')])
    for (const { all, screen } of [ana, ben]) {
      expect(all).not.toContain('two')
      expect(screen).not.toMatch(/bot · /)
    }
    expect(ana.screen).toContain('bot ┄ about to think')

    ben.press(ctrlT)
    for (const each of [ana, ben]) {
      await each.sees('thinking visible')
      await each.sees('  bot · two')
      expect(each.screen).toContain('  bot · one')
      expect(each.screen).toContain('bot: still here')
    }
    await run.thought('three')
    await run.conclude('thought it over')
    await Promise.all([ana.sees('bot ∎ thought it over'), ben.sees('bot ∎ thought it over')])
    for (const { screen } of [ana, ben]) expect(screen).toContain('  bot · three')
  }),
  { timeout: 60_000 },
)

verifies(
  'O16',
  'without a run Ctrl+T changes one’s own view alone, until the next run begins',
  atTerminal(async () => {
    const { bot, ana, ben, running, cwd } = await threeOfThem()
    const past = await bot.reason()
    await past.thought('earlier')
    await past.conclude()
    await Promise.all([ana.sees('bot ∎'), ben.sees('bot ∎')])
    ana.press(ctrlT)
    await ana.sees('thinking hidden')
    expect(ana.screen).not.toContain('earlier')
    expect(await toggles(running, cwd)).toBe(0)
    await ben.sees('up to here')
    expect(ben.screen).toContain('  bot · earlier')
    expect(ben.all).not.toMatch(/thinking (hidden|visible)/)

    const next = await bot.reason('anew')
    await ana.sees('thinking visible')
    await next.thought('later')
    await ana.sees('  bot · later')
  }),
  { timeout: 60_000 },
)

verifies(
  'O15',
  'where the gateway cannot be told, one’s own view changes all the same',
  atTerminal(async () => {
    const { bot, ana, running } = await threeOfThem()
    const run = await bot.reason('about to think')
    await run.thought('one')
    await ana.sees('  bot · one')
    await running.stop('SIGKILL')
    await ana.sees('trying again')
    ana.press(ctrlT)
    await ana.sees('thinking hidden')
    await ana.sees('Failed to toggle reasoning on server: ')
    expect(ana.screen).not.toContain('bot · one')
    ana.press(ctrlT)
    await ana.sees('thinking visible')
    expect(ana.screen).toContain('  bot · one')
    expect(ana.all.match(/Failed to toggle reasoning on server: /g)).toHaveLength(2)
  }),
  { timeout: 60_000 },
)

verifies(
  'O14',
  'what is being typed meanwhile is neither lost nor sent',
  atTerminal(async () => {
    const { bot, ana } = await threeOfThem()
    ana.press('half a ')
    await bot.chat('interrupting')
    await ana.sees('bot: interrupting')
    ana.press(ctrlT)
    await ana.sees('thinking hidden')
    ana.press('sentence\r')
    await ana.sees('ana: half a sentence')
    ana.press('\u0004')
    expect(await ana.ended).toBe(0)
  }),
  { timeout: 60_000 },
)
