import { createTestSpace } from '@meup/agent-sdk/testing'
import { correlations } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { hear } from './support/hear.js'

async function crowd() {
  const space = await createTestSpace({ participants: { ana: ['*'], bob: ['*'], bot: ['*'] } })
  onTestFinished(() => space.close())
  const [ana, bob, bot] = await Promise.all([space.join('ana'), space.join('bob'), space.join('bot')])
  const [release, errors, handled] = [deferred(), [] as unknown[], new Set<string>()]
  const options = { concurrency: 1, onError: (error: unknown) => void errors.push(error) }
  void bot.eachTurn(async ({ trigger }) => {
    await release.promise
    handled.add(trigger.id)
  }, options)
  return { ana, bob, bot, release, errors, handled }
}

test('messages beyond a thousand open turns are refused to their askers, and the developer is told once', async () => {
  const { ana, bob, release, errors, handled } = await crowd()
  const [anaHeard, bobHeard] = [hear(ana), hear(bob)]
  await Promise.all(Array.from({ length: 1000 }, (_, n) => ana.chat(`${n}`, { to: ['bot'] })))
  const late = await Promise.all(Array.from({ length: 40 }, (_, n) => ana.chat(`${n}`, { to: ['bot'] })))
  const other = await bob.chat('and I?', { to: ['bot'] })
  const refused = (heard: typeof anaHeard, to: string): Set<string> => {
    const chats = heard.all.filter(({ kind, from }) => kind === 'chat' && from === 'bot')
    for (const chat of chats) expect(chat.to).toEqual([to])
    return new Set(chats.flatMap(correlations))
  }
  await eventually(() => expect(refused(anaHeard, 'ana')).toEqual(new Set(late.map(({ id }) => id))))
  await eventually(() => expect(refused(bobHeard, 'bob')).toEqual(new Set([other.id])))
  expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'queue_full' }])
  release.resolve()
  await eventually(() => expect(handled.size).toBe(1000))
  const { id } = await ana.chat('now', { to: ['bot'] })
  await eventually(() => expect(handled).toContain(id))
})

test('so are messages beyond four million characters', async () => {
  const { ana, release, errors, handled } = await crowd()
  const text = 'x'.repeat(240_000)
  for (let n = 0; n < 20; n++) await ana.chat(text, { to: ['bot'] })
  await eventually(() => expect(errors).toMatchObject([{ code: 'queue_full' }]))
  const small = await ana.chat('small', { to: ['bot'] })
  release.resolve()
  await eventually(() => expect(handled).toContain(small.id))
  expect(handled.size).toBe(18)
})

test('closing the seat is no error of its turns', async () => {
  const { ana, bot } = await crowd()
  const errors: unknown[] = []
  const begun = deferred()
  const ended = bot.eachTurn(
    async (turn) => {
      const run = await turn.reason('thinking')
      begun.resolve()
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
      await run.thought('too late')
    },
    { onError: (error) => void errors.push(error) },
  )
  await ana.chat('hello', { to: ['bot'] })
  await begun.promise
  bot.close()
  await ended
  expect(errors).toEqual([])
})
