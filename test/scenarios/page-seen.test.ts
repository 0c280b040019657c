import type { SpaceClient } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { onPage, pictures } from '../support/page.js'

const timeout = 240_000
const wide = [1280, 800] as const
const narrow = [320, 800] as const

/** Arguments of at most 16,000 characters, so that a card shows all of them without a click. */
const long = { comment: Array.from({ length: 300 }, (_, at) => `note ${at}`), command: 'rm -rf ~' }
const oldText = 'a'
const change = {
  path: 'notes.txt',
  edits: [
    { oldText, newText: `${Array.from({ length: 190 }, (_, at) => `line ${at}`).join('\n')}\nrm -rf ~` },
  ],
}

const propose = (by: SpaceClient, name: string, args: object) =>
  by.propose({
    ...{ to: 'deploy', method: 'tools/call', params: { name, arguments: args } },
    rationale: 'it is asked for',
  })

const approve = '.review .decision button'
const always = `[...document.querySelectorAll('.inbox .decision button')].find((each) => /Always/.test(each.textContent))`

/** Code in the page that checks whether the last line of a box is visible. */
const endIsInView = (box: string) => `(() => {
  const element = document.querySelector(${JSON.stringify(box)})
  const range = document.createRange()
  range.selectNodeContents(element)
  const end = [...range.getClientRects()].at(-1)
  const { top, bottom } = element.getBoundingClientRect()
  return end.bottom <= Math.min(bottom, innerHeight) + 1 && end.top >= top - 1
})()`

/** Opens the inbox, whose code is loaded on demand. */
async function openInbox(page: DrivenPage): Promise<void> {
  await page.key('i')
  await expect.poll(() => page.evaluate(`document.querySelector('.inbox .decision') !== null`)).toBe(true)
}

test.for([
  ['JSON', wide, 'run', long, '.inbox .exact'],
  ['JSON', narrow, 'run', long, '.inbox .exact'],
  ['a change', wide, 'edit_file', change, '.inbox .diff'],
  ['a change', narrow, 'edit_file', change, '.inbox .diff'],
] as const)(
  'a card of %s is approved once its end was in view, on a screen of %j',
  { timeout },
  ([, [width, height], name, args, box], context) =>
    onPage(async ({ gateway, page, enter }) => {
      const deploy = await gateway.enter('deploy')
      deploy.tool(name, {}, () => 'done')
      const planner = await gateway.enter('planner')
      await page.resize(width, height)
      await enter()
      const { outcome } = await propose(planner, name, args)
      await page.shows('1 pending')
      await openInbox(page)
      await page.shows('Scroll to the end of what is sent to approve it.')
      const isOff = (): Promise<boolean> => page.evaluate(`document.querySelector('${approve}').disabled`)
      expect([await isOff(), await page.evaluate(`${always}.disabled`)]).toEqual([true, true])
      expect(await page.evaluate(endIsInView(box))).toBe(false)
      const below = `document.querySelector('.review .diff-box button')?.textContent`
      if (name === 'edit_file') await expect.poll(() => page.evaluate(below)).toMatch(/^\d+ more lines ↓$/)
      // Long lines wrap, so that there is nothing to scroll to sideways.
      expect(
        await page.evaluate(
          `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('${box}'))`,
        ),
      ).toBe(true)
      // As long as the end of the box was not in view, the key does not approve: the button is still disabled.
      await page.evaluate(`document.querySelector('${box}').focus()`)
      await page.key('y')
      expect(await isOff()).toBe(true)
      await page.key('End')
      await expect.poll(isOff).toBe(false)
      await expect.poll(() => page.evaluate(endIsInView(box))).toBe(true)
      await expect.poll(() => page.evaluate(below)).toBeUndefined()
      await page.screenshot(pictures(`seen-${name}-${width}`))
      await page.key('y')
      if (name === 'run') {
        // A deletion is approved by two clicks; keys do not work.
        await page.click(approve, 'Approve anyway')
        await page.shows('rm deletes files.')
        await page.key('y')
        await page.click(approve, 'Yes, approve it')
      }
      expect(await outcome).toMatchObject({ state: 'approved', by: 'ana' })
    })(context as never) as Promise<void>,
)

test(
  'several are approved at once after each was seen to its end',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const deploy = await gateway.enter('deploy')
    deploy.tool('run', {}, () => 'done')
    const planner = await gateway.enter('planner')
    await page.resize(...wide)
    await enter()
    for (let at = 0; at < 2; at++) await propose(planner, 'run', { at, ...long })
    await page.shows('2 pending')
    await openInbox(page)
    await page.click('.queue button', 'Decide all 2')
    const isOff = (): Promise<boolean> =>
      page.evaluate(`document.querySelector('.group-review button[type=submit]').disabled`)
    await page.type('.group-review .number', '2')
    expect(await isOff()).toBe(true)
    await page.evaluate(`document.querySelector('.calls').focus()`)
    await page.key('End')
    await expect.poll(isOff).toBe(false)
    await page.click('.group-review button', 'Approve 2')
    await page.shows('Nothing waits for your decision')
  }),
)

test(
  'what is longer than a card shows is asked for, then scrolled to its end; what is folded was not seen',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await page.resize(...wide)
    await enter()
    await propose(planner, 'run', { ...long, padding: 'x'.repeat(20_000), last: 'rm -rf ~' })
    await page.shows('1 pending')
    await openInbox(page)
    const isOff = (): Promise<boolean> => page.evaluate(`document.querySelector('${approve}').disabled`)
    const scroll = `(() => { const box = document.querySelector('.inbox .exact'); box.scrollTop = box.scrollHeight })()`
    await page.shows('Show all of it before you approve.')
    await page.evaluate(scroll)
    expect(await isOff()).toBe(true)
    await page.click('.inbox button', 'Show all of it')
    await page.shows('Scroll to the end of what is sent to approve it.')
    expect(await isOff()).toBe(true)
    await page.evaluate(scroll)
    await expect.poll(isOff).toBe(false)
  }),
)
