import { testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { crew, onPage } from '../support/page.js'

/** Code in the page that measures how far each drawn line is from the top of the window, in pixels, by the text of the line. */
const tops = `Object.fromEntries([...document.querySelectorAll('article')].map(
  (row) => [(row.querySelector('.message-text') ?? row).textContent, Math.round(row.getBoundingClientRect().top)],
))`

/** Code in the page that holds back history until the test releases it. */
const holdHistory = `{
  const ask = globalThis.fetch
  const held = new Promise((resolve) => { globalThis.letHistoryThrough = resolve })
  globalThis.fetch = async (what, ...more) => {
    if (String(what).includes('/envelopes?')) await held
    return ask(what, ...more)
  }
}`

test(
  'the page draws what is near the view of a long log, and leaves a reader who looks back where they are',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const say = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, at) => planner.chat(`message ${from + at}.`)))
    const length = 20_500
    for (let from = 0; from < length; from += 500) await say(from, from + 500)
    const markup = '<img src="x" onerror="document.title=1"><b>bold</b>'
    await planner.chat(markup)
    await enter()
    await page.shows(`message ${length - 1}.`)
    expect(await page.text()).toContain(markup)
    const drawn = () => page.evaluate<number>(`document.querySelectorAll('article').length`)
    expect(await drawn()).toBeLessThan(120)

    await page.evaluate(`document.querySelector('.scroller').scrollTop = 20000`)
    await page.shows('↓ live')
    await page.hides(`message ${length - 1}.`)
    const before = await page.evaluate(tops)
    await say(length, length + 7)
    await page.shows('↓ 7 new')
    expect(await page.evaluate(tops)).toEqual(before)
    expect(await drawn()).toBeLessThan(120)
    await page.click('.newer')
    await page.shows(`message ${length + 6}.`)

    // Earlier messages are loaded automatically when the reader scrolls to the top.
    const toTheTop = `document.querySelector('.scroller').scrollTop = 0, document.body.innerText`
    await expect.poll(() => page.evaluate(toTheTop), { timeout: 20_000 }).toContain('message 0.')
    await page.shows('the space was opened')
    await page.hides('Load earlier')
  }),
)

test(
  'what was before comes by itself, and moves nothing that is read',
  { timeout: 60_000 },
  onPage(async ({ gateway, page }) => {
    const planner = await gateway.enter('planner')
    for (let from = 0; from < 3000; from += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, at) => planner.chat(`message ${from + at}.`)))
    }
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Enter a space')
    await page.evaluate(holdHistory)
    await page.type('input[name=token]', testToken('ana'))
    await page.click('button[type=submit]')
    await page.shows('message 2999.')
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 0`)
    await page.shows('Loading…')
    const [[oldest = '', top] = []] = Object.entries(await page.evaluate<Record<string, number>>(tops))
    expect(oldest).toMatch(/^message (19|20)\d\d\.$/)
    await page.evaluate('letHistoryThrough()')
    await page.hides('Loading…')
    expect(await page.evaluate(tops)).toMatchObject({ [oldest]: top })
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 0`)
    await page.shows('message 0.')
    await page.hides('Load earlier')
  }),
)

test(
  'what was hidden for everybody, or from one connection, is there once it is shown again',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const run = await planner.reason('Reading')
    await run.thought('thought in the open')
    await page.shows('thought in the open')
    await page.click('button', 'Hide for all')
    await page.shows('hidden from everyone')
    await run.thought('thought in private')
    await planner.chat('something else')
    await page.shows('something else')
    await page.hides('thought in private')
    await page.click('button', 'Show again')
    await page.shows('thought in private')

    await page.key('r')
    const detail = () => page.evaluate(`document.querySelector('.detail select').value`)
    await expect.poll(detail).toBe('summary')
    await page.hides('thought in the open')
    await run.thought('thought unseen', { phase: 'plan' })
    await page.shows(/Thinking.* · 1 thought: plan/)
    await planner.chat('once more')
    await page.shows('once more')
    await page.hides('thought unseen')
    await page.key('r')
    await expect.poll(detail).toBe('boundaries')
    await page.key('r')
    await page.shows(/hidden 1 · \d+ B saved/)
    await page.key('r')
    await page.shows('thought unseen')
    await page.shows('thought in the open')

    expect(run.signal.aborted).toBe(false)
    await page.click('button', 'Interrupt')
    await expect.poll(() => run.signal.aborted).toBe(true)
  }),
)

test(
  'the page says so when the log is another one, and when it is closed out',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('said in the old log')
    await enter()
    await page.shows('said in the old log')
    await gateway.stop()
    await page.shows('reconnecting')
    await page.shows('Try now')
    await gateway.start(true)
    await page.shows('The log that was shown here is gone')
    await page.hides('said in the old log')
    await planner.chat('said in the new log')
    await page.shows('said in the new log')

    const admin = await gateway.enter('admin')
    await admin.kick('ana', { reason: 'time to go home' })
    await page.shows('time to go home')
    await page.shows('said in the new log')
    await page.click('button', 'Sign in again')
    await page.shows('Enter a space')
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
  }),
)
