import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { crew, enterAs, openPageGateway, pictures } from '../support/page.js'

const slider = `document.querySelector('.scrubber input')`

/** Opens the time bar if it is closed, and moves its slider to this seq. */
async function scrubTo(page: DrivenPage, seq: number): Promise<void> {
  if (await page.evaluate(`${slider} === null`)) await page.click('button', 'Look back in time')
  await expect.poll(() => page.evaluate(`${slider} !== null`)).toBe(true)
  await page.evaluate(
    `{ ${slider}.value = ${seq}; ${slider}.dispatchEvent(new Event('input', { bubbles: true })) }`,
  )
}

const present = (page: DrivenPage): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('.people li:not(.away) .name')].map((each) => each.textContent)`,
  )

/** Plays a release that ana has to approve. Returns the seqs of some of its moments. */
async function release() {
  const gateway = await openPageGateway()
  const { planner, security } = await crew(gateway)
  const seqOf = (sent: { seq?: number }): number => sent.seq ?? 0
  const first = await planner.chat('Shall we release 1.4.2?')
  const run = await planner.reason('Looking at what 1.4.2 changes')
  await run.thought('The payment tests matter most.')
  const proposal = await planner.propose({
    to: 'deploy',
    method: 'tools/call',
    params: { name: 'release', arguments: { version: '1.4.2' } },
    context: run.context,
    rationale: 'everything is checked',
  })
  const asked = await planner.chat('I wait for somebody to decide.')
  await security.close()
  const ana = await gateway.enter('ana')
  await ana.call('deploy/release', { version: '1.4.2' }, { correlationId: proposal.id })
  await run.conclude('1.4.2 is out.')
  const last = await planner.chat('Done.')
  return { gateway, planner, ana, seqs: { first: seqOf(first), asked: seqOf(asked), last: seqOf(last) } }
}

test(
  'a reader goes back to any moment, and the page is what it was then, while the space goes on',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const { gateway, planner, ana, seqs } = await release()
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await page.shows('Done.')
    await page.hides('pending')
    expect(await present(page)).not.toContain('security')

    await scrubTo(page, seqs.asked)
    await page.shows(`#${seqs.asked} ·`)
    await page.shows('1 pending')
    await page.shows('The payment tests matter most.')
    await page.shows(/"version": "1.4.2"/)
    await page.hides('1.4.2 is out.')
    expect(await present(page)).toContain('security')
    expect(
      await page.evaluate(`[...document.querySelectorAll('button')]
      .filter((each) => each.textContent.startsWith('Approve')).every((each) => each.disabled)`),
    ).toBe(true)
    await page.screenshot(pictures('time-past'))

    await planner.chat('news of today')
    await page.shows('1 new envelope')
    await page.hides('news of today')
    await expect.poll(() => page.evaluate('location.hash')).toContain(`at=${seqs.asked}`)
    await page.reload()
    await page.shows(`#${seqs.asked} ·`)
    await page.shows('1 pending')
    await page.hides('news of today')

    await page.click('button', 'To the beginning')
    await page.hides('Shall we release')
    await page.evaluate(`{ const speed = document.querySelector('.scrubber select');
      speed.value = '64'; speed.dispatchEvent(new Event('change', { bubbles: true })) }`)
    await page.evaluate('document.activeElement.blur()')
    await page.key(' ')
    await page.shows('news of today')
    await expect.poll(() => page.evaluate(`document.querySelector('.scrubber.past')`)).toBeNull()
    await expect.poll(() => page.evaluate('location.hash')).not.toContain('at=')

    await page.key(' ')
    await expect.poll(() => page.evaluate(`document.querySelector('.scrubber.past') !== null`)).toBe(true)
    await planner.chat('while time stands still')
    await page.shows('1 new envelope')
    await page.hides('while time stands still')
    await page.key('.')
    await page.shows('while time stands still')
    await ana.close()
    expect(page.problems).toEqual([])
  }),
)

test(
  'a restart of the gateway takes nobody out of the moment that they look at',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const { gateway, planner, seqs } = await release()
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await page.shows('Done.')
    await scrubTo(page, seqs.asked)
    await page.shows('1 pending')
    await gateway.stop()
    await page.shows('reconnecting')
    await page.shows('The payment tests matter most.')
    await gateway.start()
    await page.shows(/replayed \d+–\d+/)
    await page.shows(`#${seqs.asked} ·`)
    await page.shows('1 pending')
    await page.hides('1.4.2 is out.')
    await planner.chat('after the restart')
    await page.hides('after the restart')
    await page.click('button', 'LIVE')
    await page.shows('after the restart')
    // The gateway may stop while the page loads something, so ignore network errors.
    expect(page.problems.filter((problem) => !problem.includes('net::ERR_'))).toEqual([])
  }),
)
