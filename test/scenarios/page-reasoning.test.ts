import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { crew, onPage } from '../support/page.js'
import { verifies } from '../verifies.js'

const timeout = 60_000

/** Reads the rows that contain a text, each on one line, without times and symbols. */
const rowsWith = async (page: DrivenPage, text: string): Promise<string[]> => {
  const rows = await page.evaluate<string[]>(
    `[...document.querySelectorAll('article')].map((row) => row.querySelector('.content').innerText)`,
  )
  return rows
    .map((row) =>
      row
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/[▸▾●○✕✓⚠] |(?<=Thinking|Thought) [\d.]+ m?s|\b\d\d:\d\d\b/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((row) => row.includes(text))
}

/** Text in every heading of a run for screen readers, in place of the arrow. */
const folding = 'what planner thinks:'

verifies(
  'M04',
  'a start and a conclusion without words have a neutral label on the page',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    for (const [index, payload] of [undefined, {}, { message: '' }].entries()) {
      const body = payload === undefined ? {} : { payload }
      const { id: context } = await planner.send({ kind: 'reasoning.start', ...body })
      await page.shows('Thinking')
      expect((await rowsWith(page, folding)).at(-1)).toMatch(
        /^Fold what planner thinks: planner Thinking Hide for all Interrupt$/,
      )
      await planner.send({ kind: 'reasoning.conclusion', context, ...body })
      await page.hides('Thinking')
      const headings = await rowsWith(page, folding)
      expect(headings).toHaveLength(index + 1)
      expect(headings.at(-1)).toMatch(/^Unfold what planner thinks: planner Thought$/)
    }
    await page.click('button', 'Unfold what planner thinks')
    await page.shows('done')
  }),
  { timeout },
)

test(
  'Reply at a thought adds one to its run, which stands under it as what it answers',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const added: AnyEnvelope[] = []
    planner.on('envelope', (each) => {
      if (each.from === 'ana' && each.kind === 'reasoning.thought') added.push(each)
    })
    await enter()
    const run = await planner.reason('which plan')
    const { id } = await run.thought('the second one')
    await page.shows('the second one')
    await page.click('.reply-button')
    await page.type('input[aria-label="Reply to what planner thinks"]', 'the first is cheaper')
    await page.key('Enter')
    await expect.poll(() => added).toMatchObject([{ correlationId: id, context: run.context }])
    await expect
      .poll(() => rowsWith(page, 'the first is cheaper'))
      .toEqual(['ana ↳ planner the first is cheaper'])
    const asked: AnyEnvelope[] = []
    planner.on('envelope', (each) => {
      if (each.from === 'ana' && each.kind === 'chat') asked.push(each)
    })
    await page.click('button', 'Ask about')
    await page.type('input[aria-label="Ask about this thought of planner"]', 'why that one?')
    await page.key('Enter')
    const payload = { message: '> the second one\n\nwhy that one?', mentions: ['planner'] }
    await expect.poll(() => asked).toMatchObject([{ correlationId: id, payload }])
    await run.conclude('the first one')
    const buttons = (label: string) =>
      page.evaluate(`document.querySelectorAll('button[aria-label^="${label}"]').length`)
    await expect.poll(() => buttons('Reply')).toBe(0)
  }),
)

verifies(
  'M07',
  'a conclusion closes its block on the page; a thought that comes later is there, marked as late',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const context = 'msg-101'
    const say = (kind: string, message: string, more: object = {}) =>
      planner.send({ kind: `reasoning.${kind}`, payload: { message }, ...more })
    await say('start', 'Analyzing deployment safety...', { id: context })
    await say('thought', 'Need to check test results', { context })
    await page.shows('Need to check test results')
    await say('conclusion', 'Deployment is unsafe due to test failures', { context })
    await page.hides('Need to check test results')
    await say('thought', 'Oh, and one more thing', { context })
    await page.shows('1 late')
    expect((await rowsWith(page, folding))[0]).toMatch(
      /^Unfold what planner thinks: planner Thought · 2 thoughts Deployment is unsafe due to test failures 1 late/,
    )
    await page.click('button', 'Unfold what planner thinks')
    await page.shows('Oh, and one more thing')
    expect(await rowsWith(page, 'Oh, and')).toEqual(['Oh, and one more thing late'])
    expect(await rowsWith(page, 'Need to')).toEqual(['Need to check test results'])
  }),
  { timeout },
)

