import { expect, test } from 'vitest'
import type { DrivenPage } from '../support/driven-page.js'
import { enterAs, onPage, type openPageGateway, pictures } from '../support/page.js'

/** Changes the text of one envelope in the log, as an attacker with access to the file could. */
function tamper(gateway: Awaited<ReturnType<typeof openPageGateway>>, seq: number): void {
  const row = gateway.spaces.get('demo')?.rows[seq - 1]
  if (row === undefined) throw new Error(`there is no envelope ${seq}`)
  const body = Buffer.from(row.body).toString().replace('message 23.', 'message E3.')
  Object.assign(row, { body: Buffer.from(body) })
}

const hashOf = (gateway: Awaited<ReturnType<typeof openPageGateway>>, seq: number): string =>
  Buffer.from(gateway.spaces.get('demo')?.rows[seq - 1]?.hash ?? []).toString('hex')

const badge = (page: DrivenPage): Promise<string> =>
  page.evaluate(`document.querySelector('button.audit')?.textContent ?? ''`)
const says = async (page: DrivenPage, text: string): Promise<void> =>
  void (await expect.poll(() => badge(page), { timeout: 20_000 }).toBe(text))

test(
  'the page computes the chain of the log, goes on with it, and names the first envelope that was changed',
  { timeout: 90_000 },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    const sent = []
    for (let count = 0; count < 30; count++) sent.push(await planner.chat(`message ${count}.`))
    await enter()
    const head = (): number => gateway.spaces.get('demo')?.rows.length ?? 0
    const earned = (): string => `audit ✓ #${hashOf(gateway, head()).slice(0, 4)}`
    await says(page, earned())
    await planner.chat('one more')
    await says(page, earned())

    await page.click('.said', 'message 23.')
    await page.key('Enter')
    await page.shows('✓ checked here')
    const seq = sent[23]?.seq ?? 0
    for (const each of [seq - 1, seq, seq + 1]) await page.shows(hashOf(gateway, each))
    await page.click('button.audit')
    await page.shows(`${head()}:${hashOf(gateway, head())}`)
    await page.screenshot(pictures('audit-whole'))

    tamper(gateway, seq)
    await page.click('button', 'Check again')
    await page.shows('it is not what was shown here')
    expect(await badge(page)).toBe(`audit ✗ wrong from #${seq}`)
    await page.reload()
    await page.shows('message 29.')
    await says(page, `audit ✗ wrong from #${seq}`)
    await page.click('button.audit')
    await page.shows('it does not have the hash that was chained')
    await page.screenshot(pictures('audit-broken'))
  }),
)

test(
  'whoever may not read everything is told what was checked, and what was not read',
  { timeout: 90_000 },
  onPage(async ({ gateway, page }) => {
    const planner = await gateway.enter('planner')
    await planner.chat('for all')
    await planner.chat('for security alone', { to: ['security'] })
    const run = await planner.reason('Reading')
    await enterAs(page, gateway.url, 'eve')
    await run.conclude('read')
    await page.shows('read')
    await page.hides('for security alone')
    await expect.poll(() => badge(page), { timeout: 20_000 }).toMatch(/^audit ✓ #[0-9a-f]{4}$/)
    await page.click('button.audit')
    await page.shows('1 you may not read')
  }),
)

test(
  'what is missing in the log is no tick',
  { timeout: 90_000 },
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    for (let count = 0; count < 10; count++) await planner.chat(`message ${count}.`)
    const { rows } = gateway.spaces.get('demo') ?? { rows: [] }
    const row = rows[6]
    // Makes a gap in the log. The gateway notices it, and aborts the export there.
    rows.splice(6, 1, { ...row, seq: 99 })
    await enter()
    await says(page, 'audit ✗ wrong from #7')
  }, /ERR_INCOMPLETE_CHUNKED_ENCODING/),
)
