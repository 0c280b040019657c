import { expect, test } from 'vitest'
import { barriers } from '../support/axe.js'
import { crew, onPage, pictures } from '../support/page.js'
import { isSoak } from '../support/soak.js'

const sizes = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const

test(
  'axe finds nothing in any state of the page, dark or light, on large screens, small ones and phones',
  { timeout: 300_000 },
  onPage(async ({ gateway, page, enter }) => {
    let states = 0
    const isClear = async (state: string): Promise<void> => {
      // Tests each state at one size in turn; at night at all sizes.
      const turn = states++ % sizes.length
      for (const [width, height] of isSoak ? sizes : sizes.slice(turn, turn + 1)) {
        await page.resize(width, height)
        if (isSoak) await page.screenshot(pictures(`barriers-${state}-${width}`))
        expect.soft(await barriers(page), `${state} at ${width}`).toEqual([])
      }
      await page.resize(1280, 800)
    }
    await page.resize(1280, 800)
    await page.goTo(`${gateway.url}/#/s/demo`)
    await page.shows('Enter a space')
    await isClear('sign-in')
    await page.type('input[name=token]', 'not-a-token')
    await page.click('button[type=submit]')
    await page.shows('does not take this token')
    await isClear('refused')
    await enter()
    await page.shows('Nothing has happened here yet')
    await isClear('empty')

    const { planner, security } = await crew(gateway)
    await planner.chat('Can **1.4.2** go out? See [the notes](https://example.org/notes).', {
      format: 'markdown',
    })
    const run = await planner.reason('Looking at what 1.4.2 changes')
    await run.thought('The payment tests matter most.')
    await run.thought('This failed', { phase: 'error' })
    await run.call('repo/read_diff', { from: '1.4.1' }, { why: 'to see what goes out' })
    await expect(run.call('repo/lint', {}, { why: 'the gate' })).rejects.toThrow()
    const check = await security.reason('Going through packages')
    await check.thought('One new package.')
    await check.conclude('Nothing speaks against it.')
    await page.shows('Nothing speaks against it.')
    await page.click('button', 'Hide for all')
    await page.shows('from everyone')
    await isClear('stream')
    await page.key(']')
    await isClear('unfolded')
    await page.key('2')
    await page.shows('planner')
    await isClear('lanes')
    await page.key('3')
    await page.shows('p95')
    await isClear('trace')
    await page.evaluate(
      `for (const box of [...document.querySelectorAll('.question-line input')].slice(0, 2)) box.click()`,
    )
    await page.shows('Side by side')
    await isClear('comparison')
    await page.key('1')

    await page.click('.said', 'payment tests matter most')
    await page.key('Enter')
    await page.shows('reasoning.thought')
    await isClear('inspector')
    await page.click('.who', 'planner')
    await page.shows('Grant more')
    await isClear('person')
    await page.click('.seen label', 'Mute it at the gateway')
    await page.click('button', 'Hide the thoughts of security')
    await page.key('/')
    await page.type('input[name=query]', 'payment')
    await page.click('[data-sort=thoughts]')
    await page.shows('Hidden from you')
    await isClear('filtered')
    await page.click('.widen')
    await isClear('found')
    await page.click('.find header button')

    void run.call('deploy/release', { version: '1.4.2' }, { why: 'everything is checked' }).catch(() => {})
    await page.shows('Approve')
    await isClear('card')
    await page.click('.inbox-button')
    await page.shows('what led to it')
    await isClear('inbox')
    await page.click('button', 'why?')
    await isClear('why')
    await page.key('Escape')
    await page.key('Escape')
    await page.key('p')
    await page.key('n')
    await page.shows('Back')
    await isClear('rejecting')
    await page.click('button', 'Back')
    await page.click('button', 'Settings')
    await page.shows('Use single letters as keys')
    await isClear('settings')
    await page.click('.settings-dialog button', 'All keys')
    await page.shows('next, previous line')
    await isClear('help')
    await page.click('.help button', 'Close')
    await page.key('k', { isCtrl: true })
    await page.shows('what waits for a decision')
    await isClear('palette')
    await page.evaluate(`document.querySelector('.palette').close()`)
    await gateway.stop()
    await page.shows('reconnecting')
    await isClear('away')
    await page.resize(390, 844)
    await page.click('.menu-button')
    expect.soft(await barriers(page), 'menu').toEqual([])
  }, /status of 401/),
)

