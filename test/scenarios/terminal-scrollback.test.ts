import { expect, test } from 'vitest'
import { scrollback, terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const timeout = 120_000

test(
  'a thousand updates of what goes on leave the scrollback as it was, to the byte',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'files'], { columns: 80, rows: 12 })
    const { planner, files } = seats
    files.serve(() => new Promise(() => {}))
    const pane = open('join', true)
    await pane.sees('ana is here')
    for (let i = 1; i <= 40; i++) await planner.chat(`line ${i}: ${'x'.repeat(i)} 漢字`)
    const request = await planner.send({
      kind: 'mcp.request',
      to: ['files'],
      payload: { jsonrpc: '2.0', id: '1', method: 'tools/call', params: { name: 'search', arguments: {} } },
    })
    await pane.sees(/planner {2}○ search.* \d/)
    // Reads the scrollback with its escape sequences and trailing spaces.
    const bytes = (): string => scrollback(pane.stored()).join('\n')
    const before = bytes()
    expect(before.split('\n').length).toBeGreaterThan(40)
    expect(before).toContain('\u001B[')
    const report = (progress: number) =>
      files.send({
        kind: 'mcp.request',
        to: ['planner'],
        correlationId: request.id,
        payload: {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: {
            progressToken: 't',
            progress,
            total: 1000,
            message: `at ${progress} ${'漢'.repeat(progress % 60)}`,
          },
        },
      })
    for (let i = 0; i < 1000; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, at) => report(i + at + 1)))
      if (i % 200 === 0) pane.type(`${i} `) // Typed text is redrawn, too.
    }
    await pane.sees('100 %')
    expect(bytes()).toBe(before)
  }),
  timeout,
)

test(
  'what is said while a thousand thoughts come stays where it stands, above a footer of at most eight lines',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner', 'coder'], { columns: 60, rows: 16 })
    const pane = open()
    await pane.sees('ana is here')
    const runs = await Promise.all(
      [seats.planner, seats.coder].flatMap((seat) =>
        Array.from({ length: 6 }, (_, at) => seat.reason(`run ${at}`)),
      ),
    )
    await seats.planner.chat('a beginning')
    await pane.sees('planner: a beginning')
    const before = scrollback(pane.all())
    for (let i = 0; i < 1000; i += 12) {
      await Promise.all(runs.map((run, at) => run.thought(`thought ${i + at}`)))
    }
    await seats.coder.chat('the end')
    await pane.sees('coder: the end')
    const after = pane.all()
    expect(scrollback(after).slice(0, before.length)).toEqual(before)
    expect(scrollback(after)).toHaveLength(before.length + 12 * 84 + 1)
    const footer = after.split('\n').slice(scrollback(after).length)
    expect(footer.length).toBeLessThanOrEqual(8)
    expect(footer[0]).toMatch(/^── ana in demo ─/)
  }),
  timeout,
)

test(
  'a terminal that gets smaller and larger keeps each line once',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'], { columns: 80, rows: 20 })
    const pane = open()
    await pane.sees('ana is here')
    const run = await seats.planner.reason(`a run with a long title: ${'word '.repeat(20)}`)
    await run.thought('the first thought')
    await pane.sees('planner  ○ Thinking')
    pane.type('typed before')
    // Lines that are drawn while the terminal is resized may have the old or the new width, so wait before the resize.
    await pane.sees('> typed before')
    pane.resize(45, 12)
    await pane.shows((screen) => expect(screen).toMatch(/^── ana in demo ─{29}$/m))
    await run.thought('the second thought')
    await pane.sees('· the second thought')
    pane.resize(100, 8)
    await pane.shows((screen) => expect(screen).toMatch(/^── ana in demo ─{84}$/m))
    await seats.planner.chat('the last line')
    await pane.sees('planner: the last line')
    const all = pane.all()
    for (const once of [
      /ana is here/g,
      /· the first thought/g,
      /· the second thought/g,
      /planner: the last line/g,
    ]) {
      expect(scrollback(all).join('\n').match(once)).toHaveLength(1)
    }
    expect(all.match(/^── /gm)).toHaveLength(1)
    expect(all).toMatch(/> typed before$/)
  }),
  timeout,
)
