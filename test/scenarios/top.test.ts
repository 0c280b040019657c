import { expect, test } from 'vitest'
import { meup } from '../support/cli.js'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const timeout = 120_000

test(
  'top shows who runs away, and one key stops it',
  { timeout },
  inTmux(async () => {
    const { seats, open, cwd, enter } = await terminalSpace(['planner', 'coder'])
    const ana = await enter('ana')
    const run = await seats.coder.reason('a run')
    let isPaused = false
    ana.on('envelope', ({ kind, to }) => {
      if (kind === 'participant.pause' && to?.includes('planner')) isPaused = true
    })
    let count = 0
    const talk = setInterval(() => {
      // Stop once the planner is paused, because the gateway then refuses its chats.
      if (!isPaused) void Promise.allSettled([seats.planner.chat(`I need more data, round ${++count}`)])
    }, 50)
    const pane = open('top')
    await pane.sees(/^▶ planner +here +\d/m)
    await pane.sees(/^ {2}coder +thinks \d+ s/m)
    pane.press('p') // Pauses the planner.
    await expect.poll(() => isPaused, { timeout: 30_000 }).toBe(true)
    clearInterval(talk)
    await pane.sees('✓ planner is paused; p lets it go on')
    await pane.sees(/^▶ planner +paused by ana/m)
    const choose = (name: string): Promise<void> =>
      pane.shows((screen) => {
        const rows = screen.split('\n')
        const at = rows.findIndex((row) => row.startsWith('▶ '))
        if (rows[at]?.startsWith(`▶ ${name}`)) return
        pane.press(rows.findIndex((row) => row.startsWith(`  ${name}`)) < at ? 'Up' : 'Down')
        throw new Error(`${name} is not chosen yet`)
      })
    await choose('coder')
    pane.press('i')
    await pane.sees('✓ coder is asked to stop')
    await expect.poll(() => run.signal.aborted).toBe(true)
    await run.cancel('stopped')
    pane.press('k')
    await pane.sees('kick coder until it is invited again? y/n')
    pane.press('n')
    await pane.sees('not done')
    await choose('planner')
    pane.press('w')
    await pane.sees('any key goes back')
    pane.press('x')
    await pane.sees(/^▶ planner/m)
    pane.resize(40, 20)
    await pane.shows((screen) => expect(screen).toMatch(/WHO +STATE$/m))
    pane.press('q')
    await pane.sees('ended 0')
    expect(pane.screen()).not.toContain('WHO')

    const { participants } = JSON.parse((await meup(['ps', '--json'], { cwd })).stdout)
    const planner = participants.find(({ id }: { id: string }) => id === 'planner')
    expect(planner).toMatchObject({
      state: 'paused',
      kind: 'agent',
      last: expect.stringContaining('more data'),
    })
    expect((await meup(['ps'], { cwd })).stdout).toMatch(/^planner +paused by ana/m)
    expect(await meup(['top'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('meup ps'),
    })
  }),
)
