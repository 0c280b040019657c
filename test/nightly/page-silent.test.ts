import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { enterAs, openPageGateway } from '../support/page.js'
import { proxy } from '../support/proxy.js'

test(
  'a page whose line falls silent says so within a minute, keeps what was typed, and shows what it missed once',
  { timeout: 180_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const planner = await gateway.enter('planner')
    await using line = await proxy(Number(new URL(gateway.url).port))
    const page = await drivePage(chromium)
    await enterAs(page, line.url, 'ana')
    await planner.chat('before.')
    await page.shows('before.')
    line.freeze()
    const begun = Date.now()
    await planner.chat('missed.')
    await page.type('textarea', 'typed meanwhile')
    await expect.poll(() => page.text(), { timeout: 65_000 }).toContain('reconnecting')
    expect(Date.now() - begun).toBeLessThan(60_000)
    line.thaw()
    await page.click('button', 'Try now')
    await page.shows('missed.')
    await page.shows(/replayed \d+–\d+/)
    await page.shows('live')
    const typed = await page.evaluate<string>(`document.querySelector('.message-box textarea').value`)
    expect(typed).toBe('typed meanwhile')
    await page.key('Enter')
    const shown = `[...document.querySelectorAll('article .message-text')].map((each) => each.textContent)`
    await expect.poll(() => page.evaluate<string[]>(shown)).toEqual(['before.', 'missed.', 'typed meanwhile'])
  }),
)
