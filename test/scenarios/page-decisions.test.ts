import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { crew, enterAs, openPageGateway } from '../support/page.js'

test(
  'a proposal is decided by whoever may, with a reason, and its card closes for everybody',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const { planner } = await crew(gateway)
    const run = await planner.reason('Releasing')
    const release = {
      to: 'deploy',
      method: 'tools/call',
      params: { name: 'release', arguments: { version: '2' } },
    }
    const propose = () => planner.propose({ ...release, context: run.context, rationale: 'it is time' })
    const [ana, eve, rex] = [await drivePage(chromium), await drivePage(chromium), await drivePage(chromium)]
    await Promise.all([
      enterAs(ana, gateway.url, 'ana'),
      enterAs(eve, gateway.url, 'eve'),
      enterAs(rex, gateway.url, 'rex'),
    ])
    const first = await propose()
    await eve.shows('Another participant decides')
    await ana.shows('Always allow')
    await rex.shows('Approve')
    await rex.hides('Always allow')

    await ana.key('p')
    await ana.key('n')
    await ana.type('.decision input', 'not on a Friday')
    await ana.key('Enter')
    expect(await first.outcome).toMatchObject({ state: 'rejected', by: 'ana', message: 'not on a Friday' })
    await Promise.all([eve, rex].map((page) => page.shows(/rejected by ana[\s\S]*not on a Friday/)))

    const second = await propose()
    await rex.click('button', 'Approve')
    expect(await second.outcome).toMatchObject({ state: 'approved', by: 'rex' })
    await ana.shows('approved by rex')

    await propose()
    await ana.click('button', 'Always allow')
    await ana.click('.always button', 'Allow')
    await expect
      .poll(() => planner.can({ kind: 'mcp.request', ...release, to: ['deploy'], payload: release }))
      .toBe(true)
    await ana.hides('pending')
    for (const page of [ana, eve, rex]) expect(page.problems).toEqual([])
  }),
)
