import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { commandLine, startMeup, temporaryFolder } from '../support/cli.js'
import { inTmux, openPane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

const space = `
version: 1
space: demo
gateway: { listen: 127.0.0.1:8080 }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat, observe.visibility] }
  cal: { kind: human, capabilities: [chat] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*"] }
`
const timeout = 60_000

/** A space with an agent in it, ana who talks at one terminal, and somebody who watches at another. */
async function threeOfThem(watcher = 'ben') {
  const cwd = temporaryFolder({ 'space.yaml': space })
  const running = await startMeup('up', cwd, ['--listen', '127.0.0.1:0'])
  const bot = await connect({ url: running.url, space: 'demo', as: 'bot', directory: cwd })
  onTestFinished(() => bot.close())
  const open = (args: string) => openPane(commandLine(args), { cwd, env: { NO_COLOR: '1' } })
  const [ana, other] = [open('join --as ana --verbose'), open(`watch --as ${watcher}`)]
  await Promise.all([ana.sees('you are ana'), other.sees(`${watcher} in demo`)])
  return { running, cwd, bot, ana, other }
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
async function seen(seat: SpaceClient): Promise<void> {
  const envelopes = seat.envelopes()
  const { id } = await seat.chat('up to here')
  for await (const envelope of envelopes) if (envelope.id === id) return
}

verifies(
  ['O14', 'O18', 'O19', 'O22'],
  'Ctrl+T hides and shows the thoughts of a run at every terminal; what was hidden follows',
  inTmux(async () => {
    const { bot, ana, other } = await threeOfThem()
    const run = await bot.reason('about to think')
    await run.thought('one')
    await run.thought('')
    await Promise.all([ana.sees('bot  · one'), other.sees('bot  · one')])

    ana.press('C-t')
    await Promise.all([ana.sees('thinking hidden'), other.sees('thinking hidden')])
    const before = ana.all()
    await run.thought('two')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot: still here')])
    for (const pane of [ana, other]) {
      expect(pane.all()).not.toContain('two')
      expect(pane.all()).toContain('bot  · one') // What stands in the scrollback stays.
      expect(pane.screen()).toMatch(/in demo · thinking hidden/)
    }
    expect(linesAbove(ana.all())).toEqual([...linesAbove(before), 'bot: still here'])

    other.press('C-t')
    for (const pane of [ana, other]) {
      await pane.sees('thinking visible')
      await pane.sees(/… 1 thought from before:\nbot {2}· two/)
    }
    await run.thought('three')
    await run.conclude('thought it over')
    await Promise.all([ana.sees('bot ∎ thought it over'), other.sees('bot ∎ thought it over')])
    for (const pane of [ana, other]) expect(pane.all()).toMatch(/bot {2}· two\nbot {2}· three\n/)
  }),
  { timeout },
)

verifies(
  'O16',
  'without a run Ctrl+T changes one’s own view alone, until the next run begins',
  inTmux(async () => {
    const { bot, ana, other, running, cwd } = await threeOfThem()
    const past = await bot.reason()
    await past.thought('earlier')
    await past.conclude()
    await Promise.all([ana.sees('bot ∎'), other.sees('bot ∎')])
    ana.press('C-t')
    await ana.sees('thinking hidden')
    expect(await toggles(running, cwd)).toBe(0)
    await other.sees('up to here')
    expect(other.all()).not.toMatch(/thinking (hidden|visible)/)

    const next = await bot.reason('anew')
    await ana.sees('thinking visible')
    await next.thought('later')
    await ana.sees('bot  · later')
  }),
  { timeout },
)

verifies(
  ['O14', 'O16'],
  'who may not hide a run is sent no thoughts, and nobody else notices',
  inTmux(async () => {
    const { bot, ana, other: cal } = await threeOfThem('cal')
    const run = await bot.reason('about to think')
    await Promise.all([ana.sees('bot ┄ about'), cal.sees('bot ┄ about')])
    cal.press('C-t')
    await cal.sees('the gateway sends you none')
    await run.thought('one')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot  · one'), cal.sees('bot: still here')])
    expect(cal.all()).not.toContain('· one')
    cal.press('C-t')
    await cal.sees(/… 1 thought from before:\nbot {2}· one/)
    await run.thought('two')
    await cal.sees('bot  · two')
    expect(ana.all()).not.toContain('thinking hidden')
  }),
  { timeout },
)

verifies(
  'O15',
  'where the gateway cannot be told, one’s own view changes all the same',
  inTmux(async () => {
    const { bot, ana, running } = await threeOfThem()
    const run = await bot.reason('about to think')
    await run.thought('one')
    await ana.sees('bot  · one')
    await running.stop('SIGKILL')
    await ana.sees('trying again')
    ana.press('C-t')
    await ana.sees('thinking hidden')
    await ana.sees('Failed to toggle reasoning on server: ')
    await ana.shows((screen) => expect(screen).toMatch(/ana in demo · not connected · thinking hidden/))
    ana.press('C-t')
    await ana.sees('thinking visible')
    await ana.shows((screen) =>
      expect(screen.match(/Failed to toggle reasoning on server: /g)).toHaveLength(2),
    )
  }),
  { timeout },
)

verifies(
  'O20',
  'a hundred times in a row leaves terminals and gateway with the same',
  inTmux(async () => {
    const { bot, ana, other, running, cwd } = await threeOfThem()
    const run = await bot.reason('about to think')
    await Promise.all([ana.sees('bot ┄ about'), other.sees('bot ┄ about')])
    ana.press(...Array.from({ length: 99 }, () => 'C-t'))
    await Promise.all(
      [ana, other].map((pane) => pane.shows((screen) => expect(screen).toContain('· thinking hidden ─'))),
    )
    await run.thought('unseen')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot: still here')])
    expect(other.all() + ana.all()).not.toContain('unseen')
    expect(await toggles(running, cwd)).toBeGreaterThan(0)
    ana.press('C-t')
    await Promise.all([ana.sees('bot  · unseen'), other.sees('bot  · unseen')])
  }),
  { timeout },
)

verifies(
  ['O14', 'O21'],
  'what is being typed meanwhile is neither lost nor sent, and the next run begins visible',
  inTmux(async () => {
    const { bot, ana } = await threeOfThem()
    const run = await bot.reason('first')
    ana.type('half a ')
    await ana.shows((screen) => expect(screen).toMatch(/> half a$/))
    await bot.chat('interrupting')
    await ana.sees('bot: interrupting')
    ana.press('C-t')
    await ana.sees('thinking hidden')
    ana.type('sentence')
    ana.press('Enter')
    await ana.sees('ana: half a sentence')
    await run.conclude('over')
    await bot.reason('second')
    await ana.sees(/bot ┄ second/)
    expect(ana.all()).toContain('thinking visible')
    ana.press('C-d')
    await ana.sees('ended 0')
  }),
  { timeout },
)

/** What stands above the footer. */
const linesAbove = (all: string): string[] => {
  const lines = all.split('\n')
  return lines.slice(
    0,
    lines.findLastIndex((line) => line.startsWith('── ')),
  )
}
