import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { approveByKey, crew, enterAs, onPage, openPageGateway, pictures } from '../support/page.js'

const release = {
  to: 'deploy',
  method: 'tools/call',
  params: { name: 'release', arguments: { version: 'two', build: 4711 } },
}

test(
  'a proposal that is approved in one window closes in the other, and a key decides on nothing but the card that has the focus',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const { planner } = await crew(gateway)
    const run = await planner.reason('Releasing')
    const expiresAt = new Date(Date.now() + 600_000).toISOString()
    const propose = (more: object = {}) =>
      planner.propose({ ...release, context: run.context, rationale: 'it is time', expiresAt, ...more })
    const windows = [await drivePage(chromium), await drivePage(chromium)]
    await Promise.all(windows.map((page) => enterAs(page, gateway.url, 'ana')))
    const [one, other] = windows as [DrivenPage, DrivenPage]
    const { outcome } = await propose()
    for (const page of windows) await page.shows(/expires in \d+ min/)
    await one.shows(/version\s+two\s+build\s+4711/)
    await one.click('summary', 'exactly what is sent')
    await one.shows(/needs mcp\.request to deploy · tools\/call release/)
    await one.shows('"build": 4711')

    await one.key('y')
    await one.key('n')
    await one.type('textarea', 'a')
    await one.hides('Why not?')
    await one.evaluate('document.activeElement.blur()')
    await one.shows('Approve')
    await one.screenshot(pictures('card-open'))
    await other.click('button', 'Approve')
    expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })
    await one.shows('approved by ana')
    await one.hides('Always allow')

    const twice = await propose({ uses: 2 })
    await one.shows('2 times')
    await approveByKey(one)
    await one.shows(/carried out by ana, 1 left/)
    await approveByKey(one)
    expect(await twice.outcome).toMatchObject({ state: 'approved', by: 'ana' })
    await one.hides('carried out by ana')

    await propose()
    await one.shows('Approve')
    await gateway.stop()
    await one.shows('reconnecting')
    const buttons = `[...document.querySelectorAll('.decision button')].map((each) => each.disabled)`
    expect(await one.evaluate(buttons)).toEqual([true, true, true])
    await one.key('p')
    await one.key('y')
    await gateway.start()
    await one.shows('live')
    await expect.poll(() => one.evaluate(buttons)).toEqual([false, false, false])
    for (const page of windows) expect(page.problems).toEqual([])
  }),
)

test(
  'what is long has to be shown before it is approved',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const params = { name: 'release', arguments: { filler: 'x'.repeat(100_000), last: 'delete everything' } }
    await planner.propose({ ...release, params, rationale: 'it is time' })
    await page.shows('Show all of it before you approve')
    await page.hides('delete everything')
    const isOff = `[...document.querySelectorAll('.decision button')].find((each) => each.textContent.includes('Approve')).disabled`
    expect(await page.evaluate(isOff)).toBe(true)
    await page.click('button', 'Show all of it: 100 KB')
    await page.shows('delete everything')
    expect(await page.evaluate(isOff)).toBe(true)
    await page.evaluate(`{ const box = document.querySelector('.exact'); box.scrollTop = box.scrollHeight }`)
    // A call that is too long to be assessed is treated as destructive, so there is a second question.
    await page.click('button', 'Approve anyway…')
    await page.click('button', 'Yes, approve it')
    await page.shows('approved by ana')
  }),
)

/** Scrolls the lines to this position, in pixels. */
const scrollTo = (page: DrivenPage, top: number): Promise<void> =>
  page.evaluate(`{ document.querySelector('.scroller').scrollTop = ${top} }`)

test(
  'what is drawn before the browser has told of a scroll does not put the reader back',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    // Two authors, because consecutive messages of one author are drawn closer together.
    const authors = [await gateway.enter('planner'), await gateway.enter('security')]
    for (let count = 0; count < 200; count++) await authors[count % 2]?.chat(`message ${count}.`)
    await enter()
    await page.shows('message 199.')
    // Scrolls, and makes the page redraw in the same task, before its next frame. Returns the position afterwards.
    const scrolled = (top: number): Promise<number> =>
      page.evaluate(`{
        const box = document.querySelector('.scroller')
        box.scrollTop = ${top}
        document.querySelector('.menu-button').click()
        new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(box.scrollTop))))
      }`)
    expect(await scrolled(0)).toBe(0)
    await page.shows('message 0.')
    await page.shows('↓ live')
    expect(await scrolled(1500)).toBe(1500)
    await page.hides('message 0.')
    expect(await scrolled(1e6)).toBeGreaterThan(1500)
    await page.shows('message 199.')
    await page.hides('↓ live')
  }),
)

test(
  'a run is interrupted from its heading, and a reload leaves a reader where they were',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    const over = await security.reason('Before all that')
    for (let count = 0; count < 30; count++) await over.thought(`idea ${count}.`)
    await over.conclude('that was it')
    for (let count = 0; count < 200; count++) await planner.chat(`message ${count}.`)
    const run = await planner.reason('Going on and on')
    await enter()
    await page.shows('Going on and on')
    await page.click('.heading.live button', 'Interrupt')
    await expect.poll(() => run.signal.aborted).toBe(true)
    await run.cancel('I was asked to stop')
    await page.shows('I was asked to stop')

    await scrollTo(page, 0)
    await page.shows('that was it')
    await page.click('button', 'Unfold what security thinks')
    await page.shows('idea 29.')
    await scrollTo(page, 2000)
    await page.shows('↓ live')
    const top = `[...document.querySelectorAll('article')].find((row) => row.getBoundingClientRect().bottom > document.querySelector('.scroller').getBoundingClientRect().top + 12)?.textContent ?? ""`
    await page.hides('message 199.')
    // Rows are drawn first and measured later: wait until the page shows the same row twice.
    let before = ''
    await expect
      .poll(async () => {
        const earlier = before
        before = await page.evaluate<string>(top)
        return before.includes('message') && before === earlier
      })
      .toBe(true)
    await page.reload()
    await page.shows('↓ live')
    await expect.poll(() => page.evaluate(top)).toBe(before)
    await scrollTo(page, 0)
    await page.shows('idea 29.')
  }),
)
