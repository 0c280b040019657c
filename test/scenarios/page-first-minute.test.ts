import { testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { crew, enterAs, onPage, openPageGateway, pictures } from '../support/page.js'

const timeout = 60_000

test(
  'an empty space offers a question for each agent; a click asks it, and what comes of it is one card',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    void planner.answer(async (turn) => {
      const run = await turn.reason('What is there to do?')
      await run.call('repo/read_diff', { from: '1.4.1' }, { why: 'to see what is new' })
      await run.conclude('There is a release')
      await turn.reply('I **plan** releases.', { format: 'markdown' })
    })
    await enter()
    await page.shows('Nothing has happened here yet')
    const offered = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('.suggestions button')].map((each) => each.innerText.trim())`,
      )
    await expect.poll(offered).toEqual(['Ask planner: What can you do?', 'Ask security: What can you do?'])
    await page.click('.suggestions button', 'planner')
    await page.shows('I plan releases.')
    const places = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('article')].map((row) =>
        ['start', 'middle', 'end', 'alone'].find((place) => row.classList.contains(place)) + ' ' +
        (row.querySelector('.message-text, .heading .ending')?.textContent ?? ''))`)
    await expect
      .poll(async () => (await places()).filter((place) => !place.startsWith('alone')))
      .toEqual(['start @planner' + 'What can you do?', 'middle There is a release', 'end I plan releases.'])

    // One click on an answer shows what led to it.
    await page.click('.said-aloud .why-button')
    await page.shows(
      /What can you do\?[\s\S]*calls read_diff[\s\S]*three files changed|What can you do\?[\s\S]*There is a release/,
    )
    await page.key('Escape')

    // An answer that does not follow its question directly has a link to it.
    const question = await security.chat('Is it safe?')
    await planner.chat('Who wants to know?')
    await security.chat('It is.', { correlationId: question.id })
    await page.shows('↳ security: Is it safe?')
    await page.screenshot(pictures('first-minute'))
  }),
)

/** Code in the page that measures the height of the page's header, and finds controls with a side of less than 44 pixels. */
const measures = `(() => {
  const bottom = document.querySelector('.view-tabs').getBoundingClientRect().bottom
  const pressed = [...document.querySelectorAll(
    '.top button, .top input, .view-tabs button, footer button, footer select, footer textarea, .decision button',
  )].filter((each) => each.offsetParent !== null)
  const sides = pressed.map((each) => [
    Math.min(...['width', 'height'].map((side) => Math.round(each.getBoundingClientRect()[side]))),
    each.getAttribute('aria-label') ?? each.textContent,
  ])
  return { bottom, small: sides.filter(([side]) => side < 44), isWide: document.body.scrollWidth > innerWidth }
})()`

test(
  'a phone has at most 96 pixels of head, and buttons for a finger; the rest is behind one of them',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    await page.resize(390, 844)
    const run = await planner.reason('Is it due?')
    void run.call('deploy/release', { version: 'two' }, { why: 'everything is checked' }).catch(() => {})
    await page.shows('Approve')
    expect(await page.evaluate(measures)).toEqual({ bottom: expect.any(Number), small: [], isWide: false })
    const { bottom } = await page.evaluate<{ bottom: number }>(measures)
    expect(bottom).toBeLessThanOrEqual(96)
    await page.hides('Show only')
    await page.click('.menu-button')
    await page.shows('Show only')
    await page.shows('sign out')
    await page.screenshot(pictures('phone-menu'))
    await page.click('.menu-button')
    await page.click('[data-key-press=y]')
    await page.shows('approved by ana')
  }),
)

