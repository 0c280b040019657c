import { expect, test } from 'vitest'
import { meup } from '../support/cli.js'
import { escapes } from '../support/escapes.js'
import { scrollback, terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const timeout = 120_000
const marked = (text: string, at: number): string => `<${at}>${text}<${at}/>`
/** Matches control characters other than line feeds. */
const harmful = /[^\P{C}\n]/u

test('there are enough of them, each once', () => {
  expect(escapes.length).toBeGreaterThanOrEqual(100)
  expect(new Set(escapes).size).toBe(escapes.length)
  for (const each of escapes) expect(each).toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
})

test(
  'a hundred and more escapes change nothing about the terminal but add a line each',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'files'], { columns: 80, rows: 24 })
    const { planner, files } = seats
    files.serve(async () => ({ result: { content: [{ type: 'text', text: escapes.join('') }] } }))
    const pane = open()
    await pane.sees('ana is here')
    const before = pane.state()
    const run = await planner.reason(escapes.join(''))
    for (const [at, each] of escapes.entries()) {
      await planner.chat(marked(each, at))
      await run.thought(marked(each, at))
    }
    await run.call('files/anything', { escapes }, { why: escapes.join('') })
    pane.press('C-o')
    await run.conclude(escapes.join(''))
    await planner.chat('the end')
    await pane.sees('planner: the end')
    const lines = scrollback(pane.all())
    for (const [at] of escapes.entries()) {
      const said = lines.filter((line) => line.includes(`<${at}>`))
      expect(said).toHaveLength(2)
      for (const line of said) expect(line).toMatch(/^planner/)
    }
    expect(pane.all()).not.toMatch(harmful)
    expect(pane.coloured()).not.toContain('\u001B')
    expect(pane.state()).toEqual(before)
    pane.type('typed')
    await pane.shows((screen) => expect(screen).toMatch(/> typed$/))
  }),
  timeout,
)

test('nor do they come through where nobody sits', { timeout }, async () => {
  const { seats, cwd } = await terminalSpace(['planner'])
  const run = await seats.planner.reason(escapes.join(''))
  for (const each of escapes) await run.thought(each)
  await run.conclude(escapes.join(''))
  await seats.planner.chat(escapes.join(''))
  const read = (...args: string[]) => meup(['watch', '--from', '1', '--no-follow', ...args], { cwd })
  for (const { code, stdout } of [await read(), await read('--json')]) {
    expect(code).toBe(0)
    expect(stdout.length).toBeGreaterThan(escapes.length)
    expect(stdout).not.toMatch(harmful)
  }
})

test(
  'nor does a message of a megabyte keep anybody waiting',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'], { columns: 80, rows: 24 })
    const pane = open()
    await pane.sees('ana is here')
    await seats.planner.chat(`${'漢字 '.repeat(200_000)}`)
    await seats.planner.chat('after it')
    await pane.sees('planner: after it')
    expect(scrollback(pane.all()).join('').length).toBeLessThan(40_000)
  }),
  timeout,
)
