import { setTimeout as pause } from 'node:timers/promises'
import type { SpaceClient } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { withChromium } from '../support/chromium.js'
import { drivePage } from '../support/driven-page.js'
import { enterAs, openPageGateway } from '../support/page.js'
import { times } from '../support/soak.js'
import { scrollback, terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

const [perSecond, seconds, perPortion] = [200, times(4, 8), 10]
const total = perSecond * seconds
/** Milliseconds from a key to its frame that a user does not notice. */
const unfeltMs = 100

const sentence = (at: number): string => `Thought ${at} weighs the next of the plans.`

const middleOf = (delays: readonly number[]): number =>
  delays.toSorted((one, other) => one - other)[Math.floor(delays.length / 2)] ?? Number.POSITIVE_INFINITY

/** Sends many sentences in one run: `perSecond`, in portions, to keep up on a busy machine. Returns the number of sentences. */
async function think(agent: SpaceClient, isOver: () => boolean): Promise<number> {
  const run = await agent.reason('weighing plans')
  const begin = performance.now()
  const sent: Promise<unknown>[] = []
  while (sent.length < total || !isOver()) {
    for (let count = 0; count < perPortion; count++) sent.push(run.thought(sentence(sent.length + 1)))
    await pause(Math.max(0, begin + (sent.length / perSecond) * 1000 - performance.now()))
  }
  await Promise.all(sent)
  await run.conclude('weighed')
  return sent.length
}

test(
  'an agent thinks 200 sentences a second: the page drops none, and typing is not felt',
  { timeout: 120_000 },
  withChromium(async (chromium) => {
    const rate = { perSecond: 10_000, burst: 10_000 }
    const limits = { rates: { reasoning: rate, log: { perSecond: 10_000_000, burst: 10_000_000 } } }
    const gateway = await openPageGateway({ limits })
    const page = await drivePage(chromium)
    await enterAs(page, gateway.url, 'ana')
    let isTyped = false
    const thinking = think(await gateway.enter('planner'), () => isTyped)
    await page.evaluate(`(() => {
      globalThis.delays = []
      document.addEventListener('input', ({ timeStamp }) =>
        requestAnimationFrame(() => setTimeout(() => delays.push(performance.now() - timeStamp))), true)
    })()`)
    await page.shows(/Thought \d+ weighs|\d+ thoughts/)
    const text = 'please stop, and tell me which plan is best'
    for (const key of text) {
      await page.type('textarea', key)
      await pause(80)
    }
    isTyped = true
    const count = await thinking
    const delays = await page.evaluate<number[]>('delays')
    expect(delays).toHaveLength(text.length)
    expect(middleOf(delays), `${delays.map(Math.round)}`).toBeLessThan(unfeltMs)
    expect(await page.evaluate(`document.querySelector('textarea').value`)).toBe(text)
    await page.shows(`${count.toLocaleString('en')} thoughts`)
    expect(page.problems).toEqual([])
  }),
)

test(
  'an agent thinks 200 sentences a second: the terminal drops none, and typing is not felt',
  inTmux(async () => {
    const { seats, open } = await terminalSpace(['planner'])
    const pane = open()
    await pane.sees('ana is here')
    let isTyped = false
    const thinking = think(seats.planner, () => isTyped)
    await pane.sees(sentence(1))
    const delays: number[] = []
    let typed = ''
    for (const word of ['please', 'stop,', 'and', 'tell', 'me', 'which', 'plan', 'is', 'best']) {
      typed += `${word} `
      const begin = performance.now()
      pane.type(`${word} `)
      await pane.shows((screen) => expect(screen).toContain(`> ${typed.trim()}`))
      delays.push(performance.now() - begin)
    }
    isTyped = true
    const count = await thinking
    expect(middleOf(delays), `${delays.map(Math.round)}`).toBeLessThan(unfeltMs)
    await pane.sees('weighed')
    const shown = scrollback(pane.all()).flatMap((line) => /Thought (\d+) weighs/.exec(line)?.[1] ?? [])
    expect(shown).toEqual(Array.from({ length: count }, (_, at) => `${at + 1}`))
  }),
  120_000,
)
