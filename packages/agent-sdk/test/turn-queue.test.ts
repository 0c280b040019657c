import type { SpaceClient, TurnOptions } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { correlations } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { type EnvelopeRecorder, recordEnvelopes } from './support/record-envelopes.js'

async function crowd(queue?: TurnOptions['queue']) {
  const names = ['ana', 'bob', 'eve', 'bot'] as const
  const space = await createTestSpace({ participants: Object.fromEntries(names.map((id) => [id, ['*']])) })
  onTestFinished(() => space.close())
  const [ana, bob, eve, bot] = await Promise.all([
    space.join('ana'),
    space.join('bob'),
    space.join('eve'),
    space.join('bot'),
  ])
  const [release, errors, handled] = [deferred(), [] as unknown[], new Set<string>()]
  const options = {
    concurrency: 1,
    ...(queue && { queue }),
    onError: (error: unknown) => void errors.push(error),
  }
  void bot.answer(async ({ trigger }) => {
    await release.promise
    handled.add(trigger.id)
  }, options)
  return { ana, bob, eve, bot, release, errors, handled }
}

const ask = (asker: SpaceClient, times: number) =>
  Promise.all(Array.from({ length: times }, (_, n) => asker.chat(`${n}`, { to: ['bot'] })))

/** Ids of the messages to which bot has replied that it is busy, because too many turns were open. */
function refused(heard: EnvelopeRecorder, to: string): Set<string> {
  const chats = heard.all.filter(({ kind, from }) => kind === 'chat' && from === 'bot')
  for (const chat of chats) expect(chat.to).toEqual([to])
  return new Set(chats.flatMap(correlations))
}

test('one asker has eight open turns; what it asks beyond that is refused to it alone', async () => {
  const { ana, bob, release, errors, handled } = await crowd()
  const [anaHeard, bobHeard] = [recordEnvelopes(ana), recordEnvelopes(bob)]
  await ask(ana, 8)
  const late = await ask(ana, 20)
  const [{ id } = { id: '' }] = await ask(bob, 1)
  await eventually(() => expect(refused(anaHeard, 'ana')).toEqual(new Set(late.map((each) => each.id))))
  expect(anaHeard.all.at(-1)?.payload).toEqual({
    message: expect.stringMatching(/^I am busy: /),
    noAnswer: 'busy',
  })
  release.resolve()
  await eventually(() => expect(handled).toContain(id))
  expect([handled.size, refused(bobHeard, 'bob').size]).toEqual([9, 0])
  expect(errors).toMatchObject([{ code: 'queue_full', message: expect.stringContaining('8 of ana') }])
})

test('all askers together have as many as the agent says; the developer is told once', async () => {
  const { ana, bob, eve, release, errors, handled } = await crowd({ asker: 3, all: 5 })
  const [bobHeard, eveHeard] = [recordEnvelopes(bob), recordEnvelopes(eve)]
  await ask(ana, 3)
  const [, , late] = await ask(bob, 3)
  const other = await eve.chat('and I?', { to: ['bot'] })
  await eventually(() => expect(refused(bobHeard, 'bob')).toEqual(new Set([late?.id])))
  await eventually(() => expect(refused(eveHeard, 'eve')).toEqual(new Set([other.id])))
  expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'queue_full' }])
  release.resolve()
  await eventually(() => expect(handled.size).toBe(5))
  const { id } = await ana.chat('now', { to: ['bot'] })
  await eventually(() => expect(handled).toContain(id))
})

test('closing the seat is no error of its turns', async () => {
  const { ana, bot } = await crowd()
  const errors: unknown[] = []
  const begun = deferred()
  const ended = bot.answer(
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
