import type { SpaceClient } from '@meup/agent-sdk'
import { FakeClock } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import { recordEnvelopes } from '../support/record-envelopes.js'
import { promptOf, remembering } from '../support/remembering.js'

const noted = () => [{ text: 'noted' }]
/** One turn at a time, so that missed questions are answered before later ones. */
const oneByOne = { concurrency: 1 }

/** Asks a public question, and returns the answer. */
const ask = async (ana: SpaceClient, question: string): Promise<string> =>
  (await ana.ask(question, { mention: 'bot' })).text

test('an agent that is killed between each two of twenty questions that build on one another answers all of them', async () => {
  const { ana, run } = await remembering()
  const said: string[] = []
  let sum = 0
  for (let number = 1; number <= 20; number++) {
    const program = await run(({ prompt }) => {
      const texts = prompt.slice(1).map(({ content }) => (content as { text: string }[])[0]?.text ?? '')
      expect(texts).toEqual([...said, `ana: Add ${number}.`])
      const before = Number(/\d+$/.exec(texts.at(-2) ?? '0')?.[0])
      return [{ text: `The sum is ${before + number}` }]
    })
    sum += number
    const answer = await ask(ana, `Add ${number}.`)
    expect(answer).toBe(`The sum is ${sum}`)
    said.push(`ana: Add ${number}.`, answer)
    program.kill()
  }
  expect(sum).toBe(210)
})

test.each(['onRequest', 'onAnswer'] as const)(
  'what comes while an agent reads the log is neither lost nor doubled, nor missed: %s',
  async (when) => {
    const { ana, run } = await remembering()
    await ana.chat('before', { mention: 'bob' })
    const [reading, mayGoOn] = [deferred(), deferred()]
    const program = await run(noted, {
      ...oneByOne,
      [when]: async () => {
        reading.resolve()
        await mayGoOn.promise
      },
    })
    await reading.promise
    await ana.chat('meanwhile', { mention: 'bob' })
    const answer = ask(ana, 'Now?')
    await ana.chat('after', { mention: 'bob' })
    mayGoOn.resolve()
    expect(await answer).toBe('noted')
    expect(promptOf(program)).toEqual(['ana: before\n\nana: meanwhile\n\nana: Now?'])
    expect(await ask(ana, 'And now?')).toBe('noted')
    expect(program.model.requests).toHaveLength(2)
    expect(program.pages.filter((page) => page.includes('correlationId'))).toEqual([])
  },
)

test('an agent that cannot read the log says so once, and answers with what it knows', async () => {
  const { ana, run } = await remembering()
  await ana.chat('before', { mention: 'bob' })
  const program = await run(noted, {
    memory: 2,
    onRequest: () => {
      throw new Error('no way')
    },
  })
  for (const question of ['one', 'two', 'three', 'four']) await ask(ana, question)
  const notShown = '(What was said before this is not shown.)'
  expect(promptOf(program)).toEqual([notShown, 'noted', 'ana: four'])
  expect(program.model.requests).toHaveLength(4)
  const notices = program.troubles.map((error) => (error as Error).message)
  expect(notices.filter((message) => message.startsWith('earlier messages'))).toEqual([
    expect.stringMatching(
      /^earlier messages could not be read from the log, and are not remembered: .*no way/,
    ),
  ])
})

