import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { enterAs, openPageGateway, pictures } from '../support/page.js'

const dayMs = 86_400_000

/** Reads the texts of all elements that match the selector. */
const texts = (page: DrivenPage, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`)

test(
  'each day has a line of its own, and hits and tooltips have dates where the reader is',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const clock = new FakeClock(Date.UTC(2026, 10, 23, 12))
    const gateway = await openPageGateway({ clock })
    for (let day = 0; day < 4; day++) {
      // Reconnect each day, because a connection does not survive a day without a sign of life.
      const eve = await gateway.enter('eve')
      await eve.chat(`said on day ${day}.`)
      await eve.chat(`and a bit more on day ${day}.`)
      await eve.close()
      clock.advance(dayMs)
    }
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await page.shows('said on day 3.')
    await expect
      .poll(() => texts(page, '.day'))
      .toEqual([
        'Monday, 23 November',
        'Tuesday, 24 November',
        'Wednesday, 25 November',
        'Thursday, 26 November',
        'Friday, 27 November',
      ])
    expect(await texts(page, '.said-aloud .byline .name')).toEqual(['eve', 'eve', 'eve', 'eve'])
    const [title = ''] = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.said-aloud time')].map((each) => each.title)`,
    )
    expect(title).toMatch(/23/)
    expect(title).not.toContain('Z')
    await page.type('input[name=query]', 'said on day')
    await expect.poll(() => texts(page, '.hits time')).toHaveLength(4)
    for (const text of await texts(page, '.hits time'))
      expect(text).toMatch(/^2[3-6] Nov( \d{4})? \d\d:\d\d #\d+$/)
    await page.screenshot(pictures('days'))
    expect(page.problems).toEqual([])
  }),
)

/** Makes the page count as visible or hidden. */
const turn = (page: DrivenPage, state: 'visible' | 'hidden'): Promise<void> =>
  page.evaluate(`{
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' })
    document.dispatchEvent(new Event('visibilitychange'))
  }`)

test(
  'what came while a reader was away begins below a line, until it is marked read',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const eve = await gateway.enter('eve')
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await eve.chat('seen by ana')
    await page.shows('seen by ana')
    await turn(page, 'hidden')
    await eve.chat('the first that is new')
    const { seq = 0 } = await eve.chat('the second that is new')
    await page.shows('the second that is new')
    await turn(page, 'visible')
    await page.shows(/2 new since \d\d:\d\d — mark read \(Esc\)/)
    expect(
      await page.evaluate(
        `document.querySelector('.unread').closest('.row').textContent.includes('the first')`,
      ),
    ).toBe(true)
    await page.key('Escape')
    await page.hides('mark read')

    // A reloaded page knows the position up to which the user has read.
    await expect
      .poll(() => page.evaluate(`JSON.parse(localStorage['meup-read:demo:ana']).seq`))
      .toBeGreaterThanOrEqual(seq)
    await page.goTo('about:blank')
    await eve.chat('said to nobody who looks')
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('said to nobody who looks')
    await page.shows('1 new since')
    await page.screenshot(pictures('unread'))
    expect(page.problems).toEqual([])
  }),
)

test(
  'what nobody has said is smaller than what somebody has',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const ana = await gateway.enter('ana')
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await ana.chat('to begin with')
    const expiresAt = '2099-11-27T19:20:49.599Z'
    await ana.send({
      kind: 'capability.grant',
      payload: { recipient: 'eve', capabilities: ['mcp.*'], expiresAt },
    })
    await page.shows('2099')
    expect(await page.text()).not.toContain('19:20:49.599Z')
    expect(await page.evaluate(`document.querySelectorAll('.row .avatar').length`)).toBe(1)
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.row.quiet .content')].map((each) => each.clientHeight)`,
    )
    for (const height of heights) expect(height).toBeLessThanOrEqual(24)
    await page.screenshot(pictures('events'))
    expect(page.problems).toEqual([])
  }),
)
