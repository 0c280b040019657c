import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { crew, enterAs, openPageGateway, pictures } from '../support/page.js'

test(
  'who may do what is seen, given and taken back on the page',
  { timeout: 60_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const planner = await gateway.enter('planner')
    const request = { kind: 'mcp.request', to: ['deploy'], payload: { method: 'tools/list' } }
    await planner.send({ kind: 'participant.status', payload: { tokens: 300, maxTokens: 1200 } })
    const [ana, eve] = [await drivePage(chromium), await drivePage(chromium)]
    await enterAs(ana, gateway.url, 'ana')
    await enterAs(eve, gateway.url, 'eve')
    const bar = `(({ value, title, offsetHeight }) => [value, title, offsetHeight])(document.querySelector('meter.context'))`
    await ana.shows('planner')
    await expect.poll(() => ana.evaluate(bar)).toEqual([25, 'Its context is 25 % full', 3])
    const color = `getComputedStyle(document.querySelector('meter.context')).getPropertyValue('--meter').trim()`
    const calm = await ana.evaluate(color)
    await planner.send({ kind: 'participant.status', payload: { tokens: 1000, maxTokens: 1200 } })
    await expect.poll(() => ana.evaluate(bar)).toEqual([83, 'Its context is 83 % full', 3])
    expect(await ana.evaluate(color)).not.toBe(calm)

    await ana.click('.who', 'planner')
    await ana.shows(/configured[\s\S]*make requests \(such as calls of tools\) to repo/)
    await ana.shows(/maxTokens\s+1,200/)
    const give = async (capabilities: string) => {
      await ana.evaluate(`document.querySelector('.grant textarea').select()`)
      await ana.type('.grant textarea', capabilities)
      await ana.click('.grant button', 'Grant')
    }
    await give('space.kick')
    await ana.shows(/grant_exceeds_own\s+\/payload\/capabilities\/0[\s\S]*grant only what your own/)
    await give('{"kind":')
    await ana.shows('line 1 is neither a kind nor JSON')
    await give('{"kind":"mcp.request","to":"re:("}')
    await ana.shows(/invalid_payload\s+\/payload\/capabilities\/0\/to\s+is not a regular expression/)
    await ana.screenshot(pictures('people-refused'))
    expect(planner.can(request)).toBe(false)
    await ana.type('.grant input', 'for the release')
    await give('{"kind":"mcp.request","to":"deploy"}')
    await ana.shows(
      /granted by ana[\s\S]*make requests \(such as calls of tools\) to deploy[\s\S]*for the release/,
    )
    await expect.poll(() => planner.can(request)).toBe(true)
    await ana.hides('invalid_payload')
    await ana.screenshot(pictures('people-granted'))

    await eve.click('.who', 'planner')
    await eve.shows(/granted by ana[\s\S]*for the release/)
    await eve.shows('You may grant planner nothing')
    await eve.hides('Revoke')

    await ana.click('button', 'Revoke from planner')
    await expect.poll(() => planner.can(request)).toBe(false)
    await ana.hides('granted by ana')
    await eve.hides('granted by ana')
    for (const _ of ['out of the field', 'out of the panel']) await ana.key('Escape')
    await ana.hides('May do')
    for (const page of [ana, eve]) expect(page.problems).toEqual([])
  }),
)

test(
  'who is paused or kicked, and whose program fails, is seen in the list and beside it, as it changes',
  withChromium(async (chromium) => {
    const more = { boss: ['*', 'observe.targeted'] }
    const gateway = await openPageGateway({ more })
    const boss = await gateway.enter('boss')
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'boss')
    const marks = (): Promise<unknown> =>
      page.evaluate(
        `Object.fromEntries([...document.querySelectorAll('.people li')].flatMap((line) => {
          const text = line.querySelector('.presence').getAttribute('aria-label')
          return ['here', 'away'].includes(text) ? [] : [[line.querySelector('.who').textContent, text]]
        }))`,
      )
    await expect.poll(marks).toEqual({})
    gateway.setProgram('repo', { state: 'restarting', count: 4 })
    gateway.setProgram('deploy', { state: 'resting', count: 10 })
    await boss.pause(['planner'], { reason: 'lunch' })
    await boss.kick('eve', { reason: 'spam' })
    await expect.poll(marks).toEqual({
      planner: 'paused by boss · away',
      eve: 'kicked by boss',
      repo: 'restarting (4×)',
      deploy: 'resting after 10 failures: meup restart deploy',
    })
    await page.screenshot(pictures('people-states'))
    await page.click('.who', 'deploy')
    await page.shows(/state\s+✗ resting after 10 failures: meup restart deploy/)
    await page.click('.who', 'eve')
    await page.shows(/kicked by boss: spam/)
    gateway.setProgram('repo', { state: 'running' })
    gateway.setProgram('deploy', undefined)
    await boss.pause(['planner'], { timeoutSeconds: 1 })
    await boss.invite('eve', [])
    await expect.poll(marks).toEqual({})
    expect(page.problems).toEqual([])
  }),
)

