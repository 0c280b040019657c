import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished } from 'vitest'
import { commandLine, startMeup, temporaryFolder } from '../support/cli.js'
import { type Frame, tapped } from '../support/tapped.js'
import { inTmux, openPane, type Pane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat, observe.visibility] }
  cal: { kind: human, capabilities: [chat] }
  bot: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request] }
  tools: { kind: agent, capabilities: [mcp.response] }
`

/** Opens a space with ana and ben at two terminals, whose sockets are recorded, and three more participants. */
async function twoTerminals() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const running = await startMeup('gateway', cwd)
  const tap = await tapped(running.url)
  const enter = async (as: string): Promise<SpaceClient> => {
    const seat = await connect({ url: running.url, space: 'demo', as, directory: cwd })
    onTestFinished(() => seat.close())
    return seat
  }
  const [bot, tools, cal] = [await enter('bot'), await enter('tools'), await enter('cal')]
  tools.serve(async () => ({ result: { content: [{ type: 'text', text: 'four' }] } }))
  const join_ = (as: string): Pane => {
    const token = readFileSync(join(cwd, '.meup/tokens', as), 'utf8').trim()
    const env = { NO_COLOR: '1', MEUP_URL: tap.url, MEUP_SPACE: 'demo', MEUP_TOKEN: token }
    return openPane(commandLine('join'), { cwd, columns: 100, rows: 40, env })
  }
  const panes = { ana: join_('ana'), ben: join_('ben') }
  await Promise.all([panes.ana.sees('you are ana'), panes.ben.sees('you are ben')])
  return { bot, cal, panes, tap }
}

/** Types a command that asks which run is meant, and chooses the first one. */
async function chooseFirst(pane: Pane, command: string): Promise<void> {
  pane.type(command)
  pane.press('Enter')
  await pane.sees('for everyone? Esc: none')
  pane.press('1')
}

/** Plays one turn with tools and a nested context. With `toggles`, ana hides it in her terminal, and ben shows it in his. */
async function turn(toggles: boolean) {
  const { bot, cal, panes, tap } = await twoTerminals()
  const both = (text: string | RegExp): Promise<unknown> =>
    Promise.all([panes.ana.sees(text), panes.ben.sees(text)])
  const answering = (async () => {
    for await (const asked of bot.turns()) {
      const run = await asked.reason('about to think')
      await run.thought('the first')
      await both('the first')
      if (toggles) {
        await chooseFirst(panes.ana, '/hide')
        await both('ana hides the thoughts of bot from everyone')
      }
      for (const text of ['the second', 'the third']) await run.thought(text)
      const nested = await run.reason('deeper')
      await nested.thought('the deepest')
      await nested.conclude('up again')
      await run.call('tools/count', { to: 4 }, { why: 'to count' })
      if (toggles) {
        await chooseFirst(panes.ben, '/show')
        await both('ben shows the thoughts of bot to everyone again')
      }
      await run.thought('the last')
      await run.conclude('thought it over')
      await asked.reply('The final answer.', { to: [] })
      return
    }
  })()
  const answer = await cal.ask('How many?', { mention: ['bot'] })
  await answering
  await both('The final answer.')
  await both('✓ 4 B')
  // The terminals read withheld thoughts from the log afterwards, and print them.
  await both('the deepest')
  return { answer: answer.text, sockets: tap.sockets(), screens: [panes.ana.all(), panes.ben.all()] }
}

const isThought = ({ kind }: Frame): boolean => kind === 'reasoning.thought'
const isToggle = ({ kind }: Frame): boolean => kind === 'observe.visibility'

/** Selects the frames that hide or show the run. */
const toggled = (frames: readonly Frame[]): readonly Frame[] =>
  frames.slice(frames.findIndex(isToggle), frames.findLastIndex(isToggle))

const rest = (frames: readonly Frame[]): string[] =>
  frames
    .filter((each) => each.from === 'bot' || each.from === 'tools')
    .filter((each) => !isThought(each))
    .map(({ from, kind }) => `${from} ${kind}`)

verifies(
  ['O11', 'O12', 'O19', 'O23'],
  'a toggle at one of two terminals stops thoughts on both sockets, and nothing else; they go on in the same run',
  inTmux(async () => {
    const plain = await turn(false)
    const hidden = await turn(true)
    expect([plain.sockets.length, hidden.sockets.length]).toEqual([2, 2])
    for (const frames of plain.sockets) {
      expect([frames.filter(isThought).length, frames.filter(isToggle).length]).toEqual([5, 0])
    }
    for (const frames of hidden.sockets) {
      expect(frames.filter(isToggle).map(({ from }) => from)).toEqual(['ana', 'ben'])
      expect(toggled(frames).filter(isThought)).toEqual([])
      expect(rest(toggled(frames))).toEqual([
        'bot reasoning.start',
        'bot reasoning.conclusion',
        'bot mcp.request',
        'tools mcp.response',
      ])
      // Only two thoughts arrive live, before hiding and after showing; the withheld ones do not.
      expect(frames.filter(isThought)).toHaveLength(2)
    }
    for (const frames of [...plain.sockets, ...hidden.sockets]) {
      expect(rest(frames)).toEqual([
        ...['bot reasoning.start', 'bot reasoning.start', 'bot reasoning.conclusion'],
        ...['bot mcp.request', 'tools mcp.response', 'bot reasoning.conclusion', 'bot chat'],
      ])
    }
    expect(hidden.answer).toEqual(plain.answer)
    for (const screen of hidden.screens) for (const text of thoughts) expect(screen).toContain(text)
  }),
  { timeout: 120_000 },
)

/** When the run is shown again, the terminals read the withheld thoughts from the log. */
const thoughts = ['the first', 'the second', 'the third', 'the deepest', 'the last']

verifies(
  ['O11', 'O20'],
  'Ctrl+T at both terminals as fast as keys go: each is sent what it shows, and neither notices the other',
  inTmux(async () => {
    const { bot, panes, tap } = await twoTerminals()
    const run = await bot.reason('about to think')
    await Promise.all([panes.ana.sees('about to think'), panes.ben.sees('about to think')])
    for (let round = 0; round < 10; round++) {
      panes.ana.press(...Array.from({ length: 5 }, () => 'C-t'))
      panes.ben.press(...Array.from({ length: 5 }, () => 'C-t'))
    }
    panes.ana.press('C-t')
    await panes.ana.shows((screen) => expect(screen).toContain('· thinking hidden ─'))
    await panes.ben.shows((screen) => expect(screen).not.toContain('thinking hidden ─'))
    // Only the last subscription of a connection counts, so ana gets no further thoughts, and ben gets them.
    const countThoughts = (): number[] => tap.sockets().map((frames) => frames.filter(isThought).length)
    let round = 0
    const delivered = async (): Promise<number[]> => {
      const before = countThoughts()
      round++
      await run.thought(`in between ${round}`)
      await bot.chat(`up to here ${round}`)
      await Promise.all([panes.ana.sees(`up to here ${round}`), panes.ben.sees(`up to here ${round}`)])
      return countThoughts().map((count, at) => count - (before[at] ?? 0))
    }
    await expect.poll(async () => (await delivered()).sort(), { timeout: 30_000 }).toEqual([0, 1])
    expect(tap.sockets().flatMap((frames) => frames.filter(isToggle))).toEqual([])
    expect(panes.ben.all()).toContain(`bot  · in between ${round}`)
    expect(panes.ana.all()).not.toContain(`in between ${round}`)
  }),
  { timeout: 120_000 },
)
