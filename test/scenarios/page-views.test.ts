import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpaceClient } from '@meup/agent-sdk'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import type { Capability } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { review as reviewPerformance } from '../../examples/deploy-review/src/performance-review.js'
import { review as reviewSecurity } from '../../examples/deploy-review/src/security-review.js'
import { withChromium } from '../support/chromium.js'
import { temporaryFolder } from '../support/cli.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { repositoryRoot } from '../support/files.js'
import { approveByKey, crew, enterAs, onPage, openPageGateway, pictures, sendMany } from '../support/page.js'

const example = join(repositoryRoot, 'examples/deploy-review')

/** The agents of the example, with the capabilities of its space.yaml. The user of the page asks them. */
function cast(): Record<string, Capability[]> {
  const { participants } = parse(readFileSync(join(example, 'space.yaml'), 'utf8')) as {
    participants: Record<string, { capabilities?: Capability[] }>
  }
  const { ana: _, ...others } = participants
  return Object.fromEntries(
    Object.entries(others).map(([id, each]) => [id, each.capabilities ?? ['mcp.response']]),
  )
}

/**
 * Starts the agents of the example, and the real file server that they read with. Returns a function that sends a signal to
 * that server.
 */
async function reviewers(
  enter: (id: string) => Promise<SpaceClient>,
): Promise<(signal: NodeJS.Signals) => void> {
  const pidFile = join(temporaryFolder(), 'pid')
  const tellPid = `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`
  const files = await bridgeMcpServer({
    connect: () => enter('files'),
    name: 'files',
    command: process.execPath,
    args: [
      '--import',
      `data:text/javascript,${encodeURIComponent(tellPid)}`,
      join(example, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
      join(example, 'repo'),
    ],
    env: {},
  })
  onTestFinished(() => files.close())
  const onError = (error: unknown): never => expect.fail(String(error))
  void (await enter('security-agent')).answer(reviewSecurity, { onError })
  void (await enter('perf-agent')).answer(reviewPerformance, { onError })
  const pid = Number(readFileSync(pidFile, 'utf8'))
  return (signal) => void process.kill(pid, signal)
}

/** Selector of elements that show running work. */
const live = '.heading.live, .times .bar.live'

const drawn = (page: DrivenPage, selector: string): Promise<number> =>
  page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`)

test(
  'the deploy-review conversation is seen live in three views, folded and unfolded',
  { timeout: 120_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway({ more: cast() })
    const signalFiles = await reviewers(gateway.enter)
    const answers: string[] = []
    const eve = await gateway.enter('eve')
    eve.on('envelope', ({ kind, from }) => {
      if (kind === 'chat' && from.endsWith('-agent')) answers.push(from)
    })
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    const picture = (name: string) => page.screenshot(pictures(`views-${name}`))
    const ask = async (): Promise<void> => {
      const before = answers.length
      signalFiles('SIGSTOP') // The agents wait for their first file until the page has shown that they do.
      await page.type('textarea', 'Should we deploy this auth change?')
      await page.key('Enter')
      await expect.poll(() => drawn(page, live)).toBeGreaterThan(0)
      signalFiles('SIGCONT')
      await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(before + 2)
      await page.evaluate('document.activeElement.blur()')
      await expect.poll(() => drawn(page, live)).toBe(0)
    }

    await ask()
    await page.shows('Security: I recommend against deploying.')
    await page.shows(/Thought [\d.]+ m?s · read 3 files\s+The security risk is too high/)
    await page.hides('The change touches')
    await picture('stream-folded')
    await page.key(']')
    await page.shows('The change touches')
    await picture('stream-unfolded')
    await page.key('[')
    await page.hides('The change touches')

    await page.key('2')
    await page.shows('Conversation')
    await expect.poll(() => page.evaluate('location.hash')).toContain('view=lanes')
    await expect.poll(() => drawn(page, '.lane')).toBe(3)
    await page.shows('Security: I recommend against deploying.')
    await ask()
    await picture('lanes-folded')
    await page.key(']')
    await page.shows('The change touches')
    await expect.poll(() => drawn(page, '.batch > .batched')).toBeGreaterThanOrEqual(2)
    await picture('lanes-unfolded')
    await page.evaluate(`document.querySelectorAll('.lane .scroller')[1].scrollTop = 0`)
    await page.shows('↓ live')
    await expect.poll(() => drawn(page, '.batch > .batched')).toBe(4)
    await picture('lanes-together')

    await page.click('[role=tab]', 'trace')
    await page.shows('2 of 2')
    await expect.poll(() => drawn(page, '.times .bar.call')).toBeGreaterThanOrEqual(4)
    await ask()
    await page.shows('3 of 3')
    await expect.poll(() => drawn(page, '.times .bar.think')).toBeGreaterThanOrEqual(2)
    await picture('trace-unfolded')
    await page.key('[')
    await expect.poll(() => drawn(page, '.times .bar.call')).toBe(0)
    await picture('trace-folded')

    await page.reload()
    await expect.poll(() => drawn(page, '.trace .times .bar.think')).toBe(2)
    const shown = `document.querySelector('.question-line[aria-current]')?.getAttribute('aria-rowindex')`
    expect(await page.evaluate(shown)).toBe('2')
    await page.evaluate(`document.querySelectorAll('.question-line:not(.head) .link')[1].click()`)
    await expect.poll(() => page.evaluate(shown)).toBe('3')
    await expect.poll(() => drawn(page, '.trace .times .bar.think')).toBe(2)
    expect(page.problems).toEqual([])
  }),
)

test(
  'each frame draws the lines of one lane more, then what is around the visible ones',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    await crew(gateway)
    const drafts = (kind: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ kind, payload: { message: `line ${at}` } }))
    for (const from of ['planner', 'security']) {
      await sendMany(gateway.url, from, [
        ...drafts('chat', 30),
        ...Array.from({ length: 60 }, () => ({ kind: 'reasoning.start', payload: { message: 'Looking' } })),
      ])
    }
    await enter()
    await page.shows('Looking')
    const frames = await page.evaluate<{ lanes: number; rows: number }[]>(`new Promise((resolve) => {
      document.getElementById('view-lanes').click()
      const seen = []
      const look = () => {
        const lanes = [...document.querySelectorAll('.lane')].filter((lane) => lane.querySelector('.row'))
        const rows = lanes.length < 3 ? 0 : lanes[0].querySelectorAll('.row').length
        seen.push({ lanes: lanes.length, rows })
        // There are no lanes until their code is loaded.
        const first = seen.find(({ lanes }) => lanes === 3)
        if ((first !== undefined && rows > first.rows) || seen.length > 3000) resolve(seen)
        else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })`)
    const lanes = frames.map((each) => each.lanes)
    expect(lanes.at(-1), lanes.join()).toBe(3)
    expect(Math.max(...lanes.map((count, at) => count - (lanes[at - 1] ?? 0))), lanes.join()).toBe(1)
    const rows = frames.filter((each) => each.lanes === 3).map((each) => each.rows)
    expect(rows.at(-1), rows.join()).toBeGreaterThan(rows[0] ?? 0)
  }),
)

const current = (page: DrivenPage): Promise<string> =>
  page.evaluate(`document.querySelector('[aria-current=true]')?.textContent ?? ''`)

test(
  'the views share what is chosen and folded, and are worked by keys',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    await enter()
    await planner.chat('Shall we look at 1.4.2?')
    const run = await planner.reason('Looking at what 1.4.2 changes')
    const check = await security.reason('Going through the new dependencies')
    await check.thought('One new package.')
    await expect(run.call('repo/lint', { path: 'a.ts' }, { why: 'the gate asks for it' })).rejects.toThrow()
    const nested = await run.reason('What does the failing lint mean?')
    await nested.thought('Two unused imports.')
    const params = { name: 'release', arguments: { version: '1.4.2' } }
    const asked = { to: 'deploy', method: 'tools/call', params, context: run.context }
    await planner.propose({ ...asked, rationale: 'all is checked' })
    await page.shows('Two unused imports.')
    await page.shows('Approve')

    await page.key('2')
    await page.shows('Conversation')
    await page.screenshot(pictures('views-lanes-live'))
    await page.click('.line .said', 'Two unused imports.')
    await page.key('Enter')
    await page.shows('reasoning.thought')
    await page.key('ArrowLeft')
    await page.hides('Two unused imports.')
    await expect.poll(() => current(page)).toContain('What does the failing lint mean?')
    await page.key('ArrowLeft')
    await expect.poll(() => current(page)).toContain('Looking at what 1.4.2 changes')
    await page.key('3')
    await page.shows('waits for a decision')
    await page.screenshot(pictures('views-trace-live'))
    await expect.poll(() => current(page)).toContain('Looking at what 1.4.2 changes')
    await page.key('ArrowDown')
    await expect.poll(() => current(page)).toContain('lint')
    await page.key('1')
    await expect.poll(() => current(page)).toContain('lint')
    await page.hides('Two unused imports.')

    await page.key('3')
    await approveByKey(page)
    await page.hides('waits for a decision')
    await page.key('Escape')
  }),
)

test(
  'Markdown is drawn as its author means it and nothing else, and what is heavy comes when it is asked for',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const written = [
      '# Findings',
      '1. **Two** tests fail in `token.ts`',
      '2. see [the report](https://example.org/report) or [this](javascript:alert(1))',
      '',
      '<img src=x onerror="document.title=1"> ![chart](https://example.org/chart.png)',
      '',
      '| test | result |',
      '|---|---|',
      '| expiry | fails |',
      '',
      '```ts',
      'return known',
      '```',
    ].join('\n')
    await planner.chat(written, { format: 'markdown' })
    await planner.chat('**as written**')
    await page.shows('**as written**')
    await expect.poll(() => drawn(page, '.markdown li strong')).toBe(1)
    expect(await drawn(page, '.markdown td')).toBe(2)
    expect(await drawn(page, '.markdown img, .markdown script')).toBe(0)
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.markdown a')].map(({ href, rel }) => [href, rel])`,
      ),
    ).toEqual([['https://example.org/report', 'noopener noreferrer nofollow']])
    await page.shows('[this](javascript:alert(1))')
    await page.shows('<img src=x')
    await page.shows('(example.org)')

    await planner.chat(`${'> '.repeat(4000)}very deep`, { format: 'markdown' })
    await page.shows('very deep')
    await planner.chat(`${'> '.repeat(30)}less deep`, { format: 'markdown' })
    await page.shows('less deep')
    expect(await drawn(page, 'blockquote')).toBeLessThan(10)

    const chat = await planner.chat(`It begins.${' and goes on'.repeat(20_000)} to its end.`)
    await page.shows('to its end.')
    await page.screenshot(pictures('views-markdown'))

    const payload = { message: 'With **reasons**', references: ['docs/a path.md', chat.id] }
    await planner.send({ kind: 'reasoning.start', payload })
    await page.shows('docs/a path.md')
    await page.shows('With reasons')
    await page.hides('unknown')
    await page.click('.chip.link', `#${chat.seq}`)
    await page.shows(`#${chat.seq} chat`)
    await page.shows('that are not shown')
    await page.shows('audit ✓')
  }),
)
