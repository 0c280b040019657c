import { expect } from 'vitest'
import { markup, settled, terminalSpace } from '../support/terminal.js'
import { inTmux, type Pane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

interface Shown {
  readonly columns: number
  readonly rows?: number
  readonly colours?: boolean
  readonly args?: string
  /** A text on the screen by which to recognize that the tool has reported progress. */
  readonly atWork?: string
}

/** Shows a conversation in a terminal: nesting, wide characters, a running tool, a pending proposal. */
async function conversation({ colours, args, atWork = '30 %', ...size }: Shown): Promise<Pane> {
  const { seats, open } = await terminalSpace(['planner', 'coder', 'files'], size, args)
  const { planner, coder, files } = seats
  files.serve(() => new Promise(() => {}))
  const pane = open('join', colours)
  await pane.sees('ana is here')
  const run = await planner.reason('Plan the release of 版本二 before the end of the week')
  await run.thought('Two reports decide this, and one of them has not come yet. 漢字は広い。')
  let at = run
  for (const name of ['lint', 'imports', 'cycles', 'of types']) {
    at = await at.reason(`Look at ${name}`)
    await at.thought(`thinking about ${name}`)
  }
  await planner.chat('A first line\nand a second one')
  const proposing = await coder.reason('I must ask')
  const params = { name: 'remove', arguments: { path: 'old.txt' } }
  await coder.propose({
    to: ['files'],
    method: 'tools/call',
    params,
    rationale: 'it is old',
    context: proposing.context,
  })
  await pane.sees('old.txt')
  await proposing.conclude('asked')
  await pane.sees(/coder (∎|concludes:) asked/)
  const request = await planner.send({
    kind: 'mcp.request',
    to: ['files'],
    context: run.context,
    rationale: 'to know what there is',
    payload: {
      jsonrpc: '2.0',
      id: '1',
      method: 'tools/call',
      params: { name: 'search', arguments: { for: 'x' } },
    },
  })
  await files.send({
    kind: 'mcp.request',
    to: ['planner'],
    correlationId: request.id,
    payload: {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 't', progress: 3, total: 10, message: 'searching' },
    },
  })
  await pane.sees(atWork)
  pane.type('half a line')
  await pane.shows((screen) => expect(screen).toMatch(/half a line$/))
  return pane
}

/** Columns and rows of common terminals. */
const sizes = [
  [80, 24],
  [100, 30],
  [40, 20],
] as const

for (const [columns, rows] of sizes) {
  verifies(
    'I20',
    `the terminal at ${columns}×${rows}`,
    inTmux(async () => {
      const pane = await conversation({ columns, rows })
      const screen = pane.screen()
      await expect(settled(screen)).toMatchFileSnapshot(`../golden/terminal-${columns}x${rows}.txt`)
    }),
    { timeout: 120_000 },
  )

  verifies(
    'I20',
    `the terminal at ${columns}×${rows}, in colours`,
    inTmux(async () => {
      const pane = await conversation({ columns, rows, colours: true })
      await expect(settled(markup(pane.coloured()))).toMatchFileSnapshot(
        `../golden/terminal-${columns}x${rows}-colours.txt`,
      )
    }),
    { timeout: 120_000 },
  )
}

for (const [columns, rows] of sizes) {
  verifies(
    'I20',
    `after a question to two agents both answers are on the screen, at ${columns}×${rows}`,
    inTmux(async () => {
      const { seats, open } = await terminalSpace(['planner', 'coder', 'files'], { columns, rows })
      seats.files.tool('read', {}, () => 'two tests fail')
      for (const [name, answer] of [
        ['planner', '**Wait** until `token.test.ts` passes.'],
        ['coder', 'I can mend it today.'],
      ] as const) {
        void seats[name].answer(async (turn) => {
          await using run = await turn.reason(`Thinking about: ${turn.text}`)
          await run.thought('The report decides this.')
          if (name === 'planner')
            await run.call('files/read', { path: 'report.txt' }, { why: 'what fails decides' })
          await run.conclude('I know')
          await turn.reply(answer, { format: 'markdown' })
        })
      }
      const pane = open()
      await pane.sees('ana is here')
      pane.type('Can we deploy?')
      pane.press('Enter')
      await pane.sees(/planner: Wait until `token\.test\.ts`\s/)
      await pane.sees('coder: I can mend it today.')
      await pane.sees('/reasoning 1 @planner')
      await pane.shows((screen) => {
        expect(screen).toMatch(/planner: Wait until/)
        expect(screen).toContain('coder: I can mend it today.')
        const joined = screen.replaceAll(/\nplanner +/g, ' ')
        expect(joined).toContain('● read report.txt — what fails decides ✓ 14 B')
      })
    }),
    { timeout: 120_000 },
  )
}

verifies(
  'I20',
  'the terminal for a screen reader: sentences, without signs, colours or anything that is drawn again',
  inTmux(async () => {
    const shown = { columns: 80, rows: 40, colours: true, args: '--screen-reader' }
    const pane = await conversation({ ...shown, atWork: 'planner calls search' })
    expect(pane.coloured()).not.toContain('\u001B')
    // Lines as a screen reader reads them, without the line breaks of the terminal.
    const lines = pane.all()
    await expect(settled(lines)).toMatchFileSnapshot('../golden/terminal-reader.txt')
    pane.press('Enter')
    await pane.sees('ana says: half a line')
    // Earlier lines are unchanged, because nothing was drawn over them.
    expect(pane.all()).toBe(`${lines}\nana says: half a line`)
  }),
  { timeout: 120_000 },
)
