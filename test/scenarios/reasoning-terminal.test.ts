import { spawnSync } from 'node:child_process'
import { afterEach, expect, vi } from 'vitest'
import { afterFour, openAsked, updates, wireframe } from '../support/asked.js'
import { printed } from '../support/printed.js'
import { typist } from '../support/typist.js'
import { needing, verifies } from '../verifies.js'

const atTerminal = needing('`script` of util-linux', () =>
  spawnSync('script', ['--version']).stdout?.includes('util-linux'),
)
const within = { timeout: 15_000, interval: 20 }
const timeout = 60_000

afterEach(() => void vi.unstubAllEnvs())

/** What a terminal has printed, but for what was being typed meanwhile and drawn again. */
const withoutTyping = (all: string): string => printed(all).replace(/half a |sentence/g, '')

verifies(
  ['I15', 'I20'],
  'tools are told as they run, and why they ran after the answer, also while somebody types',
  atTerminal(async () => {
    vi.stubEnv('NO_COLOR', '1')
    const { cwd, ben } = await openAsked()
    const ana = typist('join', cwd)
    await ana.sees('you are ana')
    ana.press('half a ')
    await ana.sees('half a ')
    await ben.ask(updates)
    await ana.sees('→ success (142 chars)')
    ana.press('sentence\r')
    await ana.sees('ana: half a sentence')
    const shown = withoutTyping(ana.all)
    expect(shown).toContain(`bot ┄ thinking
  ○ Thinking...
  ○ memory_search
  ● memory_search
    ▸ Found 3 documents
  ○ shell
  ● shell
    ▸ ${'x'.repeat(79)}…
  bot ∎ done
${wireframe(1)}`)
  }),
  { timeout },
)

verifies(
  'I20',
  'where there are colours, it is dim gray and the names of tools are cyan',
  atTerminal(async () => {
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined)
    const { cwd, ben } = await openAsked()
    const ana = typist('join', cwd)
    await ana.sees('you are ana')
    await ben.ask('what time is it?')
    await ana.sees('→ success')
    const dim = (text: string): string => `\u001B[2;90m${text}\u001B[0m`
    const shell = '\u001B[36mshell\u001B[0m'
    for (const line of [
      dim('  ○ Thinking...'),
      `${dim('  ○ ')}${shell}`,
      `${dim('  ● ')}${shell}`,
      dim('  ┄ Reasoning (turn 1)'),
      `${dim('  ┄ ')}${shell}${dim('  "retrieved the current time"')}`,
      dim('    params: { "command": "date" }'),
      dim('    → success (142 chars)'),
    ]) {
      expect(ana.all).toContain(`${line}\r\n`)
    }
  }),
  { timeout },
)

verifies(
  ['I15', 'O18'],
  'Ctrl+T hides and shows it with the thoughts',
  atTerminal(async () => {
    const { cwd, ben } = await openAsked()
    const ana = typist('join', cwd)
    await ana.sees('you are ana')
    await ben.ask('what time is it?')
    await ana.sees('Reasoning (turn 1)')
    ana.press('\u0014')
    await ana.sees('thinking hidden')
    await ana.sees('bot: It is late.')
    expect(ana.screen).not.toContain('Reasoning (turn')
    ana.press('\u0014')
    await ana.sees('Reasoning (turn 1)')
  }),
  { timeout },
)

verifies(
  'I24',
  'Tab completes /reasoning, and what it says is for oneself alone',
  atTerminal(async () => {
    const { cwd, ben } = await afterFour()
    const heard: string[] = []
    ben.on('envelope', ({ kind, payload }) => {
      if (kind === 'chat') heard.push(String((payload as { message?: string }).message))
    })
    const ana = typist('join', cwd)
    await ana.sees('you are ana')
    ana.press('/rea\t')
    await ana.sees('/reasoning')
    ana.press(' 1\r')
    await ana.sees('Reasoning — turn 1')
    ana.press('/help\r')
    await ana.sees('Inspection')
    ana.press('/reasonign\r')
    await ana.sees('there is no /reasonign')
    ana.press('//reasoning is a command\r')
    await vi.waitFor(() => expect(heard).toEqual(['/reasoning is a command']), within)
    ana.press('\u0004')
    expect(await ana.ended).toBe(0)
  }),
  { timeout },
)
