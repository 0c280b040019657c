import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { LiveAnswers } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capability,
  defaultLimits,
  type EnvelopeOf,
  Kind,
  type RateClass,
} from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { recordEnvelopes } from './support/record-envelopes.js'

const words = Array.from({ length: 120 }, (_, n) => `word${n} `)
const isDelta = (envelope: AnyEnvelope): envelope is EnvelopeOf<typeof Kind.chatDelta> =>
  envelope.kind === Kind.chatDelta

async function here(bot: readonly Capability[] = ['*'], rates: Partial<Record<RateClass, object>> = {}) {
  const limits = { rates: { ...defaultLimits.rates, ...rates } as typeof defaultLimits.rates }
  const space = await createTestSpace({ participants: { ana: ['*'], ben: ['*'], bot }, limits })
  onTestFinished(() => space.close())
  const [ana, agent] = [await space.join('ana'), await space.join('bot')]
  const heard = recordEnvelopes(ana)
  const live = new LiveAnswers()
  const shown: string[] = []
  ana.on('envelope', (envelope) => {
    if (live.apply({ ...envelope })) shown.push(live.list()[0]?.text ?? '')
  })
  return { space, ana, bot: agent, heard, shown }
}

async function* slowly(pieces: readonly string[], ms = 4): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece
    await new Promise((resolve) => setTimeout(resolve, ms))
  }
}

const deltas = ({ heard }: { heard: ReturnType<typeof recordEnvelopes> }) => heard.all.filter(isDelta)

test('an answer is shown as it is written, joined for 25 ms, and is one chat in the end', async () => {
  const at = await here()
  void at.bot.answer((turn) => turn.reply(slowly(words)))
  const { text } = await at.ana.ask('Tell me', { to: ['bot'] })
  expect(text).toBe(words.join(''))
  const sent = deltas(at)
  expect(sent.length).toBeGreaterThan(3)
  expect(sent.length).toBeLessThan(words.length / 2)
  expect(sent.map(({ payload }) => payload.index)).toEqual(sent.map((_, index) => index))
  expect(sent.every(({ to, seq }) => String(to) === 'ana' && seq === undefined)).toBe(true)
  // A shown text extends the previous one. At the end none is shown, because the final chat has replaced the deltas.
  expect(at.shown.at(-1)).toBe('')
  for (const [index, each] of at.shown.slice(0, -1).entries()) {
    expect(text.startsWith(each)).toBe(true)
    expect(each.length).toBeGreaterThan(at.shown[index - 1]?.length ?? 0)
  }
  expect(at.heard.all.filter(({ kind, from }) => kind === Kind.chat && from === 'bot')).toHaveLength(1)
})

test('ten thousand pieces a second are sent as forty deltas a second', async () => {
  const at = await here()
  const pieces = Array.from({ length: 2000 }, (_, n) => `${n} `)
  void at.bot.answer((turn) =>
    turn.reply(
      (async function* () {
        for (const [index, piece] of pieces.entries()) {
          yield piece
          if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 10))
        }
      })(),
    ),
  )
  expect((await at.ana.ask('Count', { to: ['bot'] })).text).toBe(pieces.join(''))
  expect(deltas(at).length).toBeLessThan(50)
  expect(at.heard.all.filter(({ kind }) => kind === Kind.systemDecision)).toEqual([])
})

test('what was refused is shown again from its beginning', async () => {
  const at = await here(['*'], { deltas: { perSecond: 10, burst: 1 } })
  void at.bot.answer((turn) => turn.reply(slowly(words, 5)))
  const { text } = await at.ana.ask('Tell me', { to: ['bot'] })
  expect(text).toBe(words.join(''))
  expect(deltas(at).every(({ payload }) => payload.index === 0)).toBe(true)
  const lengths = deltas(at).map(({ payload }) => payload.text.length)
  expect(lengths).toEqual([...lengths].sort((one, other) => one - other))
  expect(at.shown.length).toBeGreaterThan(2)
})

test('who may not send deltas answers all the same, and is not refused', async () => {
  const at = await here([{ kind: ['chat', '!chat.delta'] }])
  void at.bot.answer((turn) => turn.reply(slowly(words, 1)))
  expect((await at.ana.ask('Tell me', { to: ['bot'] })).text).toBe(words.join(''))
  expect(at.heard.all.filter(({ kind }) => kind === Kind.systemDecision)).toEqual([])
  expect(deltas(at)).toEqual([])
})

test('in a hidden run an answer is shown, but not what may turn out to be a thought', async () => {
  const at = await here()
  void at.bot.answer(async (turn: Turn) => {
    const run = await turn.reason('Looking')
    await run.hide()
    const live = turn.write()
    live.push('Let me see.')
    await new Promise((resolve) => setTimeout(resolve, 60))
    live.close()
    await turn.reply(slowly(words, 1))
    await run.conclude()
  })
  expect((await at.ana.ask('Tell me', { to: ['bot'] })).text).toBe(words.join(''))
  expect(at.shown.length).toBeGreaterThan(1)
  expect(at.shown.join('')).not.toContain('Let me see')
})

