import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const timeout = 120_000

async function openJoin() {
  const space = await terminalSpace(['planner'])
  const heard: string[] = []
  space.seats.planner.on('envelope', ({ kind, from, payload }) => {
    if (kind === Kind.chat && from === 'ana') heard.push(payload.message)
  })
  const pane = space.open()
  await pane.sees('type to talk')
  return { ...space, pane, heard }
}

test(
  'a message has several rows, by Alt+Enter, Ctrl+J and a backslash, and its cursor moves in them',
  { timeout },
  inTmux(async () => {
    const { pane, heard } = await openJoin()
    pane.type('one')
    pane.press('M-Enter')
    pane.type('two')
    pane.press('C-j')
    pane.type('three\\')
    pane.press('Enter')
    pane.type('four')
    await pane.shows((screen) => expect(screen).toMatch(/> one\n {2}two\n {2}three\n {2}four$/))
    pane.press('C-a')
    pane.type('zero ')
    await pane.shows((screen) => expect(screen).toMatch(/> zero one\n {2}two\n {2}three\n {2}four$/))
    pane.press('Enter')
    await expect.poll(() => heard).toEqual(['zero one\ntwo\nthree\nfour'])
    await pane.shows((screen) => expect(screen).toMatch(/\n>$/))
    expect(pane.all().match(/^── /gm)).toHaveLength(1)
  }),
)

test(
  'Ctrl+C clears the line, then stops what answers, then twice leaves',
  { timeout },
  inTmux(async () => {
    const { pane, heard, seats } = await openJoin()
    const stopped = new Promise<string>((resolve) => {
      void seats.planner.answer(
        (turn) =>
          turn.reason('how', async () => {
            await new Promise<void>((end) => turn.signal.addEventListener('abort', () => end()))
            resolve(String(turn.signal.reason))
          }),
        { onError: () => {} },
      )
    })
    pane.type('@planner Why?')
    pane.press('Enter')
    await pane.sees('planner ┄ how')
    pane.type('half a line')
    await pane.sees('> half a line')
    pane.press('C-c')
    await pane.shows((screen) => expect(screen).toMatch(/\n>$/))
    pane.press('C-c')
    expect(await stopped).toBe('interrupted by ana')
    await pane.sees('✓ planner is asked to stop')
    await pane.sees('I was stopped: interrupted by ana')
    pane.press('C-c')
    await pane.sees('Ctrl+C again leaves')
    expect(pane.all()).not.toContain('ended')
    pane.press('C-c')
    await pane.sees('ended 130')
    expect(heard).toEqual(['Why?'])
  }),
)

test(
  'earlier lines come back, also in another conversation, and Ctrl+R finds them',
  { timeout },
  inTmux(async () => {
    const { pane, heard, cwd, open } = await openJoin()
    for (const line of ['deploy the first one', 'look at the second', '/participants']) {
      pane.type(line)
      pane.press('Enter')
      await pane.shows((screen) => expect(screen).toMatch(/\n>$/))
    }
    pane.type('/exit')
    pane.press('Enter')
    await pane.sees('ended 0')
    const kept = readFileSync(join(cwd, '.meup/history/ana'), 'utf8').trim().split('\n')
    expect(kept.map((line) => JSON.parse(line))).toEqual([
      'deploy the first one',
      'look at the second',
      '/participants',
      '/exit',
    ])
    const again = open()
    await again.sees('… what was said before:')
    await again.sees('ana: look at the second')
    again.press('Up', 'Up', 'Up')
    await again.sees('> look at the second')
    again.press('C-c', 'C-r')
    again.type('DEPL')
    await again.sees('history: DEPL_')
    await again.sees('> deploy the first one')
    again.press('Enter')
    await again.shows((screen) => expect(screen).not.toContain('history:'))
    expect(heard).toHaveLength(2)
    again.press('Enter')
    await expect.poll(() => heard).toHaveLength(3)
  }),
)

test(
  'a paste that the terminal does not mark is one message, too',
  { timeout },
  inTmux(async () => {
    const { pane, heard } = await openJoin()
    const text = Array.from({ length: 200 }, (_, at) => `line ${at} of what was pasted`).join('\n')
    pane.type(text.replaceAll('\n', '\r'))
    // On a busy machine, the paste may arrive in two parts.
    await pane.sees(/> (\[pasted \d+ lines\])+$/m)
    expect(heard).toEqual([])
    pane.type(' explain')
    pane.press('Enter')
    await expect.poll(() => heard).toEqual([`${text} explain`])
  }),
)

test(
  '/copy puts the last answer, or its code, into the clipboard',
  { timeout },
  inTmux(async () => {
    const { pane, seats } = await openJoin()
    pane.pipe('cat > keys')
    await seats.planner.chat('Use this:\n\n```js\nconst x = 1\n```\n', { format: 'markdown' })
    await pane.sees('const x = 1')
    pane.type('/copy code')
    pane.press('Enter')
    await pane.sees('✓ 11 characters are copied')
    pane.type('/copy code 7')
    pane.press('Enter')
    await pane.sees('it has 1 blocks of code')
  }),
)
