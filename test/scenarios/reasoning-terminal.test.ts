import { expect, vi } from 'vitest'
import { afterFour, openAsked, updates, wireframe } from '../support/asked.js'
import { commandLine } from '../support/cli.js'
import { markup } from '../support/terminal.js'
import { inTmux, openPane, type Pane } from '../support/tmux.js'
import { verifies } from '../verifies.js'

const within = { timeout: 40_000, interval: 20 }
const timeout = 60_000

async function joined(cwd: string, flags = ''): Promise<Pane> {
  const ana = openPane(commandLine(`join ${flags}`), { cwd, columns: 100, env: { NO_COLOR: '1' } })
  await ana.sees('you are ana')
  return ana
}

verifies(
  ['I15', 'I16', 'I20'],
  'tools are told as they run, and why they ran after the answer, also while somebody types',
  inTmux(async () => {
    const { cwd, ben } = await openAsked()
    const ana = await joined(cwd, '--reasoning')
    ana.type('half a ')
    await ana.shows((screen) => expect(screen).toMatch(/> half a$/))
    await ben.ask(updates)
    await ana.sees('→ success (142 chars)')
    ana.type('sentence')
    ana.press('Enter')
    await ana.sees('ana: half a sentence')
    const shown = ana.all().replace(/ · [\d.]+ m?s · 2 tools/, '')
    expect(shown).toContain(`bot ┄ thinking
bot  ● memory_search query=recent project updates limit=5 — searched memory for 'recent project
bot    updates' ✓ 3 documents found
bot    ▸ Found 3 documents
bot  ● shell $ git log --oneline -10 — ran git log to check recent commits ✓ 142 B
bot    ▸ ${'x'.repeat(79)}…
bot ∎ done
${wireframe(1)}`)
  }),
  { timeout },
)

verifies(
  'I20',
  'where there are colours, it is dim gray and the names of tools are cyan',
  inTmux(async () => {
    const { cwd, ben } = await openAsked()
    const colourful = `env -u NO_COLOR -u FORCE_COLOR -u NODE_DISABLE_COLORS -u CI ${commandLine('join --reasoning')}`
    const ana = openPane(colourful, { cwd, columns: 100 })
    await ana.sees('you are ana')
    await ben.ask('what time is it?')
    await ana.sees('→ success')
    const shown = markup(ana.coloured())
    expect(shown).toMatch(/bot⟨⟩ {2}⟨2;90⟩● ⟨36⟩shell⟨2;90⟩ \$ date — .* ✓ 142 B\n/)
    expect(shown, 'the block names nobody').toContain(`bot⟨⟩: It is late.

⟨2;90⟩  ┄ Reasoning (turn 1)
  Narrative: "Looking at the clock"
  ┄ ⟨36⟩shell⟨2;90⟩  "retrieved the current time"
    params: { "command": "date" }
    → success (142 chars)
`)
  }),
  { timeout },
)

verifies(
  ['I15', 'O18'],
  'it follows every turn with tools while thoughts are hidden as well, without what was thought',
  inTmux(async () => {
    const { cwd, ben } = await openAsked()
    const ana = await joined(cwd)
    ana.press('C-t')
    await ana.sees('thinking hidden')
    await ben.ask('what is wrong?')
    await ana.sees('  ┄ Reasoning (turn 1)\n')
    await ana.sees('→ error')
    expect(ana.all()).not.toContain('Narrative')
    ana.press('C-t')
    await ana.sees('thinking visible')
    await ben.ask('what time is it?')
    await ana.sees('  ┄ Reasoning (turn 2): 1 tool · /reasoning 2 @bot')
  }),
  { timeout },
)

verifies(
  'I24',
  'Tab completes /reasoning, and what it says is for oneself alone',
  inTmux(async () => {
    const { cwd, ben } = await afterFour()
    const heard: string[] = []
    ben.on('envelope', ({ kind, payload }) => {
      if (kind === 'chat') heard.push(String((payload as { message?: string }).message))
    })
    const ana = await joined(cwd)
    ana.type('/rea')
    ana.press('Tab')
    await ana.shows((screen) => expect(screen).toMatch(/> \/reasoning$/))
    ana.type(' 1')
    ana.press('Enter')
    await ana.sees('Reasoning — turn 1')
    ana.type('/help')
    ana.press('Enter')
    await ana.sees('Inspection')
    ana.type('/reasonign')
    ana.press('Enter')
    await ana.sees('there is no /reasonign')
    ana.type('//reasoning is a command')
    ana.press('Enter')
    await vi.waitFor(() => expect(heard).toEqual(['/reasoning is a command']), within)
    ana.press('C-d')
    await ana.sees('ended 0')
  }),
  { timeout },
)
