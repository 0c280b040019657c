import type { SpaceClient } from '@meup/agent-sdk'
import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { crew, enterAs, openPageGateway, pictures } from '../support/page.js'

test(
  'messages of a megabyte, kinds that nobody knows and a clock in the future leave the page usable',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const megabyte = `${'lorem ipsum '.repeat(90_000)}the very end`
    const gateway = await openPageGateway({
      more: { mallory: ['*'] },
      limits: { maxEnvelopeBytes: 2_000_000 },
      clock: new FakeClock(Date.UTC(2099, 0)),
    })
    const { planner } = await crew(gateway)
    const mallory = await gateway.enter('mallory')
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    const run = await mallory.reason('Going on at length')
    for (let count = 0; count < 3; count++) {
      await mallory.chat(megabyte)
      await mallory.chat(megabyte.replaceAll(' ', '\n'), { format: 'markdown' })
      await mallory.chat('no-spaces'.repeat(100_000))
      await mallory.send({
        kind: 'reasoning.speculation',
        context: run.context,
        payload: { message: megabyte },
      })
      await mallory.send({ kind: 'acme.note', payload: { text: megabyte, [megabyte.slice(0, 5000)]: true } })
    }
    await mallory.send({
      kind: 'acme.unheard-of.kind.x',
      to: ['ana'],
      payload: { deep: [[[[{ a: null }]]]] },
    })
    await run.conclude('That is all')
    await page.shows('acme.unheard-of.kind.x')
    await page.shows('1.1 MB in all')
    await page.hides('the very end')
    expect(await page.evaluate('document.body.innerText.length')).toBeLessThan(200_000)
    await page.screenshot(pictures('robust'))
    await page.type('textarea', 'still here')
    await page.key('Enter')
    await page.shows('still here')
    await page.click('.chip.link', 'in all')
    await page.click('button', 'Load all of it')
    await page.shows('Copy all of it')

    await page.shows('✓ checked here')
    await page.key('Escape')
    await page.hides('Copy all of it')

    await decides(page, planner, Date.UTC(2099, 0))
    expect(page.problems).toEqual([])
  }),
)

/** Makes a proposal that expires ten minutes after `now` by the gateway's clock, and approves it on the page. */
async function decides(page: DrivenPage, planner: SpaceClient, now: number): Promise<void> {
  const expiresAt = new Date(now + 600_000).toISOString()
  const draft = { to: 'deploy', method: 'tools/call', params: { name: 'release' }, expiresAt }
  const { outcome } = await planner.propose({ ...draft, rationale: 'it is time' })
  await page.shows('1 pending')
  await page.key('p')
  await page.shows(/expires in \d+ min/)
  await page.click('button', 'Approve')
  expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })
}

test(
  'somebody whose clock is ahead of the gateway decides in time, and sees what waits as soon as they come',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const now = Date.now() - 3_600_000
    const gateway = await openPageGateway({ clock: new FakeClock(now) })
    const { planner } = await crew(gateway)
    const page = await drivePage(chromium)
    const expiresAt = new Date(now + 600_000).toISOString()
    await planner.propose({ to: 'deploy', method: 'tools/call', params: { name: 'release' }, expiresAt })
    await enterAs(page, gateway.url, 'ana')
    await page.shows('1 pending')
    await page.click('button', 'Approve')
    await page.shows('approved by ana')
    await decides(page, planner, now)
    expect(page.problems).toEqual([])
  }),
)
