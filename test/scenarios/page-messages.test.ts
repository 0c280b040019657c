import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { crew, enterAs, onPage, openPageGateway, pictures, sendMany } from '../support/page.js'

const evaluateAll = <Value>(page: DrivenPage, selector: string, expression: string): Promise<Value[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => ${expression})`)

/** Code in the page that measures the positions and sizes of the rows. */
const places = `[...document.querySelectorAll('.scroller .row')].map((row) => {
  const { top, height } = row.getBoundingClientRect()
  return [row.dataset.key, Math.round(top), Math.round(height)]
})`

test(
  'nothing moves under the pointer, and what can be done with a message and a run shows there',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    await page.prepare(
      `Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text } } })`,
    )
    await enter()
    const ana = await gateway.enter('ana')
    const question = await ana.chat('Is **it** ready?')
    for (let count = 0; count < 3; count++) {
      const run = await planner.reason(`Looking ${count}`)
      await run.conclude(`It is, ${'as far as anybody can see '.repeat(10)}`)
    }
    await planner.chat('It is.', { correlationId: question.id })
    await security.reason('Still at it')
    await page.shows('Still at it')
    const before = await page.evaluate<[string, number, number][]>(places)
    for (const [, top, height] of before) {
      await page.point(640, top + height / 2)
      expect(await page.evaluate(places)).toEqual(before)
    }
    const [x = 0, y = 0] = await page.evaluate<number[]>(
      `(({ left, top }) => [left + 20, top + 20])([...document.querySelectorAll('.said-aloud')].find((row) => row.textContent.includes('Is it ready')).getBoundingClientRect())`,
    )
    await page.point(x, y)
    await expect
      .poll(() => evaluateAll(page, '.said-aloud:hover .toolbar', 'getComputedStyle(each).visibility'))
      .toEqual(['visible'])
    await page.click('.said-aloud:hover .toolbar button', 'Copy the message')
    await expect.poll(() => page.evaluate('window.copied')).toBe('Is **it** ready?')
    await page.click('.said-aloud:hover .toolbar button', 'Copy a link')
    await expect
      .poll(() => page.evaluate('window.copied'))
      .toMatch(new RegExp(`#/s/demo\\?.*e=${question.seq}`))
    await page.screenshot(pictures('messages-toolbar'))

    await page.click('.said-aloud', 'Is it ready')
    expect(await page.text()).not.toContain(`#${question.seq} chat`)
    await page.key('Enter')
    await page.shows(`#${question.seq} chat`)
    await page.key('Escape')
    await page.click('.said-aloud[aria-current=true] .toolbar button', 'More')
    await page.click('.toolbar .menu button', 'Take back')
    await page.shows('taken back')

    await page.click('.heading.live button', 'Interrupt')
    await page.shows('Stopping…')
  }),
)

test(
  'on a touch screen a folded run has the height of a finger, and what came of it a line of its own',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const run = await planner.reason('Looking')
    await run.call('repo/read_diff', {}, { why: 'to know' })
    await run.conclude(`It is, ${'as far as anybody can see '.repeat(10)}`)
    await page.resize(390, 844)
    await page.shows('It is, as far')
    const [height = 0] = await evaluateAll<number>(page, '.row:has(.heading)', 'each.clientHeight')
    expect(height).toBeLessThanOrEqual(56)
    const ending = `document.querySelector('.heading .ending').getBoundingClientRect()`
    expect(
      await page.evaluate(
        `${ending}.top >= document.querySelector('.heading .state').getBoundingClientRect().bottom - 2`,
      ),
    ).toBe(true)
    expect(await page.evaluate(`${ending}.width`)).toBeGreaterThan(200)
    await page.screenshot(pictures('messages-phone'))
  }),
)

test(
  'paper has all of the conversation, and nothing else',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    await sendMany(
      gateway.url,
      'planner',
      Array.from({ length: 600 }, (_, at) => ({
        ...{ kind: 'chat', payload: { message: `message ${at}. ${'and so on '.repeat(30)}` } },
      })),
    )
    await enter()
    await page.shows('message 599.')
    expect(await page.countPrintedPages()).toBeGreaterThan(25)
    const printed = `(() => {
      dispatchEvent(new Event('beforeprint'))
      const rows = document.querySelectorAll('.row').length
      dispatchEvent(new Event('afterprint'))
      return rows
    })()`
    expect(await page.evaluate(printed)).toBeGreaterThanOrEqual(600)
    await expect.poll(() => page.evaluate('document.querySelectorAll(".row").length')).toBeLessThan(60)
  }),
)

test(
  'dialogs have the width of their text, wherever they are opened',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const { url } = await openPageGateway({ more: { root: ['*'] } })
    const page = await drivePage(chromium)
    await enterAs(page, url, 'root')
    const cut = `[...document.querySelectorAll('dialog, dialog *')]
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
      .map((each) => each.className || each.localName)`
    await page.click('button', 'audit')
    await page.shows('This page asks the gateway')
    expect(await page.evaluate(cut)).toEqual([])
    await page.click('dialog button', 'Close')
    await page.click('button', 'Settings')
    await page.shows('Use single letters as keys')
    const heading = `getComputedStyle(document.querySelector('dialog h2')).font`
    const font = await page.evaluate(heading)
    await page.click('dialog button', 'Close')
    await page.click('button', 'Invite')
    await page.shows('Capabilities, one a line')
    expect(await page.evaluate(heading)).toBe(font)
    expect(await page.evaluate(cut)).toEqual([])
    expect(page.problems).toEqual([])
  }),
)
