import { SpaceClient } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from './support/eventually.js'
import { accepted, scriptedDial } from './support/scripted-line.js'

/** Waits between reconnect attempts are random, so this makes them 0. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

/** An agent whose connection was lost once, and the questions that it received. */
async function resumed() {
  const line = scriptedDial('bot')
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test' })
  const first = await line.next()
  first.welcome()
  const space = await opening
  const asked: string[] = []
  void space.answer(async ({ trigger }) => void asked.push(trigger.id))
  first.close(1006)
  return { space, asked, again: await line.next(), next: line.next }
}

const chat = (id: string, seq: number, { from = 'ana', about }: { from?: string; about?: string } = {}) => {
  const correlation = about === undefined ? {} : { correlationId: about }
  return accepted(from, { id, kind: Kind.chat, ...correlation, payload: { message: id } }, seq)
}
const takenBack = (id: string, seq: number, from = 'ana') =>
  accepted(from, { id: `c-${seq}`, kind: Kind.chatCancel, correlationId: id, payload: {} }, seq)
const replay = (from: number, to: number) => ({ resume: { status: 'replaying', from, to } as const })

test('of the questions of a replay those are answered, at its end, that nobody has answered or taken back', async () => {
  const { space, asked, again } = await resumed()
  again.welcome(replay(1, 6))
  again.deliver(chat('answered', 1), chat('taken-back', 2), chat('open', 3))
  again.deliver(chat('a', 4, { from: 'bot', about: 'answered' }), takenBack('taken-back', 5))
  expect(asked).toEqual([])
  again.deliver(chat('last', 6), chat('live', 7))
  await eventually(() => expect(asked).toEqual(['open', 'last', 'live']))
  space.close()
})

test('somebody else can neither answer nor take back a question of a replay', async () => {
  const { space, asked, again } = await resumed()
  again.welcome(replay(1, 3))
  again.deliver(chat('open', 1), chat('a', 2, { from: 'eve', about: 'open' }), takenBack('open', 3, 'eve'))
  await eventually(() => expect(asked).toEqual(['open']))
  space.close()
})

test('a question that was begun before a replay may be taken back in it', async () => {
  const line = scriptedDial('bot')
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test' })
  const first = await line.next()
  first.welcome()
  const space = await opening
  const aborted = new Promise<unknown>((resolve) => {
    void space.answer(async ({ signal }) => {
      signal.addEventListener('abort', () => resolve(signal.reason))
      await new Promise(() => {})
    })
  })
  first.deliver(chat('begun', 1))
  await eventually(() => expect(first.sent).toEqual([]))
  first.close(1006)
  const again = await line.next()
  again.welcome(replay(2, 9))
  again.deliver(takenBack('begun', 2))
  expect(await aborted).toBe('taken back')
  space.close()
})

test('a welcome that says `live` ends a replay', async () => {
  const { space, asked, again } = await resumed()
  again.welcome(replay(1, 5))
  again.deliver(chat('open', 1))
  again.welcome(replay(2, 5))
  expect(asked).toEqual([])
  again.welcome()
  await eventually(() => expect(asked).toEqual(['open']))
  space.close()
})

test('a question of a replay that did not end is dropped with its log', async () => {
  const { space, asked, again, next } = await resumed()
  again.welcome(replay(1, 5))
  again.deliver(chat('old', 1))
  again.close(1006)
  const third = await next()
  third.welcome({ resume: { status: 'lost', from: 1, to: 1 } })
  third.deliver(chat('new', 1))
  await eventually(() => expect(asked).toEqual(['new']))
  space.close()
})
