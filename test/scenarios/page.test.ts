import type { SpaceClient } from '@meup/agent-sdk'
import { testToken } from '@meup/gateway/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { approveByKey, crew, onPage, openPageGateway, pictures } from '../support/page.js'
import { verifies } from '../verifies.js'

const heard = (space: SpaceClient, kind: string): Promise<AnyEnvelope> =>
  new Promise((resolve) => {
    const listen = (envelope: AnyEnvelope): void => {
      if (envelope.kind !== kind) return
      space.off('envelope', listen)
      resolve(envelope)
    }
    space.on('envelope', listen)
  })

verifies(
  'M11',
  'a person follows two agents on the page, hides the thoughts of one, and decides what is proposed',
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const { planner, security } = await crew(gateway)
    const page = await drivePage(chromium)
    await page.resize(1280, 800)
    const picture = (name: string) => page.screenshot(pictures(name))

    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Enter a space')
    await picture('1-sign-in')
    await page.type('input[name=token]', 'not-a-token')
    await page.click('button[type=submit]')
    await page.shows('does not take this token')
    await page.type('input[name=token]', testToken('ana'))
    await page.click('button[type=submit]')
    await page.shows('live')
    await expect.poll(() => page.evaluate('location.href')).not.toContain('token-of')
    expect(await page.evaluate('Object.keys(localStorage)')).not.toContain('meup-token:demo')

    const asking = heard(planner, 'chat')
    await page.type('textarea', 'Can 1.4.2 go out today?')
    await page.key('Enter')
    const question = await asking
    const run = await planner.reason('Looking at what 1.4.2 changes', { references: [question.id] })
    await run.thought('The diff touches the checkout, so the payment tests matter most.')
    await run.call('repo/read_diff', { from: '1.4.1', to: '1.4.2' }, { why: 'to see what goes out' })
    const linting = run.call('repo/lint', { path: 'checkout.ts' }, { why: 'the release gate asks for it' })
    await expect(linting).rejects.toThrow('2 problems')
    const check = await security.reason('Going through the new dependencies')
    await check.thought('One new package, maintained, no install scripts.')
    await page.shows('payment tests matter most')
    await page.shows('no install scripts')
    await picture('2-live')

    await page.click('button', 'Hide the thoughts of security')
    await page.hides('no install scripts')
    await page.shows('Going through the new dependencies')
    await page.shows('payment tests matter most')
    await check.conclude('Nothing speaks against it.')
    await security.chat('The dependencies are fine.')
    await page.shows('The dependencies are fine.')
    await page.click('button', 'Unfold what security thinks')
    await page.hides('no install scripts')
    await page.click('button', 'Show the thoughts of security')
    await page.shows('no install scripts')

    const releasing = run.call(
      'deploy/release',
      { version: '1.4.2', build: 4200 },
      { why: 'everything is checked' },
    )
    await page.shows('Approve')
    await page.shows('1 pending')
    await page.shows(/"version": "1.4.2"/)
    await picture('3-proposal')
    await page.key('Escape')
    await approveByKey(page)
    expect(await releasing).toMatchObject({ text: 'released 1.4.2 to production', approvedBy: 'ana' })
    await page.shows('approved by ana')
    await page.hides('pending')

    await run.conclude('1.4.2 is out; the two lint problems are known.')
    await planner.chat('Done: 1.4.2 is in production.', { correlationId: question.id })
    await page.click('button', '1 new') // Scrolls to the end: approving had scrolled up to the proposal.
    await page.shows(/Thought [^\n]+3 tools\s+1\.4\.2 is out/)
    await page.hides('payment tests matter most')
    await page.shows('2 problems in checkout.ts')
    await picture('4-folded')
    await page.click('button', 'Unfold what planner thinks')
    await page.shows('payment tests matter most')
    await page.click('.said', 'payment tests matter most')
    await page.key('Enter')
    await page.shows('reasoning.thought')
    await picture('5-inspector')

    await gateway.stop()
    await page.shows('reconnecting')
    await page.shows('payment tests matter most')
    await picture('6-away')
    await gateway.start()
    await page.shows(/replayed \d+–\d+/)
    await page.shows('live')

    await page.reload()
    await page.shows('Done: 1.4.2 is in production.')
    await page.shows('payment tests matter most')
    await page.click('button', 'Settings')
    await page.choose('select[name=theme]', 'dark')
    await page.click('dialog button', 'Close')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await picture('7-dark')
    expect(page.problems.filter((problem) => !problem.includes('401'))).toEqual([])
  }),
  { timeout: 60_000 },
)

test(
  'the page is worked by keys alone',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('good morning')
    const run = await planner.reason('Planning the day')
    await run.thought('coffee first')
    await run.conclude('planned')
    await enter()
    await page.shows('planned')
    await page.hides('coffee first')
    const current = () =>
      page.evaluate<string>(
        `document.activeElement.getAttribute('aria-current') && document.activeElement.textContent`,
      )
    await page.key('k')
    await page.key('k')
    await expect.poll(current).toContain('planned')
    await page.key('l')
    await page.shows('coffee first')
    await page.key('j')
    await expect.poll(current).toContain('coffee first')
    await page.key('Enter')
    await page.shows('reasoning.thought')
    await page.key('y')
    await expect.poll(() => page.evaluate('location.hash')).toMatch(/^#\/s\/demo\?e=\d+$/)
    await page.shows(/the link is (copied|in the address bar)/)
    await page.key('Escape')
    await page.hides('reasoning.thought')
    await page.key('h')
    await page.hides('coffee first')
    await page.key(']')
    await page.shows('coffee first')
    await page.key('?')
    await page.shows('next, previous line')
  }),
)
