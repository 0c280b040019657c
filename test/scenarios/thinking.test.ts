import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { commandLine, startMeup, temporaryFolder } from '../support/cli.js'
import { inTmux, openPane, type Pane } from '../support/tmux.js'
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

/** Opens a space with an agent, ana at one terminal, and a watcher at another one. */
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

/** Counts in the log how often a run was hidden or shown. */
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

/** Waits until a client has received everything so far: sends a chat, and waits for its echo. */
async function seen(seat: SpaceClient): Promise<void> {
  const envelopes = seat.envelopes()
  const { id } = await seat.chat('up to here')
  for await (const envelope of envelopes) if (envelope.id === id) return
}

/** Types a command that asks which run is meant, and chooses the first one. */
async function chooseFirst(pane: Pane, command: string, key = '1'): Promise<void> {
  pane.type(command)
  pane.press('Enter')
  await pane.sees('for everyone? Esc: none')
  pane.press(key)
}

verifies(
  ['O14', 'O18', 'O22'],
  'Ctrl+T hides thoughts from oneself alone; what was hidden follows',
  inTmux(async () => {
    const { bot, ana, other, running, cwd } = await threeOfThem()
    const run = await bot.reason('about to think')
    await run.thought('one')
    await run.thought('')
    await Promise.all([ana.sees('bot  · one'), other.sees('bot  · one')])

    ana.press('C-t')
    await ana.sees('thinking hidden')
    await ana.sees('… the gateway sends you no thoughts until Ctrl+T')
    const before = ana.all()
    await run.thought('two')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot: still here')])
    expect(ana.all()).not.toContain('two')
    expect(ana.all()).toContain('bot  · one') // The scrollback is unchanged.
    expect(ana.screen()).toMatch(/in demo · thinking hidden/)
    expect(linesAbove(ana.all())).toEqual([...linesAbove(before), 'bot: still here'])
    expect(other.all()).toContain('bot  · two')
    expect(other.all()).not.toMatch(/thinking hidden|ana hides/)
    expect(await toggles(running, cwd)).toBe(0)

    ana.press('C-t')
    await ana.sees('thinking visible')
    await ana.sees(/… 1 thought from before:\nbot {2}· two/)
    await run.thought('three')
    await run.conclude('thought it over')
    await ana.sees('bot ∎ thought it over')
    expect(ana.all()).toMatch(/bot {2}· two\nbot {2}· three\n/)
  }),
  { timeout },
)

verifies(
  ['O19', 'O21', 'O22'],
  '/hide and /show change a run for everyone, who read by whom; the next run begins visible',
  inTmux(async () => {
    const { bot, ana, other } = await threeOfThem()
    const run = await bot.reason('about to think')
    await Promise.all([ana.sees('bot ┄ about'), other.sees('bot ┄ about')])
    await chooseFirst(ana, '/hide @bot')
    for (const pane of [ana, other]) {
      await pane.sees('· ana hides the thoughts of bot from everyone')
      await pane.shows((screen) => expect(screen).toMatch(/in demo · thoughts of bot hidden by ana ─/))
    }
    await run.thought('two')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot: still here')])
    expect(ana.all() + other.all()).not.toContain('two')

    await chooseFirst(ana, '/show')
    for (const pane of [ana, other]) {
      await pane.sees('· ana shows the thoughts of bot to everyone again')
      await pane.sees(/… 1 thought from before:\nbot {2}· two/)
      await pane.shows((screen) => expect(screen).not.toContain('hidden by ana'))
    }
    // If there is just one choice, the key is y.
    await chooseFirst(ana, '/hide @bot', 'y')
    await ana.sees(/(hides the thoughts of bot[\s\S]*){2}/)
    await run.conclude('over')
    const next = await bot.reason('anew')
    await next.thought('later')
    await Promise.all([ana.sees('bot  · later'), other.sees('bot  · later')])
    ana.type('/hide @bott')
    ana.press('Enter')
    await ana.sees('no one is called bott. Did you mean bot?')
  }),
  { timeout },
)

verifies(
  'O16',
  'without a run Ctrl+T changes one’s own view alone, and holds for the next run',
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
    await next.thought('later')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot  · later')])
    expect(ana.all()).not.toContain('later')
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
  }),
  { timeout },
)

verifies(
  'O20',
  'a hundred times in a row leaves terminal and gateway with the same',
  inTmux(async () => {
    const { bot, ana, other, running, cwd } = await threeOfThem()
    const run = await bot.reason('about to think')
    await Promise.all([ana.sees('bot ┄ about'), other.sees('bot ┄ about')])
    ana.press(...Array.from({ length: 99 }, () => 'C-t'))
    await ana.shows((screen) => expect(screen).toContain('· thinking hidden ─'))
    await run.thought('unseen')
    await bot.chat('still here')
    await Promise.all([ana.sees('bot: still here'), other.sees('bot: still here')])
    expect(ana.all()).not.toContain('unseen')
    expect(other.all()).toContain('unseen')
    expect(await toggles(running, cwd)).toBe(0)
    ana.press('C-t')
    await ana.sees('bot  · unseen')
  }),
  { timeout },
)

verifies(
  'O14',
  'what is being typed meanwhile is neither lost nor sent',
  inTmux(async () => {
    const { bot, ana } = await threeOfThem()
    await bot.reason('first')
    ana.type('half a ')
    await ana.shows((screen) => expect(screen).toMatch(/> half a$/))
    await bot.chat('interrupting')
    await ana.sees('bot: interrupting')
    ana.press('C-t')
    await ana.sees('thinking hidden')
    ana.type('sentence')
    ana.press('Enter')
    await ana.sees('ana: half a sentence')
    ana.press('C-d')
    await ana.sees('ended 0')
  }),
  { timeout },
)

/** Returns the lines above the footer. */
const linesAbove = (all: string): string[] => {
  const lines = all.split('\n')
  return lines.slice(
    0,
    lines.findLastIndex((line) => line.startsWith('── ')),
  )
}
