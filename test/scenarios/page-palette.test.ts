import { expect, test } from 'vitest'
import { crew, onPage, pictures } from '../support/page.js'

const timeout = 90_000
const field = `document.querySelector('.message-box textarea')`

test(
  'Ctrl+K goes to a participant, a run, a question, a view or a command by a few letters',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const ana = await gateway.enter('ana')
    await ana.chat('Where are the **release** notes?')
    const run = await planner.reason('Looking for them')
    await enter()
    await page.shows('Looking for them')
    const go = async (letters: string): Promise<void> => {
      await page.key('k', { isCtrl: true })
      await expect.poll(() => page.evaluate(`document.activeElement.closest('.palette') !== null`)).toBe(true)
      await page.type('.palette input', letters)
      await page.key('Enter')
      await expect.poll(() => page.evaluate(`document.querySelector('.palette')`)).toBeNull()
    }
    await go('security')
    await page.shows('Ask security for its tools')
    await go('trace')
    await expect.poll(() => page.evaluate('location.hash')).toContain('view=trace')
    await go('stream')
    await go('release notes')
    await page.shows(/#\d+ chat/)
    await go('run planner')
    await page.shows(/#\d+ reasoning.start/)
    await page.type('.message-box textarea', 'half a thought')
    await page.key('k', { isCtrl: true })
    await page.shows('what waits for a decision')
    const isInView = `(() => {
      const { x, y } = document.querySelector('.palette [role=option]').getBoundingClientRect()
      return document.elementFromPoint(x + 20, y + 10)?.closest('[role=option]') !== null
    })()`
    await expect.poll(() => page.evaluate(isInView)).toBe(true)
    await page.screenshot(pictures('palette'))
    await page.type('.palette input', '/pause')
    await page.key('Enter')
    await expect.poll(() => page.evaluate(`${field}.value`)).toBe('/pause ')
    expect(await page.evaluate(`document.activeElement === ${field}`)).toBe(true)
    await run.conclude('done')
  }),
)

test(
  'the last message comes back in an empty box, and is taken back where nobody has answered it',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const cancelled: unknown[] = []
    planner.on(
      'envelope',
      ({ kind, correlationId }) => kind === 'chat.cancel' && cancelled.push(correlationId),
    )
    const asked = new Promise<{ id: string }>((resolve) =>
      planner.on('envelope', (each) => each.kind === 'chat' && each.from === 'ana' && resolve(each)),
    )
    await enter()
    await page.type('.message-box textarea', 'Is it raedy?')
    await page.key('Enter')
    const { id } = await asked
    await page.shows('Is it raedy?')
    await expect.poll(() => page.evaluate(`document.querySelectorAll('.outgoing').length`)).toBe(0)
    await page.evaluate(`${field}.focus()`)
    await page.key('ArrowUp')
    await expect.poll(() => page.evaluate(`${field}.value`)).toBe('Is it raedy?')
    await expect.poll(() => cancelled).toEqual([id])
    await page.shows('taken back')

    await page.evaluate(`${field}.select()`)
    await page.type('.message-box textarea', 'Is it ready?')
    const again = new Promise<{ id: string }>((resolve) =>
      planner.on('envelope', (each) => each.kind === 'chat' && each.from === 'ana' && resolve(each)),
    )
    await page.key('Enter')
    await planner.chat('It is.', { correlationId: (await again).id })
    await page.shows('It is.')
    await page.evaluate(`${field}.focus()`)
    await page.key('ArrowUp')
    await expect.poll(() => page.evaluate(`${field}.value`)).toBe('Is it ready?')
    await planner.chat('something else')
    await page.shows('something else')
    expect(cancelled).toHaveLength(1)
  }),
)

test(
  'settings are of this browser: theme, density, time, keys, what Enter does',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('good morning')
    await enter()
    await page.shows('good morning')
    const time = `document.querySelector('.stream .time').textContent`
    expect(await page.evaluate(time)).toMatch(/^\d\d:\d\d$/)
    await page.click('button', 'Settings')
    for (const [name, value] of [
      ['theme', 'dark'],
      ['density', 'compact'],
      ['clock', 'h12'],
    ] as const)
      await page.choose(`select[name=${name}]`, value)
    await page.click('.settings-dialog label', 'Enter sends')
    await page.click('.settings-dialog label', 'Use single letters')
    const edges = `new Set([...document.querySelectorAll('.settings-dialog label:has(select)')].map((each) =>
      Math.round(each.lastElementChild.getBoundingClientRect().right))).size`
    expect(await page.evaluate(edges)).toBe(1)
    await page.screenshot(pictures('settings'))
    await page.click('.settings-dialog button', 'Close')
    await expect.poll(() => page.evaluate(time)).toMatch(/[AP]M$/)
    const root = `(({ theme, density }) => [theme, density])(document.documentElement.dataset)`
    expect(await page.evaluate(root)).toEqual(['dark', 'compact'])
    await page.reload()
    await page.shows('good morning')
    await expect.poll(() => page.evaluate(time)).toMatch(/[AP]M$/)
    expect(await page.evaluate(root)).toEqual(['dark', 'compact'])
    await page.evaluate('document.activeElement.blur()')
    await page.key('3')
    expect(await page.evaluate('location.hash')).not.toContain('trace')
    await page.type('.message-box textarea', 'one line')
    await page.key('Enter')
    expect(await page.evaluate(`${field}.value`)).toMatch(/^one line\n?$/)
    await page.key('Enter', { isCtrl: true })
    await expect.poll(() => page.evaluate(`${field}.value`)).toBe('')
  }),
)

