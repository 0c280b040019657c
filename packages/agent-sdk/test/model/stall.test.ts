import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { delta, events, type ModelReply, saying, serveModel } from '../../../../test/support/model-server.js'
import { eventually } from '../support/eventually.js'
import { listStory, stage } from './stage.js'

const silent = (body: string): ModelReply => ({ body, end: 'open' })

describe('a model that says nothing more', () => {
  test.each<[name: string, reply: ModelReply]>([
    ['from the beginning', silent('')],
    ['but comments', silent(': ping\n\n: ping\n\n')],
    ['after some thoughts', silent(events(delta({ reasoning_content: 'Hm. ' })))],
    ['after some words', silent(events(delta({ content: 'It is' })))],
  ])('%s: the run says so, then it is given up', async (_, reply) => {
    const clock = new FakeClock()
    const { baseURL, requests } = await serveModel([reply, saying('Here again.')])
    await using here = await stage([], { model: 'm', baseURL, clock })
    const answer = here.ask()
    await eventually(() => expect(requests).toHaveLength(1))
    const title = `m at ${baseURL}`
    await here.heard.until(({ kind }) => kind === 'reasoning.start')
    clock.advance(59_000)
    expect(JSON.stringify(here.heard.all)).not.toContain('No word')
    // The client measures the silence from its last read of the stream, possibly after the advance above. So the clock advances
    // in steps until the notice is there.
    while (!JSON.stringify(here.heard.all).includes('No word')) {
      clock.advance(1000)
      await new Promise(setImmediate)
    }
    expect(listStory(here.heard).at(-1)).toBe(`reasoning.thought: No word from ${title} for 60 s.`)
    clock.advance(120_000)
    expect(await answer).toBe(`I could not answer: ${title} said nothing for 120 s. Ask again later.`)
    expect(await here.ask()).toBe('Here again.')
  })

  test('is given up after the time of its limits', async () => {
    const { baseURL } = await serveModel([silent('')])
    await using here = await stage([], { model: 'm', baseURL, limits: { stallMs: 100 } })
    expect(await here.ask()).toMatch(/said nothing for 0\.1 s\. Ask again later\.$/)
  })

  test('one that speaks every minute is waited for', async () => {
    const clock = new FakeClock()
    const go: (() => void)[] = []
    const wait = () => new Promise<void>((resolve) => go.push(resolve))
    const words = ['It', ' is', ' 5', '.'].flatMap((text) => [{ wait }, { text }])
    await using here = await stage([words], { clock })
    const answer = here.ask()
    for (let word = 0; word < 4; word++) {
      await eventually(() => expect(go).toHaveLength(word + 1))
      clock.advance(50_000)
      go[word]?.()
    }
    expect(await answer).toBe('It is 5.')
    expect(here.troubles).toEqual([])
  })
})
