import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { scrollback, terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const timeout = 180_000
const patience = { timeout: 60_000 }

test(
  'what is pasted is one message, whatever it holds, and no key',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'])
    const heard: string[] = []
    seats.planner.on('envelope', ({ from, kind, payload }) => {
      if (from === 'ana' && kind === 'chat') heard.push(String(Reflect.get(payload, 'message')))
    })
    const pane = open()
    await pane.sees('ana is here')
    pane.type('see: ')
    pane.paste('first line\n\n\tthird \u0014line 漢字\nlast line\n')
    await pane.shows((screen) =>
      expect(screen).toMatch(/> see: first line\n\n {3}third line 漢字\n {2}last line$/),
    )
    pane.type('and more')
    pane.press('C-a')
    pane.type('! ')
    await pane.shows((screen) =>
      expect(screen).toMatch(/> ! see: first line\n[\s\S]*last line\n {2}and more$/),
    )
    expect(pane.all()).not.toContain('thinking hidden')
    pane.press('Enter')
    await pane.sees('ana: ! see: first line')
    await expect
      .poll(() => heard, patience)
      .toEqual(['! see: first line\n\n\tthird line 漢字\nlast line\nand more'])
    pane.press('Up')
    await pane.shows((screen) => expect(screen).toMatch(/> ! see: first line\n/))
    pane.press('C-u')

    pane.paste('/participants\n')
    pane.press('Enter')
    await pane.sees(/● {2}planner/)
    pane.paste(`${'long '.repeat(2000)}\nend`)
    pane.press('Enter')
    await expect.poll(() => heard.at(-1), patience).toBe(`${'long '.repeat(2000)}\nend`)
    expect(heard).toHaveLength(2)
    await pane.shows((screen) => expect(screen).toMatch(/> *$/))
    pane.press('C-d')
    await pane.sees('ended 0')
  }),
  timeout,
)

/** The source of a module that prints a warning and an error on each SIGUSR2. */
const warning = (file: string): string => `
require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid))
let times = 0
process.on('SIGUSR2', () => {
  process.emitWarning('beware ' + ++times)
  console.error('a library complains ' + times)
})
`

test(
  'warnings of Node and of libraries stand above the footer, which leaves nothing behind',
  inTmux(async () => {
    const folder = temporaryFolder()
    const [script, pid] = [join(folder, 'warn.cjs'), join(folder, 'pid')]
    writeFileSync(script, warning(pid))
    const { seats, open } = await terminalSpace(['planner'])
    const pane = open('join', false, { NODE_OPTIONS: `--require ${script}` })
    await pane.sees('ana is here')
    const run = await seats.planner.reason('a run')
    await run.thought('a thought')
    pane.type('half a line')
    await pane.shows((screen) => expect(screen).toMatch(/planner {2}○ Thinking.*\n> half a line$/))
    for (let times = 1; times <= 3; times++) {
      process.kill(Number(readFileSync(pid, 'utf8')), 'SIGUSR2')
      await pane.sees(`a library complains ${times}`)
    }
    await run.thought('another thought')
    await pane.shows((screen) =>
      expect(screen).toMatch(/planner {2}○ Thinking.* another thought\n> half a line$/),
    )
    const above = scrollback(pane.all())
    expect(pane.all().match(/^── /gm)).toHaveLength(1)
    expect(above.filter((line) => /^(── |> |planner {2}○ Thinking)/.test(line))).toEqual([])
    for (let times = 1; times <= 3; times++) {
      expect(above.filter((line) => line.endsWith(`Warning: beware ${times}`))).toHaveLength(1)
      expect(above.filter((line) => line === `a library complains ${times}`)).toHaveLength(1)
    }
    expect(above.at(-1)).toBe('planner  · another thought')
  }),
  timeout,
)