test(
  'a reply answers one message, asks its author, and stands with its question',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const heard: unknown[] = []
    planner.on('envelope', ({ kind, from, correlationId, payload }) => {
      if (kind === 'chat' && from === 'ana') heard.push([correlationId, payload])
    })
    await enter()
    const said = await planner.chat('It can go out.')
    await page.shows('It can go out.')
    await page.click('.said-aloud .toolbar button', 'reply')
    expect(await page.evaluate(`document.activeElement === ${field}`)).toBe(true)
    expect(await page.evaluate(`document.querySelector('.replied').innerText`)).toMatch(
      /planner\s*It can go out\./,
    )
    await page.type('.message-box textarea', 'Today?')
    await page.screenshot(pictures('reply'))
    await page.key('Enter')
    await expect.poll(() => heard).toEqual([[said.id, { message: 'Today?', mentions: ['planner'] }]])
    await expect.poll(() => page.evaluate(`document.querySelector('.replied')`)).toBeNull()

    // Escape cancels a reply. Rarely used actions, such as to show the envelope of a message, are in the menu `More`.
    await page.click('.said-aloud .toolbar button', 'reply')
    await page.key('Escape')
    await expect.poll(() => page.evaluate(`document.querySelector('.replied')`)).toBeNull()
    await page.click('.said-aloud .toolbar button', 'More')
    await page.click('.toolbar .menu button', 'Envelope')
    await page.shows(`#${said.seq} chat`)
  }),
)

test(
  'an answer leads to its run, which can be muted there',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const ana = await gateway.enter('ana')
    const question = await ana.chat('Is it ready?')
    const run = await planner.send({
      ...{ kind: 'reasoning.start', correlationId: question.id, payload: { message: 'Looking' } },
    })
    await planner.send({
      ...{ kind: 'reasoning.thought', context: run.id, payload: { message: 'a thought of the run' } },
    })
    await planner.chat('It is.', { correlationId: question.id })
    await enter()
    await page.shows('a thought of the run')
    await page.click('.said-aloud:has(.why-button) .toolbar button', 'More')
    await page.click('.toolbar .menu button', 'Mute its run')
    await page.shows('muted by you, at the gateway')
  }),
)

test(
  'a tool is tried with a form of what it takes, and its last calls are listed',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const deploy = await gateway.enter('deploy')
    const calls: unknown[] = []
    deploy.tool(
      'release',
      {
        description: 'Releases a version.',
        input: {
          type: 'object',
          properties: { version: { type: 'string', title: 'Version' }, dry: { type: 'boolean' } },
          required: ['version'],
        },
      },
      (args) => {
        calls.push(args)
        return 'released'
      },
    )
    deploy.tool('delete_all', {}, () => 'gone')
    await enter()
    await page.click('.who', 'deploy')
    await page.click('button', 'Ask deploy for its tools')
    await page.click('.tools summary', 'release')
    await page.shows('Releases a version.')
    await page.click('.try button', 'Try')
    await page.shows('Version is needed')
    await page.type('.try input:not([type=checkbox])', '1.4.2')
    await page.click('.try button', 'Try')
    await expect.poll(() => calls).toEqual([{ version: '1.4.2', dry: false }])
    const listed = `document.querySelector('.last-calls')?.innerText`
    await expect
      .poll(() => page.evaluate(listed))
      .toMatch(/ana\s+release\s+version 1\.4\.2, dry false\s+[\d.]+ m?s/)
    await page.screenshot(pictures('tools-try'))
    await page.click('.tools summary', 'delete_all')
    await page.click('.try[aria-label="Try delete_all"] button', 'Try')
    await page.shows('The name of the tool says that it may delete.')
    expect(await page.evaluate(listed)).not.toContain('delete_all')
    await page.click('.try button', 'Try it anyway')
    await expect.poll(() => page.evaluate(`[...document.querySelectorAll('.last-calls')].length`)).toBe(2)
  }),
)

test(
  'a part whose code comes after it was asked for, and before it is waited for, is drawn',
  { timeout },
  onPage(async ({ page, enter }) => {
    await page.prepare(`globalThis.idle = []
      globalThis.held = []
      globalThis.requestIdleCallback = (go) => idle.push(go)
      for (const name of ['requestAnimationFrame', 'setTimeout']) {
        const usual = globalThis[name]
        globalThis[name] = (go, ...more) => globalThis.isHeld ? held.push(go) : usual(go, ...more)
      }`)
    await enter()
    await expect.poll(() => page.evaluate('idle.length')).toBe(1)
    // From now on animation frames are held, as in a slow browser: the palette is drawn, but the effect that loads its code
    // does not run yet.
    await page.evaluate('globalThis.isHeld = true')
    await page.key('k', { isCtrl: true })
    await page.evaluate('idle[0]()')
    const loaded = `performance.getEntriesByType('resource').map(({ name }) => name).join()`
    // The code of the settings is loaded after that of the palette.
    await expect.poll(() => page.evaluate(loaded)).toContain('settings-dialog')
    await page.evaluate(`{ isHeld = false; held.splice(0).forEach((go) => go()) }`)
    await page.shows('what waits for a decision')
  }),
)
