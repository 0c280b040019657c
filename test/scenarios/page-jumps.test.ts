import { FakeClock, testToken } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { type DrivenPage, drivePage } from '../support/driven-page.js'
import { crew, enterAs, onPage, openPageGateway, pictures, sendMany } from '../support/page.js'
import { times } from '../support/soak.js'

const [messages, jumps] = [times(1000, 3000), times(50, 200)]
const words = 'words of a message that is as long as it happens to be and has **some** Markdown in it. '

/** Returns a number from 0 to 1 that depends only on the seed. */
const random = (seed: number): number => (Math.imul(seed + 1, 0x9e3779b1) >>> 0) / 2 ** 32

/** Sends messages of various lengths, as `m-0` and so on. */
const fill = (url: string): Promise<void> =>
  sendMany(
    url,
    'planner',
    Array.from({ length: messages }, (_, at) => ({
      id: `m-${at}`,
      kind: 'chat',
      payload: {
        message: `Message ${at}. ${words.repeat(Math.floor(random(at) ** 4 * 60))}`,
        format: 'markdown',
      },
    })),
  )

interface Landing {
  readonly id: string
  /** Pixels from the top of the view to the row; absent = the row is not drawn. */
  readonly top?: number
  readonly height: number
  /** Whether the row cannot be at another position, because the list begins or ends there. */
  readonly isAtEdge: boolean
}

/**
 * Code in the page that jumps to rows one after the other, and measures the position of each when it no longer moves. `go`:
 * JavaScript that jumps to `id` and `seq`.
 */
const jump = (targets: readonly (readonly [id: string, seq: number])[], go: string): string => `(async () => {
  const frames = async (count) => { while (count-- > 0) await new Promise((drawn) => requestAnimationFrame(drawn)) }
  const landings = []
  for (const [id, seq] of ${JSON.stringify(targets)}) {
    ${go}
    let [last, still] = [undefined, 0]
    for (let tries = 0; still < 3 && tries < 300; tries++) {
      await frames(1)
      const box = document.querySelector('.scroller').getBoundingClientRect()
      const row = document.querySelector('[data-key="' + id + '"]')
      const top = row === null ? undefined : row.getBoundingClientRect().top - box.top
      still = top !== undefined && top === last ? still + 1 : 0
      last = top
    }
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.scroller')
    const isAtEdge = scrollTop <= 1 || scrollTop + clientHeight >= scrollHeight - 1
    landings.push({ id, top: last, height: clientHeight, isAtEdge })
  }
  return landings
})()`

/** Lists the jumps after which the row is not a third of the way down, or not in view. */
const missed = (landings: readonly Landing[]): readonly Landing[] =>
  landings.filter(({ top, height, isAtEdge }) => {
    if (top === undefined || top < 0 || top > height - 40) return true
    return !isAtEdge && Math.abs(top - 0.3 * height) > 24
  })

async function openFilled(page: DrivenPage, url: string, enter: () => Promise<void>): Promise<number> {
  await fill(url)
  await enter()
  await page.shows(`Message ${messages - 1}.`)
  const first = await page.evaluate<number>(
    `fetch('/spaces/demo/envelopes?limit=1000', { headers: { authorization: 'Bearer ${testToken('ana')}' } })
      .then((response) => response.json())
      .then(({ envelopes }) => envelopes.find(({ id }) => id === 'm-0').seq)`,
  )
  await page.evaluate(`location.hash = '#/s/demo?e=${first}'`)
  await page.shows('Message 0.')
  return first
}

test(
  `${jumps} jumps to rows that were never drawn land a third of the way down`,
  { timeout: 180_000 },
  onPage(async ({ gateway, page, enter }) => {
    const first = await openFilled(page, gateway.url, enter)
    const targets = Array.from({ length: jumps }, (_, at) => {
      const index = Math.floor(random(at + messages) * messages)
      return [`m-${index}`, first + index] as const
    })
    const landings = await page.evaluate<Landing[]>(jump(targets, `location.hash = '#/s/demo?e=' + seq`))
    expect(landings).toHaveLength(jumps)
    expect(missed(landings)).toEqual([])
    await page.screenshot(pictures('jump'))
  }),
)

