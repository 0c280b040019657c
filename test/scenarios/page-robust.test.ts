import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
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

    const expiresAt = new Date(Date.UTC(2099, 0) + 600_000).toISOString()
    const draft = { to: 'deploy', method: 'tools/call', params: { name: 'release' }, expiresAt }
    const { outcome } = await planner.propose({ ...draft, rationale: 'it is time' })
    await page.shows('1 pending')
    await page.key('p')
    await page.shows(/expires in \d+ min/)
    await page.click('button', 'Approve')
    expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })
    expect(page.problems).toEqual([])
  }),
)