test('a stream that throws half-way is no answer', async () => {
  const at = await here()
  void at.bot.answer(
    (turn) =>
      turn.reply(
        (async function* () {
          yield* slowly(words.slice(0, 20), 5)
          throw new Error('the line broke')
        })(),
      ),
    { onError: () => {} },
  )
  expect((await at.ana.ask('Tell me', { to: ['bot'] })).text).toBe('I could not answer: the line broke')
  expect(at.shown.at(-1)).toBe('')
})

test('an interruption ends the stream of its pieces', async () => {
  const at = await here()
  const ended = deferred()
  void at.bot.answer(async (turn) => {
    await using _run = await turn.reason('Looking')
    await turn.reply(
      (async function* () {
        try {
          for (;;) yield* slowly(words)
        } finally {
          ended.resolve()
        }
      })(),
    )
  })
  const answer = at.ana.ask('Tell me', { to: ['bot'] })
  await eventually(() => expect(deltas(at).length).toBeGreaterThan(2))
  await at.ana.interrupt(at.ana.runs[0]?.context ?? '')
  expect((await answer).text).toBe('I was stopped: interrupted by ana')
  await ended.promise
  const count = deltas(at).length
  await at.ana.chat('last')
  expect(deltas(at)).toHaveLength(count)
})

const asked = async (ana: SpaceClient) => (await ana.ask('What is 2 + 3?', { to: ['bot'] })).text

test('a model writes live: what it says before a call is taken back, and what it thinks is not shown', async () => {
  const at = await here()
  const wait = { wait: () => new Promise((resolve) => setTimeout(resolve, 60)) }
  const model = scriptedModel([
    [{ reasoning: 'Hm.' }, { text: 'Let me add that up.' }, wait, { call: 'ana__add', input: {} }],
    [{ text: '<think>secret sum</think>It ' }, wait, { text: 'is 5.' }, wait],
  ])
  at.ana.tool('add', {}, () => '5')
  void at.bot.agent({ model, tools: ['ana/*'] })
  expect(await asked(at.ana)).toBe('It is 5.')
  const texts = at.shown
  expect(texts[0]).toBe('Let me add that ')
  expect(texts).toContain('It is ')
  expect(texts.join('')).not.toContain('secret')
  const restart = deltas(at).findIndex(({ payload }, index) => index > 0 && payload.index === 0)
  // The delta with index 0 retracts the shown text. It may already contain the beginning of the answer.
  expect(deltas(at)[restart]?.payload.text).toMatch(/^(It )?$/)
})

test('pieces that cut a character in two are put together', async () => {
  const at = await here()
  const smiles = '😀'.repeat(60)
  const units = Array.from({ length: smiles.length }, (_, index) => smiles.charAt(index))
  void at.bot.answer((turn) => turn.reply(slowly(units, 3)))
  expect((await at.ana.ask('Smile', { to: ['bot'] })).text).toBe(smiles)
  expect(
    deltas(at)
      .map(({ payload }) => payload.text)
      .join(''),
  ).toMatch(/^(😀)+$/)
})

test('nothing comes after the answer, however short it is', async () => {
  const at = await here()
  void at.bot.answer((turn) => turn.reply(slowly(['Hi'], 0)))
  for (let count = 0; count < 20; count++) await at.ana.ask('Hello', { to: ['bot'] })
  await new Promise((resolve) => setTimeout(resolve, 60))
  const kinds = at.heard.all
    .filter(({ from }) => from === 'bot')
    .map(({ kind, correlationId }) => [kind, correlationId])
  for (const [place, [kind, about]] of kinds.entries()) {
    if (kind !== Kind.chatDelta) continue
    const answer = kinds.findIndex(([other, question]) => other === Kind.chat && question === about)
    expect(place).toBeLessThan(answer)
  }
  expect(at.shown.at(-1) ?? '').toBe('')
})

test('a turn that failed writes no further, and is answered once', async () => {
  const at = await here()
  void at.bot.answer(
    async (turn) => {
      const failing = new Promise<never>((_, reject) =>
        setTimeout(() => reject(new Error('out of paper')), 100),
      )
      await Promise.all([turn.reply(slowly(words, 5)), failing])
    },
    { onError: () => {} },
  )
  expect((await at.ana.ask('Tell me', { to: ['bot'] })).text).toBe('I could not answer: out of paper')
  await new Promise((resolve) => setTimeout(resolve, 700))
  const own = at.heard.all.filter(({ from }) => from === 'bot')
  expect(own.filter(({ kind }) => kind === Kind.chat)).toHaveLength(1)
  expect(own.at(-1)?.kind).toBe(Kind.chat)
})

test('what may become a thought is looked at as one: a secret in it is not sent', async () => {
  const at = await here()
  const key = `AKIA${'Z7QX'.repeat(4)}`
  const wait = { wait: () => new Promise((resolve) => setTimeout(resolve, 60)) }
  const model = scriptedModel([
    [
      { text: `I use the key ${key.slice(0, 9)}` },
      wait,
      { text: `${key.slice(9)} now, ` },
      wait,
      { text: 'so.' },
      wait,
    ],
  ])
  void at.bot.agent({ model, tools: [] })
  await asked(at.ana)
  expect(deltas(at).length).toBeGreaterThan(0)
  const sent = deltas(at)
    .map(({ payload }) => payload.text)
    .join('')
  expect(sent).toMatch(/^I use the key/)
  expect(sent).not.toContain(key.slice(0, 9))
})