test(
  'hits are gone through up and down, and on a phone the list makes room for the row',
  { timeout: 120_000 },
  onPage(async ({ gateway, page, enter }) => {
    await openFilled(page, gateway.url, enter)
    await page.type('input[name=query]', 'Message 77')
    await page.shows('Message 770.')
    const count = await page.evaluate<number>(`document.querySelectorAll('.hits button').length`)
    expect(count).toBeGreaterThan(5)
    const order = [count - 1, 0, 3, 1, count - 2]
    const visible = `(() => {
      const box = document.querySelector('.scroller').getBoundingClientRect()
      const row = document.querySelector('.scroller [aria-current=true]')?.getBoundingClientRect()
      const foot = document.querySelector('.low .inspector') && innerWidth <= 800 ? innerHeight - 96 : box.bottom
      return row !== undefined && row.top >= box.top && row.top < foot - 40
    })()`
    for (const index of order) {
      await page.evaluate(`document.querySelectorAll('.hits button')[${index}].click()`)
      await page.shows(`hit ${index + 1} of ${count}`)
      await expect.poll(() => page.evaluate(visible)).toBe(true)
    }
    await page.resize(390, 844)
    await page.click('.steps button', 'The hit before')
    await page.shows(`hit ${count - 2} of ${count}`)
    await expect.poll(() => page.evaluate(visible)).toBe(true)
    expect(
      await page.evaluate(`document.querySelector('.inspector').getBoundingClientRect().height`),
    ).toBeLessThanOrEqual(96)
    await page.screenshot(pictures('jump-phone'))
    await page.click('button', 'List')
    await expect
      .poll(() => page.evaluate(`document.querySelector('.inspector').getBoundingClientRect().height`))
      .toBeGreaterThan(500)
  }),
)

test(
  'a link to a result opens the row of its call, and one to what has no row shows what is around it',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    for (let count = 0; count < 100; count++) await planner.chat(`before ${count}.`)
    const run = await planner.reason('Reading')
    await run.call('repo/read_diff', {}, { why: 'to know' })
    const eve = await gateway.enter('eve')
    await eve.close()
    for (let count = 0; count < 100; count++) await planner.chat(`after ${count}.`)
    await enter()
    await page.shows('after 99.')
    const seqs = await page.evaluate<Record<string, number>>(
      `fetch('/spaces/demo/envelopes?limit=1000', { headers: { authorization: 'Bearer ${testToken('ana')}' } })
        .then((response) => response.json())
        .then(({ envelopes }) => ({
          result: envelopes.find(({ kind }) => kind === 'mcp.response').seq,
          left: envelopes.find(({ kind, payload }) => kind === 'system.presence' && payload.participant.id === 'eve' && payload.event === 'leave').seq,
        }))`,
    )
    await page.evaluate(`location.hash = '#/s/demo?e=${seqs.result}'`)
    await page.shows('three files changed, 48 lines')
    await page.hides('after 99.')
    await page.key('.')
    await page.shows('after 99.')
    await page.evaluate(`location.hash = '#/s/demo?e=${seqs.left}'`)
    await page.shows('after 0.')
    await page.hides('after 99.')
  }),
)

test(
  'a hit far down in a long answer leads to the part of it that has the word',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const { planner } = await crew(gateway)
    const paragraphs = Array.from({ length: 300 }, (_, at) => `Paragraph ${at}. ${words.repeat(3)}`)
    paragraphs[250] = `Here is the needle. ${words.repeat(3)}`
    await planner.chat(paragraphs.join('\n\n'), { format: 'markdown' })
    for (let count = 0; count < 50; count++) await planner.chat(`after ${count}.`)
    await enter()
    await page.shows('after 49.')
    await page.type('input[name=query]', 'needle')
    await page.click('.hits button', 'needle')
    await page.shows('hit 1 of 1')
    const isSeen = `(() => {
      const box = document.querySelector('.scroller').getBoundingClientRect()
      const found = [...document.querySelectorAll('.scroller p')].find((each) => each.textContent.includes('needle'))
      const row = found?.closest('.row').getBoundingClientRect()
      return row !== undefined && row.top < box.bottom && row.bottom > box.top
    })()`
    await expect.poll(() => page.evaluate(isSeen)).toBe(true)
  }),
)

test(
  'a link to what is far back says what is loaded, and of when it is',
  { timeout: 90_000 },
  withChromium(async (chromium) => {
    const gateway = await openPageGateway({ clock: new FakeClock(Date.UTC(2026, 10, 23, 12)) })
    await fill(gateway.url)
    await sendMany(gateway.url, 'planner', [{ kind: 'chat', payload: { message: 'the last one' } }])
    const page = await drivePage(chromium)
    // The page gets earlier envelopes only when the test releases the request.
    await page.prepare(`globalThis.held = []
      const load = fetch
      globalThis.fetch = async (input, init) => {
        if (/order=desc/.test(String(input.url ?? input))) await new Promise((go) => held.push(go))
        return load(input, init)
      }`)
    await enterAs(page, gateway.url, 'ana')
    await page.shows('the last one')
    await expect.poll(() => page.evaluate('held.length')).toBe(1)
    await page.evaluate(`location.hash = '#/s/demo?e=1'`)
    await page.shows(/Loading back to #1 · 23 Nov( 2026)? \d\d:\d\d…/)
    await page.screenshot(pictures('loading-back'))
    await page.evaluate('held.splice(0).forEach((go) => go())')
    await page.hides('Loading back')
    await page.shows('the space was opened')
    expect(page.problems).toEqual([])
  }),
)
