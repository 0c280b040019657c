import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { crew, onPage, pictures } from '../support/page.js'

test(
  'a reader sees what they ask for alone, and is told of everything else why it is hidden',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    await enter()
    const plan = await planner.reason('Planning the release')
    await plan.thought('payment tests first')
    const check = await security.reason('Checking packages')
    await check.thought('one new package')
    await planner.chat('good morning')
    await page.shows('one new package')

    await page.key('f')
    await page.click('[data-sort=chat]')
    await page.shows('good morning')
    await page.hides('payment tests first')
    await page.shows(/Hidden from you[\s\S]*envelopes\s+by your filter/)
    await expect.poll(() => page.evaluate('location.hash')).toContain('only=chat')
    await page.click('.widen')
    await page.shows('payment tests first')

    await page.click('.who', 'security')
    await page.click('.seen label', 'Show only security')
    await page.shows('one new package')
    await page.hides('payment tests first')
    await page.screenshot(pictures('filters-person'))
    await page.reload()
    await page.shows('one new package')
    await page.hides('payment tests first')
    await page.click('.only button')
    await page.shows('payment tests first')

    await page.click('button', 'Hide the thoughts of security')
    await page.shows(/1 thought of security\s+by you/)
    await page.hides('one new package')
    await page.shows('payment tests first')
    await page.click('.hidden-list button', 'show')
    await page.shows('one new package')
    await page.hides('Hidden from you')

    await page.click('.who', 'security')
    await page.click('.seen label', 'Mute it at the gateway')
    await page.shows('✂ muted by you, at the gateway')
    await check.thought('unsent thought')
    await check.conclude('unsent conclusion')
    await security.chat('packages are fine')
    await page.shows('packages are fine')
    await page.hides('unsent thought')
    await page.screenshot(pictures('filters-cut'))
    await page.click('.hidden-list button', 'show: all but messages and tools of security')
    await page.shows('unsent conclusion')
    await page.hides('Hidden from you')

    await page.click('button', 'Focus')
    await page.hides('good morning')
    await page.shows('payment tests first')
    const hash = await page.evaluate<string>('location.hash')
    expect(hash).toContain(`ctx=${plan.context}`)
    await page.goTo('about:blank')
    await page.goTo(`${gateway.url}/${hash}`)
    await page.shows('payment tests first')
    await page.hides('good morning')
    await page.click('.widen')
    await page.shows('good morning')
  }),
)

test(
  'a reader finds lines, also in what is folded, one after the other',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    for (let round = 0; round < 3; round++) {
      await using run = await planner.reason(`Round ${round}`)
      await run.thought(`needle number ${round}`)
      for (let straw = 0; straw < 40; straw++) await run.thought('straw')
      await run.conclude(`Round ${round} is over`)
    }
    await enter()
    await page.shows('Round 2 is over')
    await page.hides('needle number')
    await page.key('/')
    await page.type('input[name=query]', 'NEEDLE')
    const hits = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('.hits .said')].map((hit) => hit.textContent)`)
    await expect.poll(hits).toEqual(['needle number 2', 'needle number 1', 'needle number 0'])
    expect(await page.evaluate(`document.querySelector('.hits mark').textContent`)).toBe('needle')
    await page.key('Enter')
    await page.key('Enter')
    await expect.poll(() => current(page)).toContain('needle number 2')
    await page.key('ArrowDown')
    await page.key('Enter')
    await expect.poll(() => current(page)).toContain('needle number 1')
    await expect.poll(() => page.evaluate(`CSS.highlights.get('search')?.size`)).toBeGreaterThan(0)
    await page.screenshot(pictures('search'))
    await expect.poll(() => page.evaluate('location.hash')).toContain('q=NEEDLE')
    await page.reload()
    await expect.poll(hits).toHaveLength(3)
    await page.evaluate(`{ const from = document.querySelector('.narrow select'); from.value = 'security'
      from.dispatchEvent(new Event('change', { bubbles: true })) }`)
    await page.shows('Nothing was found.')
    await page.click('button', 'everywhere')
    await expect.poll(hits).toHaveLength(3)
    await page.click('.find header button')
    await expect.poll(() => page.evaluate('location.hash')).not.toContain('q=')
  }),
)

test(
  'what a reader has muted and folded is forgotten when they sign out',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const run = await planner.reason('Planning at length')
    await run.thought('the first idea')
    await page.shows('the first idea')
    await page.click('.heading.live button', 'Mute')
    await page.shows('✂ muted by you, at the gateway')
    await page.click('.heading.live .fold')
    await page.reload()
    await page.shows('✂ muted by you, at the gateway')
    expect(await page.evaluate(`Object.keys(sessionStorage)`)).toContain('meup-choices:demo')
    await page.click('button', 'sign out')
    await page.shows('Enter a space')
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
    await enter()
    await page.shows('Planning at length')
    await page.hides('muted by you')
    await run.conclude('planned')
  }),
)

test(
  'a run that a reader has cut ends for them too, and comes back whole',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const run = await planner.reason('Planning at length')
    await run.thought('the first idea')
    await page.shows('the first idea')
    await page.click('.heading.live button', 'Mute')
    await page.shows('✂ muted by you, at the gateway')
    await page.reload()
    await page.shows('✂ muted by you, at the gateway')
    await run.thought('the second idea')
    await run.call('repo/read_diff', {}, { why: 'to look' })
    await page.shows('read_diff')
    await run.conclude('planned')
    await page.shows(/Thought[^\n]*1 tool[\s\S]*planned/)
    await page.hides('the second idea')
    await page.shows(/2 envelopes not sent\s+by you: \d+ B saved/)
    await page.click('.hidden-list button', 'show: what is in run')
    await page.shows('the second idea')
    await page.hides('Hidden from you')
  }),
)

/** The text of the line that keys act on. */
const current = (page: DrivenPage): Promise<string> =>
  page.evaluate(`document.querySelector('[aria-current=true]')?.textContent ?? ''`)