/** Roles of controls, and of parts that a screen reader lists. */
const named =
  /^(button|link|textbox|searchbox|combobox|ComboBoxSelect|checkbox|radio|slider|spinbutton|tab|option|menuitem|meter|DisclosureTriangle|article|dialog|navigation|complementary|region|form|treegrid|table|listbox|tablist|image|img)$/

/** Code in the page that finds neighbours in the wrong order: the one that is read later is above or left of the other. */
const outOfOrder = `(() => {
  const isPlaced = (each) => !['absolute', 'fixed', 'sticky'].includes(getComputedStyle(each).position)
  const found = []
  for (const parent of document.querySelectorAll('body *')) {
    if (!/flex|grid/.test(getComputedStyle(parent).display) || parent.closest('[inert], button') !== null) continue
    const children = [...parent.children].filter((each) => each.getClientRects().length > 0 && isPlaced(each))
    for (const [at, each] of children.entries()) {
      const before = children[at - 1]?.getBoundingClientRect()
      if (before === undefined) continue
      const { top, bottom, left, right } = each.getBoundingClientRect()
      const isAbove = bottom <= before.top + 1
      const isLeft = right <= before.left + 1 && top < before.bottom - 1 && bottom > before.top + 1
      if (isAbove || isLeft) found.push(parent.className + ': ' + each.className + ' before ' + children[at - 1].className)
    }
  }
  return [...new Set(found)]
})()`

test(
  'each control and part has a name, and is read in visual order',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    const isClear = async (state: string): Promise<void> => {
      const nodes = await page.readAccessibility()
      const nameless = nodes.filter(({ role, name }) => named.test(role) && !/[\p{L}\p{N}]/u.test(name))
      expect.soft(nameless, state).toEqual([])
      for (const width of [1280, 390]) {
        await page.resize(width, 800)
        expect.soft(await page.evaluate(outOfOrder), `${state} at ${width}`).toEqual([])
      }
      await page.resize(1280, 800)
    }
    const { planner } = await crew(gateway)
    await enter()
    await planner.chat('Can **1.4.2** go out?', { format: 'markdown' })
    const run = await planner.reason('Looking at what 1.4.2 changes')
    await run.thought('The payment tests matter most.')
    await run.call('repo/read_diff', { from: '1.4.1' }, { why: 'to see what goes out' })
    void run.call('deploy/release', { version: '1.4.2' }, { why: 'all is checked' }).catch(() => undefined)
    await page.shows('Approve')
    await page.key(']')
    await isClear('conversation')
    await page.click('.call-line')
    await page.shows('Arguments')
    await isClear('call')
    await page.click('.inbox-button')
    await page.shows('what led to it')
    await isClear('inbox')
    expect(await page.evaluate('document.activeElement.className')).toBe('entry')
    await page.click('button', 'Always allow')
    await page.shows('Approve this, and let')
    await isClear('approval')
    await page.key('Escape')
    await page.click('button', 'Settings')
    await page.shows('Use single letters as keys')
    await isClear('settings')
    await page.evaluate(`document.querySelector('.settings-dialog').close()`)
    await page.key('k', { isCtrl: true })
    await page.shows('what waits for a decision')
    await isClear('palette')
  }),
)

test(
  'who does not see the page is told what begins and ends, politely, never what is thought, and seldom',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await enter()
    await page.evaluate(`globalThis.told = []; globalThis.since = performance.now()
      new MutationObserver(() => told.push(document.querySelector('.unseen[aria-live=polite]').textContent))
        .observe(document.querySelector('.unseen[aria-live=polite]'), { childList: true, characterData: true, subtree: true })`)
    const received = () => page.evaluate<string[]>('told')
    for (let round = 0; (await received()).length < 3; round++) {
      await using run = await planner.reason(`Round ${round}`)
      await run.thought('a secret thought')
      await run.conclude(`Round ${round} is over`)
    }
    const [texts, elapsed] = await page.evaluate<[string[], number]>('[told, performance.now() - since]')
    expect(texts.length, texts.join('\n')).toBeLessThanOrEqual(elapsed / 2000 + 1)
    expect(texts.join()).toMatch(
      /planner begins to think[\s\S]*planner concludes: Round \d+ is over[\s\S]*and \d+ more/,
    )
    expect(texts.join()).not.toContain('secret')
    expect(
      await page.evaluate(`document.querySelectorAll('[role=feed][aria-live], [role=log]').length`),
    ).toBe(0)
  }),
)