verifies(
  ['M14', 'M16'],
  'a heading links what a run builds on, tells what is not there, and says how sure its owner is',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const { seq } = await planner.chat('The report is in', { id: 'msg-380' })
    const metadata = { approach: 'security-first', estimated_duration: '30s', confidence: 0.7 }
    const payload = { message: 'Analyzing deployment', references: ['msg-380', 'msg-390'], metadata }
    await planner.send({ kind: 'reasoning.start', id: 'msg-401', payload })
    await page.shows('Analyzing deployment')
    await expect
      .poll(() => rowsWith(page, folding))
      .toEqual([
        `Fold what planner thinks: planner Thinking Analyzing deployment Hide for all Interrupt 70 % sure ↩ #${seq} msg-390`,
      ])
    const received = `[...document.querySelectorAll('.chip.reference')].map(({ title }) => title)`
    expect(await page.evaluate(received)).toEqual(['msg-390: not an envelope that is loaded here'])
    await page.click('.chip.link', `↩ #${seq}`)
    await page.shows(`#${seq} chat`)
    await planner.send({ kind: 'reasoning.start', payload: { message: 'No idea yet' } })
    await page.shows('No idea yet')
    expect((await rowsWith(page, 'No idea yet'))[0]).not.toContain('sure')
  }),
  { timeout },
)

verifies(
  'M28',
  'a context without reasoning kinds is one block on the page, by its name, and folds',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const context = 'reason-123'
    const chat = (message: string, more: object = {}) =>
      planner.send({ kind: 'chat', payload: { message }, ...more })
    await chat("I'll analyze this")
    await chat('Checking permissions...', { context })
    const params = { name: 'read_diff', arguments: {} }
    await planner.send({
      kind: 'mcp.request',
      to: ['repo'],
      context,
      payload: { method: 'tools/call', params },
    })
    await chat('Permissions look good', { context })
    await page.shows(/planner\s+Context · 1 tool\s+reason-123/)
    await page.hides('Checking permissions')
    await page.click('button', 'Unfold what planner thinks')
    await page.shows('Permissions look good')
    await expect
      .poll(async () => (await rowsWith(page, '')).slice(-5))
      .toEqual([
        "planner I'll analyze this",
        'Fold what planner thinks: planner Context · 1 tool reason-123',
        'Checking permissions...',
        expect.stringMatching(/^read_diff [\d.]+ m?s$/),
        'Permissions look good',
      ])
  }),
  { timeout },
)

verifies(
  'M30',
  'a context on the page leads to the proposals that are based on it, which are decided as any other',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const payload = { method: 'tools/call', params: { name: 'release', arguments: { version: '1.4.2' } } }
    const propose = (correlationId: string) =>
      planner.send({ kind: 'mcp.proposal', to: ['deploy'], correlationId, payload, rationale: 'it is due' })
    await planner.send({ kind: 'chat', context: 'reason-123', payload: { message: 'Looking' } })
    const run = await planner.reason('Is it due?')
    await page.shows('Is it due?')
    expect(await page.text()).not.toContain('proposed')
    const [free, inRun] = [await propose('reason-123'), await propose(run.context)]
    await page.shows(new RegExp(`Context\\s+reason-123\\s+\\d\\d:\\d\\d\\s+proposed #${free.seq} release`))
    await page.shows(
      new RegExp(
        `Is it due\\?\\s+\\d\\d:\\d\\d\\s+Hide for all\\s+Interrupt\\s+proposed #${inRun.seq} release`,
      ),
    )
    await page.click('.chip.link', `proposed #${inRun.seq}`)
    await page.shows(`#${inRun.seq} mcp.proposal`)
    await page.key('Escape')
    await page.click('button', 'Approve')
    await page.shows('approved by ana')
    await page.shows(
      new RegExp(
        `Is it due\\?\\s+\\d\\d:\\d\\d\\s+Hide for all\\s+Interrupt\\s+proposed #${inRun.seq} release`,
      ),
    )
  }),
  { timeout },
)

verifies(
  ['I34', 'I36'],
  'work that nobody asked for shows on the page with why each tool was called, batches side by side',
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const job = await planner.reason('It is late, so I tidy up')
    const call = (from: string, why: string) => ({ tool: 'repo/read_diff', args: { from }, why })
    await job.parallel([call('1.0', 'to see the first'), call('1.1', 'to see the second')])
    await job.call('repo/read_diff', { from: '1.2' }, { why: 'to see the last' })
    await job.parallel([call('1.3', 'one more'), call('1.4', 'and another')])
    await page.shows('It is late, so I tidy up')
    await expect
      .poll(() => rowsWith(page, 'to see the last'))
      .toEqual([expect.stringMatching(/^read_diff 1\.2 [\d.]+ m?s to see the last$/)])
    await page.key('2')
    const batches = (): Promise<string[][]> =>
      page.evaluate(`[...document.querySelectorAll('.batch')].map((batch) =>
        [...batch.querySelectorAll('.rationale')].map((why) => why.textContent))`)
    await expect.poll(batches).toEqual([
      ['to see the first', 'to see the second'],
      ['one more', 'and another'],
    ])
  }),
  { timeout },
)
