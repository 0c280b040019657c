import type { SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { correlations } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { type EnvelopeRecorder, recordEnvelopes } from './support/record-envelopes.js'

async function crowd() {
  const names = ['ana', 'bob', 'cleo', 'dan', 'eve', 'bot'] as const
  const space = await createTestSpace({ participants: Object.fromEntries(names.map((id) => [id, ['*']])) })
  onTestFinished(() => space.close())
  const [ana, bob, cleo, dan, eve, bot] = await Promise.all([
    space.join('ana'),
    space.join('bob'),
    space.join('cleo'),
    space.join('dan'),
    space.join('eve'),
    space.join('bot'),
  ])
  const [release, errors, handled] = [deferred(), [] as unknown[], new Set<string>()]
  const options = { concurrency: 1, onError: (error: unknown) => void errors.push(error) }
  void bot.eachTurn(async ({ trigger }) => {
    await release.promise
    handled.add(trigger.id)
  }, options)
  return { ana, bob, cleo, dan, eve, bot, release, errors, handled }
}

const ask = (asker: SpaceClient, times: number) =>
  Promise.all(Array.from({ length: times }, (_, n) => asker.chat(`${n}`, { to: ['bot'] })))

/** What the bot has refused to an asker. */
function refused(heard: EnvelopeRecorder, to: string): Set<string> {
  const chats = heard.all.filter(({ kind, from }) => kind === 'chat' && from === 'bot')
  for (const chat of chats) expect(chat.to).toEqual([to])
  return new Set(chats.flatMap(correlations))
}

test('one asker has a quarter of the open turns; what it asks beyond that is refused to it alone', async () => {
  const { ana, bob, release, errors, handled } = await crowd()
  const [anaHeard, bobHeard] = [recordEnvelopes(ana), recordEnvelopes(bob)]
  await ask(ana, 250)
  const late = await ask(ana, 20)
  const [{ id } = { id: '' }] = await ask(bob, 1)
  await eventually(() => expect(refused(anaHeard, 'ana')).toEqual(new Set(late.map((each) => each.id))))
  release.resolve()
  await eventually(() => expect(handled).toContain(id))
  expect([handled.size, refused(bobHeard, 'bob').size]).toEqual([251, 0])
  expect(errors).toMatchObject([{ code: 'queue_full', message: expect.stringContaining('250 of ana') }])
})

test('messages beyond a thousand open turns are refused to their askers, and the developer is told once', async () => {
  const { ana, bob, cleo, dan, eve, release, errors, handled } = await crowd()
  const [anaHeard, eveHeard] = [recordEnvelopes(ana), recordEnvelopes(eve)]
  for (const each of [ana, bob, cleo, dan]) await ask(each, 250)
  const late = await ask(ana, 40)
  const other = await eve.chat('and I?', { to: ['bot'] })
  await eventually(() => expect(refused(anaHeard, 'ana')).toEqual(new Set(late.map(({ id }) => id))))
  await eventually(() => expect(refused(eveHeard, 'eve')).toEqual(new Set([other.id])))
  expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'queue_full' }])
  release.resolve()
  await eventually(() => expect(handled.size).toBe(1000))
  const { id } = await ana.chat('now', { to: ['bot'] })
  await eventually(() => expect(handled).toContain(id))
})

test('so are messages beyond four million characters', async () => {
  const { ana, bob, cleo, dan, eve, release, errors, handled } = await crowd()
  const text = 'x'.repeat(240_000)
  for (const each of [ana, bob, cleo, dan]) for (let n = 0; n < 4; n++) await each.chat(text, { to: ['bot'] })
  expect(errors).toEqual([])
  await ana.chat(text, { to: ['bot'] })
  await eventually(() => expect(errors).toMatchObject([{ code: 'queue_full' }]))
  for (let n = 0; n < 4; n++) await eve.chat(text, { to: ['bot'] })
  const small = await eve.chat('small', { to: ['bot'] })
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
