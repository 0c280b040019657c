import { connect } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { commandLine, initSpace, meup, startMeup } from '../support/cli.js'
import { snippetsOf } from '../support/snippets.js'
import { inTmux, openPane } from '../support/tmux.js'

const timeout = 60_000

/** Makes the space of the page "Your first agent". */
async function firstSpace(): Promise<string> {
  const folder = await initSpace('hello')
  await startMeup('up', folder)
  const space = await connect({ as: 'ana', directory: folder })
  await space.whenPresent(['reviewer', 'files'], { timeoutMs: 15_000 })
  space.close()
  return folder
}

/** Reads a terminal session on a page: commands with their output. */
const terminal = (page: string): { args: string[]; output: string }[] =>
  snippetsOf(page)
    .filter(({ language }) => language === 'console')
    .flatMap(({ text }) => text.split(/^\$ meup /m).slice(1))
    .map((part) => {
      const [command = '', ...output] = part.split('\n')
      return { args: command.split(' '), output: output.join('\n') }
    })

/** Replaces ids and times, which differ between runs. */
const comparable = (text: string): string =>
  text
    .replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replace(/(· rules )[0-9a-f]{6}/, '$1<digest>')
    .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, '<ulid>')
    .replace(/(?<![\w-])[\w-]{21}(?![\w-])/g, '<id>')

test(
  'what the pages show of a question is what people see of it',
  inTmux(async () => {
    const folder = await firstSpace()
    const open = (flags: string) =>
      openPane(commandLine(`join ${flags}`), { cwd: folder, env: { NO_COLOR: '1' } })
    const [ana, whole] = [open(''), open('--reasoning')]
    await ana.sees('you are ana')
    await whole.sees('you are ana')
    ana.type('Can we deploy?')
    ana.press('Enter')
    await ana.sees('/reasoning 1 @reviewer')
    await whole.sees('→ success')
    const [live, block] = snippetsOf('docs/observing.md').filter(({ language }) => language === 'text')
    expect(ana.all().replace(/[\d.]+ m?s · 1 tool/, '2.1 s · 1 tool')).toContain(live?.text)
    expect(whole.all()).toContain(block?.text)

    for (const page of ['docs/observing.md', 'docs/audit.md']) {
      const shown = terminal(page)
      expect(shown.length).toBe(2)
      for (const { args, output } of shown) {
        const { code, stdout, stderr } = await meup(args, { cwd: folder })
        expect([args, code, stderr, comparable(stdout)]).toEqual([args, 0, '', comparable(output)])
      }
    }
  }),
  timeout,
)
