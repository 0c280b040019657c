import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinCodingAgent } from '@meup/acp'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { codingAgent } from '../support/coding-agents/agents.js'
import { edit, type ModelRule, read } from '../support/coding-agents/script.js'
import { onPage } from '../support/page.js'

const steps = [read('sum.txt'), edit('sum.txt', 'a - b', 'a + b')]
const model: ModelRule[] = [
  ...steps.map((tool, at) => ({
    when: ({ lastUserText, toolResults }: { lastUserText: string; toolResults: readonly string[] }) =>
      lastUserText.includes('Fix it.') && toolResults.length === at,
    thought: `Step ${at} of the fix.`,
    tool,
  })),
  { when: () => true, text: 'It adds now.' },
]

test(
  'a change that opencode asks for is approved on the page, with the change in view',
  { timeout: 180_000 },
  onPage(async ({ gateway, page, enter }) => {
    const cwd = temporaryFolder({ 'sum.txt': 'a - b\n' })
    const agent = await joinCodingAgent({
      ...(await codingAgent('opencode', { model, home: temporaryFolder(), cwd })),
      cwd,
      unasked: 'report',
      connect: () => gateway.enter('planner'),
    })
    onTestFinished(() => agent.close())
    const ana = await gateway.enter('ana')
    await enter()
    const answer = ana.ask('Fix it.', { to: ['planner'], timeoutMs: 120_000 })
    await page.shows('1 pending')
    await page.key('i')
    await page.shows('sum.txt, 1 line')
    await page.shows('a + b')
    expect(readFileSync(join(cwd, 'sum.txt'), 'utf8')).toBe('a - b\n')
    // The call is longer than its box, so the user has to scroll to its end first.
    await page.evaluate(
      `{ const box = document.querySelector('.inbox .exact'); box.scrollTop = box.scrollHeight }`,
    )
    await page.click('.inbox [data-key-press=y]')
    await page.shows('It adds now.')
    expect((await answer).text).toBe('It adds now.')
    expect(readFileSync(join(cwd, 'sum.txt'), 'utf8')).toBe('a + b\n')
  }),
)
