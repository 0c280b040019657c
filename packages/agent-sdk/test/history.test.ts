import type { History, MemoryBounds, SpaceClient } from '@meup/agent-sdk'
import { createTestSpace, type TestSpace } from '@meup/agent-sdk/testing'
import { Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'

async function open(): Promise<{ space: TestSpace; ana: SpaceClient; bob: SpaceClient }> {
  const space = await createTestSpace({ participants: { ana: ['*'], bob: ['*'], bot: ['*'] } })
  onTestFinished(() => space.close())
  return { space, ana: await space.join('ana'), bob: await space.join('bob') }
}

/** Connects an agent. Returns an array with the history of each of its turns. */
async function listen(space: TestSpace, bounds?: MemoryBounds): Promise<History[]> {
  const seen: History[] = []
  const bot = await space.join('bot')
  void bot.answer(async (turn) => {
    seen.push(await turn.history(bounds))
    await turn.reply('noted')
  })
  return seen
}

test('a turn has what was said before it, also before this program came, as messages and as a text', async () => {
  const { space, ana, bob } = await open()
  await ana.chat('one\ntwo', { mention: 'bob' })
  await bob.chat('yes', { mention: 'ana' })
  const seen = await listen(space)
  await ana.ask('first?', { mention: 'bot' })
  await ana.ask('second?', { mention: 'bot' })
  const before = [
    { role: 'user', content: 'ana: one\n> two' },
    { role: 'user', content: 'bob: yes' },
  ]
  expect(seen[0]).toEqual({ messages: before, text: 'ana: one\n> two\nbob: yes' })
  expect(seen[1]?.messages).toEqual([
    ...before,
    { role: 'user', content: 'ana: first?' },
    { role: 'assistant', content: 'noted' },
  ])
  expect(seen[1]?.text).toBe('ana: one\n> two\nbob: yes\nana: first?\nbot: noted')
})

test('no more than it asks for, the latest', async () => {
  for (const [bounds, expected] of [
    [{ messages: 1 }, ['ana: three']],
    [{ tokens: 50 }, ['ana: three']],
    [{ messages: 0 }, []],
    [{ tokens: 5000 }, ['ana: one', 'ana: two', `ana: ${'x'.repeat(400)}`, 'ana: three']],
  ] as const) {
    const one = await open()
    for (const text of ['one', 'two', 'x'.repeat(400), 'three']) await one.ana.chat(text, { mention: 'bob' })
    const seen = await listen(one.space, bounds)
    await one.ana.ask('?', { mention: 'bot' })
    expect(seen[0]?.messages.map(({ content }) => content)).toEqual(expected)
  }
})

test('what was private in private turns of those who know it alone, and nothing that was taken back', async () => {
  const { space, ana, bob } = await open()
  await ana.chat('secret', { to: ['bot'] })
  const { id } = await ana.chat('oops', { mention: 'bob' })
  await ana.send({ kind: Kind.chatCancel, correlationId: id })
  const seen = await listen(space)
  await ana.ask('one', { mention: 'bot' })
  await bob.ask('two', { to: ['bot'] })
  await ana.ask('three', { to: ['bot'] })
  const texts = seen.map(({ text }) => text.split('\n'))
  expect(texts).toEqual([[''], ['ana: one', 'bot: noted'], ['ana: secret', 'ana: one', 'bot: noted']])
})