test(
  'a window that keeps nothing, as private ones may, is as good as any other until it is closed',
  { timeout },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const page = await drivePage(chromium)
    await page.prepare(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, name, { get() { throw new DOMException('denied', 'SecurityError') } })`)
    await enterAs(page, gateway.url, 'ana')
    await page.type('textarea', 'nothing is kept')
    await page.key('Enter')
    await page.shows('nothing is kept')
    await page.click('button', 'Settings')
    await page.choose('select[name=theme]', 'dark')
    await page.click('dialog button', 'Close')
    await page.click('button', 'sign out')
    await page.shows('Enter a space')
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Enter a space')
    expect(page.problems).toEqual([])
  }),
)

test(
  'the browser keeps a token where that is chosen, and forgets it with the sign-out or when it is revoked',
  { timeout },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const page = await drivePage(chromium)
    const kept = (): Promise<string | undefined> => page.evaluate(`localStorage['meup-token:demo']`)
    const closeTab = async (): Promise<void> => {
      await page.evaluate('sessionStorage.clear()')
      await page.goTo('about:blank')
      await page.goTo(`${gateway.url}/#/s/demo`)
    }
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.type('input[name=token]', testToken('ana'))
    await page.click('label', 'Stay signed in')
    await page.click('button[type=submit]')
    await page.shows('live')
    expect(await kept()).toBe(testToken('ana'))
    await closeTab()
    await page.shows('ana · sign out')
    await page.click('button', 'sign out')
    expect(await kept()).toBeUndefined()
    await closeTab()
    await page.shows('Enter a space')
  }),
)

/** Code in the page that collects files instead of saving them. */
const keepSaved = `globalThis.saved = []
URL.createObjectURL = (blob) => { saved.push(blob); return 'about:blank' }
URL.revokeObjectURL = () => {}
HTMLAnchorElement.prototype.click = function () { saved.push(this.download) }`

test(
  'the audit dialog copies the head, and exports what its reader may read',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    const question = await planner.chat('What is new?')
    const run = await planner.reason('Looking', { references: [question.id] })
    await run.call('repo/read_diff', { from: '1.4.1' }, { why: 'to see it' })
    await run.conclude('three files')
    await page.shows('three files')
    await page.evaluate(keepSaved)
    await page.click('button.audit')
    await page.shows('compared')
    await page.click('.audit-details button', 'Copy the head')
    await page.shows(/copied ✓|does not let it be copied/)
    const saved = async (label: string): Promise<[text: string, name: string]> => {
      await page.evaluate('saved.length = 0')
      await page.click('.audit-details button', label)
      await expect.poll(() => page.evaluate('saved.length')).toBe(2)
      return page.evaluate('saved[0].text().then((text) => [text, saved[1]])')
    }
    const [log, name] = await saved('Export JSONL')
    expect(name).toBe('demo.jsonl')
    expect(log).toContain('three files')
    const [turns, file] = await saved('Export Markdown')
    expect(file).toBe('demo.md')
    expect(turns).toContain('#')
    await expectClosed(page)
  }),
)

async function expectClosed(page: DrivenPage): Promise<void> {
  await page.click('.audit-details button', 'Close')
  await page.hides('Export JSONL')
}

test(
  'the box of a choice stands beside its words when one signs in, and a space stays empty when an agent lists its tools',
  onPage(async ({ gateway, page, enter }) => {
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Stay signed in')
    const [box, words] = await page.evaluate<[number, number]>(`(() => {
      const label = [...document.querySelectorAll('label')].find((each) => each.textContent.includes('Stay signed in'))
      const range = document.createRange()
      range.selectNodeContents(label.lastChild)
      const middle = ({ top, bottom }) => (top + bottom) / 2
      return [middle(label.querySelector('input').getBoundingClientRect()), middle(range.getBoundingClientRect())]
    })()`)
    expect(Math.abs(box - words)).toBeLessThan(8)
    const { planner } = await crew(gateway)
    await enter()
    await planner.request('repo', 'tools/list')
    await page.shows('Ask planner: What can you do?')
    await planner.call('repo/read_diff', {}, {})
    await page.hides('What can you do?')
  }),
)
