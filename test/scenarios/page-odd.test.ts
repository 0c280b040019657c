import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { enterAs, onPage, openPageGateway, pictures } from '../support/page.js'
import { proxy } from '../support/proxy.js'

const timeout = 120_000

test(
  'results of four megabytes and of bytes open in their place, and the page goes on',
  { timeout },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const repo = await gateway.enter('repo')
    const size = 4 * 1024 * 1024 - 8192
    const text = `it begins ${'x'.repeat(size - 40)} to its end`
    repo.tool('dump', {}, () => text)
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('base64')
    const resource = { uri: 'file:///a.bin', mimeType: 'application/octet-stream', blob: bytes }
    repo.tool('bytes', {}, () => ({ content: [{ type: 'resource', resource }] }))
    repo.tool('codes', {}, () => 'a\u001B[31mred\u001B[0m \u202Egnp.exe\u202C <b>bold</b> \u0007')
    await enter()
    const run = await planner.reason('Looking')
    for (const name of ['dump', 'bytes', 'codes'] as const)
      await run.call(`repo/${name}`, {}, { why: `to see ${name}` })
    await page.click('.call-line', 'dump')
    await page.shows('it begins')
    await page.hides('to its end')
    await page.click('button', 'Show all')
    await expect
      .poll(() => page.evaluate(`document.body.textContent.includes('to its end')`), { timeout: 30_000 })
      .toBe(true)
    await page.click('.call-line', 'dump')
    await page.click('.call-line', 'to see bytes')
    await page.shows('application/octet-stream, 256 B')
    await page.click('.call-line', 'codes')
    await page.shows('a[31mred[0m gnp.exe <b>bold</b>')
    await page.type('textarea', 'still here')
    await page.key('Enter')
    await page.shows('still here')
  }),
)

test(
  'two hundred agents at once have their names and lanes, and what is read stays where it is',
  { timeout },
  withChromium(async (chromium) => {
    const names = Array.from({ length: 200 }, (_, at) => `agent-${at}`)
    const more = Object.fromEntries(names.map((id) => [id, ['chat', 'reasoning.*']]))
    const gateway = await openPageGateway({ more })
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    const agents = await Promise.all(names.map((id) => gateway.enter(id)))
    await Promise.all(agents.map((agent) => agent.reason('Looking into it')))
    await page.shows('201 of 208')
    await page.key('2')
    await expect
      .poll(() => page.evaluate<number>(`document.querySelectorAll('.lane-names button').length`))
      .toBe(100)
    expect(await page.evaluate<number>(`document.querySelectorAll('.lane').length`)).toBeLessThan(10)
    await page.click('.lane-names button', 'agent-42')
    await expect
      .poll(() => page.evaluate<string>(`document.querySelector('.lane-names .seen')?.textContent ?? ''`))
      .toMatch(/agent-4\d/)
    await page.screenshot(pictures('many-lanes'))
    await page.key('1')
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 1000`)
    await page.shows('↓ live')
    const top = (): Promise<string> =>
      page.evaluate(`[...document.querySelectorAll('article')].find((row) =>
        row.getBoundingClientRect().top > 150).dataset.key`)
    const before = await top()
    await Promise.all(agents.map((agent) => agent.chat('done')))
    await page.shows('↓ 200 new')
    expect(await top()).toBe(before)
    expect(page.problems).toEqual([])
  }),
)

test(
  'a proxy that cuts every connection again and again loses nothing, and shows nothing twice',
  { timeout },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway()
    const planner = await gateway.enter('planner')
    await using line = await proxy(Number(new URL(gateway.url).port))
    const page = await drivePage(chromium)
    await enterAs(page, line.url, 'ana')
    for (let round = 0; round < 4; round++) {
      for (let at = 0; at < 5; at++) await planner.chat(`message ${round}-${at}.`)
      line.cut()
      await planner.chat(`meanwhile ${round}.`)
      await page.shows(`meanwhile ${round}.`)
      await page.shows('live')
    }
    const said = await page.evaluate<string[]>(
      `[...document.querySelectorAll('article .message-text')].map((each) => each.textContent)`,
    )
    const expected = [0, 1, 2, 3].flatMap((round) => [
      ...[0, 1, 2, 3, 4].map((at) => `message ${round}-${at}.`),
      `meanwhile ${round}.`,
    ])
    expect(said).toEqual(expected.slice(-said.length))
    expect(said.length).toBeGreaterThan(10)
    expect(page.problems.filter((problem) => !/ERR_|WebSocket/.test(problem))).toEqual([])
  }),
)