test(
  'what is misspelt in a capability is warned of while it is written, before anything is granted',
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const ana = await drivePage(chromium)
    await enterAs(ana, gateway.url, 'ana')
    await ana.click('.who', 'planner')
    await ana.shows('Grant more')
    await ana.type('.grant textarea', 'chatt')
    await ana.shows('⚠ "chatt" is not a kind of MEUP; did you mean "chat"?')
    await ana.evaluate(`document.querySelector('.grant textarea').select()`)
    await ana.type('.grant textarea', '{"tool":"deplyo/release"}')
    await ana.shows('⚠ "deplyo" is not a participant of this space; did you mean "deploy"?')
    await ana.hides('not a kind of MEUP')
    await ana.evaluate(`document.querySelector('.grant textarea').select()`)
    await ana.type('.grant textarea', '{"tool":"deploy/release"}')
    await ana.hides('⚠')
    expect(ana.problems).toEqual([])
  }),
)

test(
  'the details of a refusal say which capability is lacking, and lead to what is held',
  withChromium(async (chromium) => {
    const gateway = await openPageGateway({ more: { clerk: ['chat', { tool: 'repo/lint' }] } })
    const { planner } = await crew(gateway)
    await planner.tools(['*'])
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'clerk')
    const clerk = await gateway.enter('clerk')
    await expect(clerk.call('repo/read_diff', {})).rejects.toMatchObject({ code: 'capability_violation' })
    await page.shows(/mcp\.request read_diff denied/)
    await page.key('k')
    await page.key('Enter')
    await page.shows('clerk may not call read_diff of repo.')
    await page.shows('Its capabilities for mcp.request do not cover that: call lint of repo.')
    await page.shows('{"tool":"repo/read_diff"} would allow it.')
    await page.click('button', 'What clerk may do')
    await page.shows(/May do[\s\S]*configured[\s\S]*call lint of repo/)
    expect(page.problems).toEqual([])
  }),
)

test(
  'ten thousand participants do not make the page slow to use',
  { timeout: 120_000 },
  withChromium(async (chromium) => {
    const crowd = Array.from({ length: 9992 }, (_, at) => `worker-${at}-${'x'.repeat(40)}`)
    const gateway = await openPageGateway({ more: Object.fromEntries(crowd.map((id) => [id, ['chat']])) })
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    await page.shows('1 of 10,000')
    await page.shows('find them by name')
    expect(await page.evaluate(`document.querySelectorAll('.people li').length`)).toBeLessThanOrEqual(100)
    await page.type('.side [type=search]', 'worker-9991')
    await page.shows('worker-9991-x')
    await page.hides('worker-9990-x')
    await page.type('.addressee', 'worker-9991-')
    await expect
      .poll(() => page.evaluate(`document.querySelector('#addressees option').value`))
      .toBe(crowd[9991])
    await page.evaluate(`document.querySelector('.addressee').select()`)
    await page.type('.addressee', crowd[9991] ?? '')
    const worker = await gateway.enter(crowd[9991] ?? '')
    const heard = new Promise((resolve) =>
      worker.on('envelope', ({ kind, to }) => kind === 'chat' && resolve(to)),
    )
    await page.type('textarea', 'are you there?')
    await page.key('Enter')
    expect(await heard).toEqual([crowd[9991]])
    await page.screenshot(pictures('people-many'))
    expect(page.problems).toEqual([])
  }),
)

test(
  'the list says what each agent does now, and stops it; who was removed is not among them',
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const planner = await gateway.enter('planner')
    const repo = await gateway.enter('repo')
    let answer = (): void => {}
    repo.tool('read_file', {}, () => new Promise((resolve) => (answer = () => resolve('done'))))
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    const groups = `Object.fromEntries([...document.querySelectorAll('.people details')].map((group) =>
      [group.querySelector('summary').textContent, [...group.querySelectorAll('.name')].map((name) => name.textContent)]))`
    await expect
      .poll(() => page.evaluate(groups))
      .toMatchObject({ People: ['ana'], Tools: ['repo', 'admin', 'deploy'] })
    const run = await planner.reason('Looking')
    await page.shows(/thinks · \d+ s/)
    const called = run.call('repo/read_file', { path: 'src/pool.ts' }, { why: 'to see' }).catch(() => {})
    await page.shows(/read_file pool\.ts · \d+ s/)
    await page.screenshot(pictures('people-doing'))
    answer()
    await called
    await planner.propose({
      ...{ to: 'deploy', method: 'tools/call', params: { name: 'release' } },
      ...{ context: run.context, rationale: 'it is ready' },
    })
    await page.shows('waits for you')
    const stopped = new Promise((resolve) =>
      planner.on('envelope', ({ kind, context }) => kind === 'reasoning.cancel' && resolve(context)),
    )
    await page.click('.stop-all', 'Stop what planner does')
    expect(await stopped).toBe(run.context)
    const admin = await gateway.enter('admin')
    await admin.kick('eve')
    await expect.poll(() => page.evaluate(groups)).toMatchObject({ Removed: ['eve'] })
    const shown = (): Promise<string> => page.evaluate(`document.querySelector('.people').innerText`)
    await expect.poll(shown).not.toContain('eve')
    expect(page.problems).toEqual([])
  }),
)
