import { expect, test } from 'vitest'
import { onPage, pictures } from '../support/page.js'

const timeout = 60_000
/** The smallest image that a browser displays. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test(
  'a click on a call shows why, with what, and all that came of it, in its place',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const repo = await gateway.enter('repo')
    const long = Array.from({ length: 400 }, (_, at) => `line ${at} of the report ${'.'.repeat(60)}`).join(
      '\n',
    )
    repo.tool('read_text_file', {}, () => long)
    repo.tool('edit_file', {}, () => 'done')
    repo.tool('list', {}, () =>
      JSON.stringify([
        { name: 'a.ts', size: 1 },
        { name: 'b.ts', size: 2 },
      ]),
    )
    repo.tool('config', {}, () => 'export const port = 8080 // default')
    repo.tool('shot', {}, () => ({ content: [{ type: 'image', data: pixel, mimeType: 'image/png' }] }))
    await enter()
    const run = await planner.reason('Looking')
    await run.call('repo/read_text_file', { path: 'report.txt' }, { why: 'what fails decides' })
    await run.call(
      'repo/edit_file',
      { path: 'report.txt', edits: [{ oldText: 'port 80', newText: 'port 8080' }] },
      { why: 'the port is wrong' },
    )
    await run.call('repo/list', { deep: { folder: ['src'] } }, { why: 'which files' })
    await run.call('repo/config', { path: 'src/config.ts' }, { why: 'the default' })
    await run.call('repo/shot', {}, { why: 'how it looks' })

    // A short result is readable after one click, a long one after two.
    await page.click('.call-line', 'report.txt')
    await page.shows('line 3 of the report')
    await page.hides('line 399 of the report')
    await page.click('button', 'Show all')
    await page.shows('line 399 of the report')
    await page.shows('what fails decides')
    await page.shows(/by space\.yaml: \S/)

    await page.click('.call-line', 'Edit')
    await page.shows('edit report.txt, 1 line')
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.diff > span')].map((each) => each.textContent.trim())`,
      ),
    ).toEqual(['-port 80', '+port 8080'])

    await page.click('.call-line', 'list')
    await expect
      .poll(() =>
        page.evaluate(`[...document.querySelectorAll('.call-details td')].map((each) => each.textContent)`),
      )
      .toEqual(['a.ts', '1', 'b.ts', '2'])

    await page.click('.call-line', 'config')
    await expect
      .poll(() => page.evaluate(`document.querySelector('.hljs-keyword')?.textContent`))
      .toBe('export')

    await page.click('.call-line', 'shot')
    await expect.poll(() => page.evaluate(`document.querySelector('.result-image')?.naturalWidth`)).toBe(1)
    await page.screenshot(pictures('calls'))

    // Opens the tab of the last call: the page may no longer draw the rows of the earlier calls, which are above the view.
    await page.click('.call-details:has(.result-image) [role=tab]', 'Envelopes')
    await page.shows('previous hash')
    await page.shows(/"kind": "mcp\.response"/)
    await run.conclude('over')
  }),
  timeout,
)

test(
  'a diff has the numbers of its lines, and marks the words that change',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await enter()
    const patch = '@@ -41,2 +41,2 @@\n const size = 4\n-return take(known, 80)\n+return take(known, 8080)\n'
    const params = { name: 'edit_file', arguments: { path: 'src/pool.ts', patch } }
    await planner.propose({ to: 'deploy', method: 'tools/call', params, rationale: 'the port is wrong' })
    await page.shows('the port is wrong')
    const lines = `[...document.querySelectorAll('.diff > span')].map((line) =>
      [getComputedStyle(line, '::before').content.replaceAll('"', ''), ...[...line.querySelectorAll('b')].map((each) => each.textContent)])`
    await expect.poll(() => page.evaluate(lines)).toEqual([[''], ['41'], ['42', '80'], ['42', '8080']])
    const gutter = `getComputedStyle(document.querySelector('.diff > span'), '::before').width`
    expect(await page.evaluate(gutter)).toBe('40px')
    // Code in the diff is highlighted, even where single words are marked as changed.
    await expect
      .poll(() =>
        page.evaluate(
          `[...document.querySelectorAll('.diff [class^=hljs]')].map((each) => each.textContent)`,
        ),
      )
      .toEqual(['const', '4', 'return', 'take', '80', 'return', 'take', '8080'])
    await page.screenshot(pictures('calls-diff'))
  }),
  timeout,
)

test(
  'whoever wants more contrast gets it',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('good morning')
    await enter()
    await page.shows('good morning')
    const dim = `getComputedStyle(document.querySelector('.stream .time')).color`
    const usual = await page.evaluate(dim)
    await page.prefer('prefers-contrast', 'more')
    await expect.poll(() => page.evaluate(dim)).not.toBe(usual)
    expect(await page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`)).toBe(
      'rgb(255, 255, 255)',
    )
  }),
  timeout,
)