describe('a question that was asked while the agent was away', () => {
  /** Asks another question. When it is answered, returns the correlation ids of all answers so far, in order. */
  async function answersOf(ana: SpaceClient): Promise<unknown[]> {
    const heard = recordEnvelopes(ana)
    const { id } = await ana.chat('last', { mention: 'bot' })
    const isAnswer = heard.until(({ kind, from, correlationId }) => {
      return kind === Kind.chat && from === 'bot' && [correlationId].flat().includes(id)
    })
    await isAnswer
    return heard.all.flatMap(({ kind, from, correlationId }) =>
      kind === Kind.chat && from === 'bot' ? [correlationId] : [],
    )
  }

  test('is answered once, the oldest first', async () => {
    const { ana, run } = await remembering()
    const ids = [await ana.chat('one'), await ana.chat('two', { to: ['bot'] }), await ana.chat('three')].map(
      ({ id }) => id,
    )
    const heard = recordEnvelopes(ana)
    const answered = () =>
      heard.all.flatMap(({ kind, from, correlationId }) =>
        kind === Kind.chat && from === 'bot' ? [correlationId] : [],
      )
    const first = await run(noted, oneByOne)
    await eventually(() => expect(answered()).toEqual(ids))
    first.kill()
    await run(noted, oneByOne)
    expect(await answersOf(ana)).toHaveLength(1)
  })

  test('is looked for one after the other, as many as there are', async () => {
    const { ana, run } = await remembering()
    for (let number = 1; number <= 40; number++) await ana.chat(`number ${number}`)
    const heard = recordEnvelopes(ana)
    let [now, maxAtOnce] = [0, 0]
    const program = await run(noted, {
      queue: { asker: 50 },
      onRequest: async () => {
        maxAtOnce = Math.max(maxAtOnce, ++now)
        await new Promise((resolve) => setTimeout(resolve))
        now--
      },
    })
    await eventually(() =>
      expect(heard.all.filter(({ kind, from }) => kind === Kind.chat && from === 'bot')).toHaveLength(40),
    )
    expect(program.troubles).toEqual([])
    // One request may look up whether a missed question was answered, while another one reads the latest messages for a prompt.
    expect(maxAtOnce).toBeLessThanOrEqual(2)
  })

  test('is not answered when it is older than wanted, by the clock of the gateway', async () => {
    const clock = new FakeClock()
    const { ana, run } = await remembering({ clock })
    await ana.chat('old')
    clock.advance(600_001)
    const { id } = await ana.chat('new')
    const heard = recordEnvelopes(ana)
    await run(noted, oneByOne)
    const answer = await heard.until(({ kind, from }) => kind === Kind.chat && from === 'bot')
    expect(answer.correlationId).toBe(id)
    expect(await answersOf(ana)).toHaveLength(1)
  })

  test.each<[string, (ana: SpaceClient, bot: SpaceClient, id: string) => Promise<unknown>]>([
    ['taken back', (ana, _, id) => ana.send({ kind: Kind.chatCancel, correlationId: id })],
    ['answered', (_, bot, id) => bot.chat('yes', { correlationId: id })],
    ['acknowledged', (_, bot, id) => bot.send({ kind: Kind.chatAcknowledge, correlationId: id })],
    [
      'thought about in a run that ended',
      async (_, bot, id) => {
        const { id: context } = await bot.send({ kind: Kind.reasoningStart, correlationId: id })
        await bot.send({ kind: Kind.reasoningCancel, context })
      },
    ],
    [
      'thought about in a run that is open',
      (_, bot, id) => bot.send({ kind: Kind.reasoningStart, correlationId: id }),
    ],
    ['erased', async (ana, _, id) => void (await erase(ana, id))],
  ])('is not answered when it was %s', async (_, settle) => {
    const here = await remembering()
    const { ana, run, enter } = here
    const { id, seq } = await ana.chat('one')
    const bot = await enter('bot')
    await settle(Object.assign(ana, { seq, url: here.gateway.url }), bot, id)
    bot.close()
    const program = await run(noted, oneByOne)
    expect(await answersOf(ana)).toHaveLength(1)
    expect(program.model.requests).toHaveLength(1)
  })

  test('is answered though somebody else has', async () => {
    const { ana, run, enter } = await remembering()
    const { id } = await ana.chat('one')
    await (await enter('bob')).chat('yes', { correlationId: id })
    const heard = recordEnvelopes(ana)
    await run(noted)
    expect(await heard.until(({ kind, from }) => kind === Kind.chat && from === 'bot')).toMatchObject({
      correlationId: id,
    })
  })

  test('is not answered where that is not wanted, nor what asks others', async () => {
    const { ana, run } = await remembering()
    await ana.chat('one', { mention: 'bob' })
    await run(noted, oneByOne)
    expect(await answersOf(ana)).toHaveLength(1)
    const other = await remembering()
    await other.ana.chat('one')
    await other.run(noted, { ...oneByOne, answerMissed: false })
    expect(await answersOf(other.ana)).toHaveLength(1)
  })

  test('is answered by one of two programs, and what its asker says meanwhile by both', async () => {
    const { ana, run } = await remembering()
    const { id } = await ana.chat('one')
    const [looked, mayLook] = [deferred(), deferred()]
    const second = await run(noted, {
      onRequest: async (url) => {
        if (!url.searchParams.has('correlationId')) return
        looked.resolve()
        await mayLook.promise
      },
    })
    await looked.promise
    const heard = recordEnvelopes(ana)
    const isAnswer = ({
      kind,
      from,
      correlationId,
    }: {
      kind: string
      from: string
      correlationId?: unknown
    }) => kind === Kind.chat && from === 'bot' && correlationId === id
    const first = await run(noted)
    await heard.until(isAnswer)
    const more = await ana.chat('more')
    await eventually(() =>
      expect(
        heard.all.filter(
          ({ correlationId, from, kind }) =>
            kind === Kind.chat && from === 'bot' && correlationId === more.id,
        ),
      ).toHaveLength(2),
    )
    mayLook.resolve()
    await ask(ana, 'last')
    await eventually(() => expect(second.model.requests).toHaveLength(2))
    expect(first.model.requests).toHaveLength(3)
    expect(heard.all.filter(isAnswer)).toHaveLength(1)
  })
})

async function erase(ana: SpaceClient & { seq?: number; url?: string }, _: string): Promise<void> {
  const { HttpClient } = await import('@meup/agent-sdk/http')
  await new HttpClient({ url: ana.url ?? '', space: 'test', token: 'token-of-ana' }).erase(
    ana.seq ?? 0,
    'a secret',
  )
}
