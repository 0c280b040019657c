import type { Deed } from '@meup/agent-sdk/ai'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import { answering, type Stage, stage } from './stage.js'

const provider = 'openai.responses'

const listThoughts = ({ heard }: Stage): string[] =>
  heard.all.flatMap((each) => (each.kind === Kind.reasoningThought ? [String(each.payload.message)] : []))

/** Advances the clock until the check passes, by at most `ms`. */
async function passing(clock: FakeClock, ms: number, check: () => void): Promise<void> {
  let left = ms
  await eventually(() => {
    if (left > 0) clock.advance(50)
    left -= 50
    check()
  })
}

type Part =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

/** The model mock of the `ai` package; its parts arrive when the generator yields them. */
const mock = (parts: () => AsyncGenerator<Part>): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    provider,
    doStream: async () => ({ stream: ReadableStream.from(parts()) as ReadableStream<Part> }),
  })

function* said(text: string): Generator<Part> {
  yield { type: 'text-start', id: 't' }
  yield { type: 'text-delta', id: 't', delta: text }
  yield { type: 'text-end', id: 't' }
  const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
  const usage = { inputTokens, outputTokens: { total: 1, text: 1, reasoning: 0 } }
  yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
}

describe('what a model thinks token by token', () => {
  test('is said in whole sentences, when its time has come', async () => {
    const clock = new FakeClock()
    const [begun, more, last] = [deferred(), deferred(), deferred()]
    const model = mock(async function* () {
      yield { type: 'reasoning-start', id: '1' }
      yield { type: 'reasoning-delta', id: '1', delta: 'First this. Then that. And after' }
      begun.resolve()
      await more.promise
      yield { type: 'reasoning-delta', id: '1', delta: ' all that. The' }
      await last.promise
      yield { type: 'reasoning-delta', id: '1', delta: ' end' }
      yield { type: 'reasoning-end', id: '1' }
      yield* said('done')
    })
    await using here = await stage([], { model, clock })
    const answer = here.ask()
    // Importing the model packages takes real time, which the fake clock does not measure.
    await begun.promise
    await passing(clock, 10_000, () => expect(listThoughts(here)).toEqual(['First this. Then that.']))
    more.resolve()
    await passing(clock, 10_000, () =>
      expect(listThoughts(here)).toEqual(['First this. Then that.', 'And after all that.']),
    )
    last.resolve()
    expect(await answer).toBe('done')
    expect(listThoughts(here)).toEqual(['First this. Then that.', 'And after all that.', 'The end'])
  })

  test('10,000 tokens at once are one thought, cut', async () => {
    const clock = new FakeClock()
    const words = Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ')
    await using here = await stage([[{ reasoning: words }, { text: 'done' }]], { provider, clock })
    expect(await here.ask()).toBe('done')
    const thoughts = listThoughts(here)
    expect(thoughts).toHaveLength(1)
    expect(thoughts[0]).toMatch(/^w0 w1 .*… \(\d+ more characters\)$/)
  })

  test('10,000 tokens in ten seconds are at most one thought every 400 ms, and all of it is said', async () => {
    const clock = new FakeClock()
    const words = Array.from({ length: 10_000 }, (_, index) => `w${index}`)
    const parts = Array.from({ length: 100 }, (_, index) =>
      words.slice(index * 100, index * 100 + 100).join(' '),
    )
    const step = parts.flatMap((part): Deed[] => [
      { reasoning: `${part} ` },
      {
        async wait() {
          for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
          clock.advance(100)
        },
      },
    ])
    const script = (): Deed[] => [...step, { text: 'done' }]
    await using here = await stage(script, { provider, clock })
    expect(await here.ask()).toBe('done')
    const thoughts = listThoughts(here)
    expect(thoughts.length).toBeGreaterThan(5)
    expect(thoughts.length).toBeLessThanOrEqual(26)
    expect(thoughts.join(' ').split(/\s+/)).toEqual(words)
  })

  test('1 MB of it stops nothing, and says that there was more', async () => {
    const words = Array.from({ length: 150_000 }, (_, index) => `w${index}`).join(' ')
    await using here = await stage([[{ reasoning: words }, { text: 'done' }]], { provider })
    expect(await here.ask()).toBe('done')
    expect(here.troubles).toEqual([])
    expect(listThoughts(here).at(-1)).toMatch(/more characters\)$/)
    for (const thought of listThoughts(here)) expect(thought.length).toBeLessThan(8192)
  })
})

test('thoughts apart are told apart', async () => {
  const step: readonly Deed[] = [{ reasoning: 'First this' }, { reasoning: 'Then that' }, { text: 'done' }]
  await using here = await stage([step], { provider })
  expect(await here.ask()).toBe('done')
  expect(listThoughts(here)).toEqual(['First this\n\nThen that'])
})

test('an agent that may not think aloud still answers', async () => {
  const capabilities = ['chat', 'reasoning.start', 'reasoning.conclusion', 'mcp.*']
  await using here = await stage([[{ reasoning: 'Hm.' }, ...answering('done')]], { provider, capabilities })
  expect(await here.ask()).toBe('done')
  expect(here.troubles).toMatchObject([{ code: 'capability_violation' }])
})
