import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { crew, onPage } from '../support/page.js'

const timeout = 90_000

/** Makes the page count as hidden, and collects its notifications. */
const hide = (page: DrivenPage): Promise<void> =>
  page.prepare(`globalThis.notified = []
    globalThis.Notification = class {
      static permission = 'granted'
      constructor(title, { body }) { notified.push({ title, body, press: () => this.onclick() }) }
    }
    Object.defineProperty(document, 'hidden', { get: () => true })`)

const notified = (page: DrivenPage): Promise<string[]> =>
  page.evaluate(`notified.map(({ title, body }) => title + '\\n' + body)`)

test(
  'what waits for a decision notifies a reader whose page is hidden, and one click leads to it',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await hide(page)
    await enter()
    const propose = (name: string, args: object) =>
      planner.propose({
        to: 'deploy',
        method: 'tools/call',
        params: { name, arguments: args },
        rationale: 'it is time',
      })
    await propose('release', { version: '1.4.2' })
    await expect.poll(() => notified(page)).toHaveLength(1)
    expect((await notified(page))[0]).toMatch(/^demo: 1 to decide\nplanner proposes release\. \S/)
    await propose('delete_file', { path: 'notes.md' })
    await expect.poll(() => notified(page)).toHaveLength(2)
    expect((await notified(page))[1]).toMatch(
      /^demo: 2 to decide\nplanner proposes delete_file\. Destructive: /,
    )
    // A click on a notification opens the proposal that it is about, even if there is an older one.
    await page.evaluate('notified[0].press()')
    const shown = `document.querySelector('.review .card')?.getAttribute('aria-label')`
    await expect.poll(() => page.evaluate(shown)).toBe('planner proposes release')
    await page.evaluate('notified[1].press()')
    await expect.poll(() => page.evaluate(shown)).toBe('planner proposes delete_file')
  }),
)

test(
  'failures, answers and mentions notify a reader whose page is hidden, each unless it is switched off',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner, security } = await crew(gateway)
    const ana = await gateway.enter('ana')
    const question = await ana.chat('Is it ready?')
    await hide(page)
    await enter()
    await page.shows('Is it ready?')
    await planner.chat('Not yet.', { correlationId: question.id })
    await expect.poll(() => notified(page)).toEqual(['planner answers\nNot yet.'])
    await security.chat('@ana: may I look?', { mention: ['ana'] })
    await expect.poll(() => notified(page)).toHaveLength(2)
    const payload = { message: 'The model cannot be reached.', noAnswer: 'failed' }
    const failed = await planner.send({ kind: 'chat', correlationId: question.id, payload })
    await expect.poll(() => notified(page)).toHaveLength(3)
    expect((await notified(page)).slice(1)).toEqual([
      'security asks you in demo\n@ana: may I look?',
      'planner failed in demo\nThe model cannot be reached.',
    ])
    await page.shows('no answer: failed')
    await page.evaluate('notified[2].press()')
    const current = `document.querySelector('.row[aria-current=true]')?.dataset.key`
    await expect.poll(() => page.evaluate(current)).toBe(failed.id)

    await page.evaluate(`localStorage.setItem('meup-notify-failure', 'off')`)
    await planner.send({ kind: 'chat', correlationId: question.id, payload })
    await security.chat('@ana: and now?', { mention: ['ana'] })
    await expect.poll(() => notified(page)).toHaveLength(4)
    expect((await notified(page))[3]).toContain('and now?')
  }),
)

test(
  'a run whose program ended notifies as a failure of its agent',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    await hide(page)
    await enter()
    const run = await planner.reason('Planning at length')
    await run.thought('the first idea')
    await page.shows('the first idea')
    await planner.close()
    const ana = await gateway.enter('ana')
    await ana.send({
      kind: 'reasoning.cancel',
      context: run.context,
      payload: { reason: 'no longer needed' },
    })
    await expect.poll(() => notified(page)).toHaveLength(1)
    expect((await notified(page))[0]).toMatch(/^planner failed in demo\n\S/)
  }),
)
