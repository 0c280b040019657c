import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

test(
  '@name asks one for everyone to read, /msg is private, and both look like it',
  { timeout: 60_000 },
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'coder'])
    const heard: unknown[] = []
    seats.coder.on('envelope', ({ kind, payload }) => kind === Kind.chat && heard.push(payload))
    const pane = open()
    await pane.sees('type to talk')
    pane.type('@planner What fails?')
    pane.press('Enter')
    await pane.sees('ana → planner: What fails?')
    pane.type('/msg planner my secret')
    pane.press('Enter')
    await pane.sees('ana → planner (private): my secret')
    await seats.planner.chat('noted', { to: ['ana'] })
    await pane.sees('planner → ana (private): noted')
    await seats.planner.chat('the end')
    await expect
      .poll(() => heard)
      .toEqual([{ message: 'What fails?', mentions: ['planner'] }, { message: 'the end' }])
    const watching = open('watch --tail 5')
    await watching.sees('planner → ana (private): noted')
    expect(pane.all()).not.toContain('is away')
    seats.planner.close()
    await pane.sees('planner left')
    pane.type('@planner Still there?')
    pane.press('Enter')
    await pane.sees('… planner is away, and may not read this')
    expect(pane.all().split('is away')).toHaveLength(2)
  }),
)

test(
  'a name that nobody has stops the line, which may be mended, or meant',
  { timeout: 60_000 },
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'])
    const heard: string[] = []
    seats.planner.on('envelope', ({ kind, payload }) => kind === Kind.chat && heard.push(payload.message))
    const pane = open()
    await pane.sees('type to talk')
    pane.type('@plannr hunter2')
    pane.press('Enter')
    await pane.sees('✗ no one is called plannr. Did you mean planner? Enter again says it to everyone')
    await pane.sees('> @plannr hunter2')
    pane.type('!')
    pane.press('Enter')
    await pane.sees('> @plannr hunter2!')
    expect(heard).toEqual([])
    pane.press('Enter')
    await pane.sees('ana: @plannr hunter2!')
    await expect.poll(() => heard).toEqual(['@plannr hunter2!'])
  }),
)

test(
  'a conversation with one stays private, and its footer says so',
  { timeout: 60_000 },
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'coder'], { columns: 80 }, '--to planner')
    const heard: unknown[] = []
    for (const seat of [seats.planner, seats.coder])
      seat.on(
        'envelope',
        ({ kind, to, payload }) => kind === Kind.chat && heard.push([seat.id, to, payload.message]),
      )
    const pane = open()
    await pane.sees('── ana in demo · to planner alone ──')
    pane.type('hi')
    pane.press('Enter')
    await pane.sees('ana → planner (private): hi')
    pane.type('@coder mine')
    pane.press('Enter')
    await pane.sees('ana → coder (private): mine')
    await expect
      .poll(() => heard)
      .toEqual([
        ['planner', ['planner'], 'hi'],
        ['coder', ['coder'], 'mine'],
      ])
  }),
)
