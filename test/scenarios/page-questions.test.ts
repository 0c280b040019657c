import type { SpaceClient } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { barriers } from '../support/axe.js'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { enterAs, openPageGateway, pictures } from '../support/page.js'

const timeout = 60_000

const form = {
  message: `Where to <b>exactly</b>?${'\nAnd when?'.repeat(300)}`,
  requestedSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', description: 'of the branch', minLength: 2 },
      nights: { type: 'integer', title: 'Nights', minimum: 1 },
      view: { type: 'string', title: 'View', enum: ['sea', 'hill'], enumNames: ['The sea', 'The hill'] },
      extras: {
        type: 'array',
        title: 'Extras',
        items: {
          anyOf: [
            { const: 'tea', title: 'Tea' },
            { const: 'wine', title: 'Wine' },
          ],
        },
      },
      quiet: { type: 'boolean', title: 'Quiet' },
    },
    required: ['city', 'nights'],
  },
}

/** Offers a tool of `teller` that asks its caller, and collects the answers. */
function asking(teller: SpaceClient) {
  const answers: unknown[] = []
  const taken = new AbortController()
  teller.tool('book', {}, async (_, { request, signal }) => {
    const options = {
      correlationId: request.id,
      ...(request.context !== undefined && { context: request.context }),
      propose: false,
      signal: AbortSignal.any([signal, taken.signal]),
    }
    const answer = await teller.request(request.from, 'elicitation/create', form, options)
    answers.push(answer)
    return `done: ${String(answer.action)}`
  })
  return { answers, takeBack: () => taken.abort('too late') }
}

/** Opens the page as ana, and lets planner propose a call of a tool that asks her a question. */
async function scene(chromium: string) {
  const more = { teller: ['mcp.request', 'mcp.response'] }
  const gateway = await openPageGateway({ more })
  const planner = await gateway.enter('planner')
  const { answers, takeBack } = asking(await gateway.enter('teller'))
  const page = await drivePage(chromium)
  await enterAs(page, gateway.url, 'ana')
  const run = await planner.reason('Travelling')
  const propose = () =>
    planner.propose({
      ...{ to: 'teller', method: 'tools/call', params: { name: 'book' } },
      ...{ context: run.context, rationale: 'it is time' },
    })
  return { gateway, page, propose, answers, takeBack }
}

test(
  'what a tool asks is a form on the page of who had it called, on every page of theirs',
  { timeout },
  withChromium(async (chromium) => {
    const { gateway, page, propose, answers } = await scene(chromium)
    const eve = await drivePage(chromium)
    await enterAs(eve, gateway.url, 'eve')
    const proposal = await propose()
    await page.click('button', 'Approve')
    await page.shows(/teller\s+asks you/)
    await page.shows('Where to <b>exactly</b>?')
    await page.shows('Everyone in the space can read what you answer.')
    // The controls for the answer are close to the question, whatever its length.
    const asked = 'document.querySelector(".question .asked").clientHeight / innerHeight'
    expect(await page.evaluate(asked)).toBeLessThan(0.35)
    expect(await page.evaluate('document.title')).toBe('(1) demo')
    await eve.shows('elicitation/create')
    await eve.hides('asks you')

    // Missing and wrong values are reported at their fields.
    await page.click('.question button', 'Answer')
    await page.shows(/City is needed[\s\S]*Nights is needed/)
    expect(await barriers(page)).toEqual([])
    await page.screenshot(pictures('question'))
    await page.type('.question .field:nth-of-type(1) input', 'Rome')
    await page.type('.question .field:nth-of-type(2) input', '0')
    await page.click('.question button', 'Answer')
    await page.shows('Nights is 1 or more')

    // The call survives a reload of the page, and the question is also in the inbox.
    await page.reload()
    await page.shows(/teller\s+asks you/)
    await page.click('.inbox-button')
    await page.shows('1 question')
    const field = (number: number): string => `.inbox .question .field:nth-of-type(${number})`
    await page.type(`${field(1)} input`, 'Rome')
    await page.type(`${field(2)} input`, '2')
    await page.evaluate(`(() => {
      const select = document.querySelector('${field(3)} select')
      select.value = 'hill'
      select.dispatchEvent(new Event('change', { bubbles: true }))
    })()`)
    await page.click(`${field(4)} label`, 'Wine')
    await page.click(`${field(5)} label`, 'Quiet')
    await page.click('.inbox .question button', 'Answer')
    const content = { city: 'Rome', nights: 2, view: 'hill', extras: ['wine'], quiet: true }
    await expect.poll(() => answers).toEqual([{ action: 'accept', content }])
    await page.hides('asks you')
    await page.shows('Nothing waits for your decision')
    expect(await proposal.outcome).toMatchObject({ state: 'approved', by: 'ana' })
    for (const each of [page, eve]) expect(each.problems).toEqual([])
  }),
)

test(
  'a question can be declined, and goes when it is taken back',
  { timeout },
  withChromium(async (chromium) => {
    const { page, propose, answers, takeBack } = await scene(chromium)
    await propose()
    await page.click('button', 'Approve')
    await page.click('.question button', 'Decline')
    await expect.poll(() => answers).toEqual([{ action: 'decline' }])
    await page.hides('asks you')

    await propose()
    await page.click('button', 'Approve')
    await page.shows(/teller\s+asks you/)
    takeBack()
    await page.hides('asks you')
    expect(page.problems).toEqual([])
  }),
)

test(
  'in the inbox a question about what was just approved takes the place of the next proposal',
  { timeout },
  withChromium(async (chromium) => {
    const { page, propose } = await scene(chromium)
    const first = await propose()
    await propose()
    await page.shows('2 pending')
    await page.key('i')
    await page.click('.review .decision button', 'Approve')
    await expect
      .poll(() => page.evaluate(`document.querySelector('.review .question')?.innerText ?? ''`))
      .toContain('Where to <b>exactly</b>?')
    await page.click('.review .question button', 'Decline')
    await expect.poll(() => page.evaluate(`document.querySelector('.review .question')`)).toBeNull()
    expect(await first.outcome).toMatchObject({ state: 'approved' })
  }),
)
