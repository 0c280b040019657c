import type { AnyEnvelope } from '@meup/protocol'
import { expect } from 'vitest'
import {
  about,
  answerTo,
  type CaseKind,
  call,
  cut,
  expectAlive,
  kind,
  lost,
  question,
  replaying,
  responseTo,
} from './kind.js'
import { client, type Line, type ScriptedGateway } from './scripted-gateway.js'

/** Cases about resending envelopes after a reconnect, and about replays. */
export const resuming: readonly CaseKind[] = [
  kind('resend after a cut, same bytes, in order', {
    'three envelopes': async ({ gateway }) => {
      const { texts, again } = await cutWithThree(gateway)
      again.welcome()
      expect(await firstTexts(again, 3)).toEqual(texts)
    },
    'over the next line but one': async ({ gateway }) => {
      const { texts, again } = await cutWithThree(gateway)
      const third = await cut(again)
      third.welcome()
      expect(await firstTexts(third, 3)).toEqual(texts)
    },
    'after a line that was cut behind its welcome': async ({ gateway }) => {
      const { texts, again } = await cutWithThree(gateway)
      again.welcome()
      await firstTexts(again, 1)
      const third = await cut(again)
      third.welcome()
      expect(await firstTexts(third, 3)).toEqual(texts)
    },
    'a response': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = () => 'withhold'
      const { text } = await responseTo(line, line.say('ana', call({ text: 'ünïcödé' })))
      const again = await cut(line)
      again.welcome()
      expect(await firstTexts(again, 1)).toEqual([text])
    },
    'what the log has is acknowledged by its original, out of order': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.start' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const start = await line.until(({ kind }) => kind === 'reasoning.start')
      const original = gateway.accept(client, start.envelope)
      line.say('bob', question('meanwhile', { to: ['ana'] }))
      await line.settled()
      const again = await cut(line)
      again.welcome()
      await again.until(({ id }) => id === start.envelope.id)
      gateway.script = () => undefined
      again.deliver(original)
      await answerTo(again, asked)
    },
  }),
  kind('what was acknowledged is not sent again', {
    'the start of a run whose thought is open': async ({ gateway }) => {
      const line = await gateway.welcomed()
      gateway.script = ({ envelope }) => (envelope.kind === 'reasoning.thought' ? 'withhold' : undefined)
      const asked = line.say('ana', question('one two three'))
      const thought = await line.until(({ kind }) => kind === 'reasoning.thought')
      gateway.script = () => undefined
      const again = await cut(line)
      again.welcome()
      await answerTo(again, asked)
      expect(again.sent.filter(({ envelope }) => isNoSubscription(envelope))[0]?.text).toBe(thought.text)
      expect(again.envelopes.map((each) => each.kind)).not.toContain('reasoning.start')
    },
    'a whole turn': async ({ gateway }) => {
      const line = await gateway.welcomed()
      await expectAlive(line)
      await line.settled()
      const again = await cut(line)
      again.welcome()
      await again.settled()
      expect(again.envelopes).toEqual([])
    },
  }),
  kind('once per seq', {
    'a question': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', question('one two three'))
      line.deliver(asked, asked)
      await expectAlive(line)
      expect(about(line, asked).filter(({ kind }) => kind === 'reasoning.start')).toHaveLength(1)
    },
    'a call': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', call())
      await responseTo(line, asked)
      line.deliver(asked)
      await expectAlive(line)
      expect(about(line, asked)).toHaveLength(1)
    },
    'over another line': async ({ gateway }) => {
      const line = await gateway.welcomed()
      const asked = line.say('ana', question('one two three'))
      await answerTo(line, asked)
      await line.settled()
      const again = await cut(line)
      again.welcome()
      again.deliver(asked)
      await expectAlive(again)
      expect(about(again, asked)).toEqual([])
    },
  }),
  kind('replay: answered', {
    'what was answered in its name is not answered again': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 5))
      const asked = again.say('ana', question('one two three'))
      const called = again.say('ana', call())
      again.say(client, {
        kind: 'mcp.response',
        to: ['ana'],
        correlationId: called.id,
        payload: { result: {} },
      })
      again.say(client, question('3 words', { correlationId: [asked.id] }))
      await again.settled()
      expect(again.envelopes).toEqual([])
      again.say('ana', question('for bob', { to: ['bob'] }))
      await expectAlive(again)
      expect([...about(again, asked), ...about(again, called)]).toEqual([])
    },
    'by the last envelope of the replay': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 2))
      const asked = again.say('ana', question('one two three'))
      again.say(client, question('3 words', { correlationId: asked.id }))
      await expectAlive(again)
      expect(about(again, asked)).toEqual([])
    },
  }),
  kind('replay: unanswered', {
    'what nobody answered is answered at its end': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 3))
      const asked = again.say('ana', question('one two three'))
      const called = again.say('ana', call())
      await again.settled()
      expect(again.envelopes).toEqual([])
      again.say('ana', question('for bob', { to: ['bob'] }))
      await Promise.all([answerTo(again, asked), responseTo(again, called)])
    },
    "somebody else's answer leaves it open": async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 2))
      const asked = again.say('ana', question('one two three'))
      again.say('bob', question('3 words', { correlationId: asked.id }))
      await answerTo(again, asked)
    },
    'its last envelope may not be seen: the next one ends it': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 4))
      const asked = again.say('ana', question('one two three'))
      await again.settled()
      expect(again.envelopes).toEqual([])
      gateway.head = 8
      again.say('ana', question('for bob', { to: ['bob'] }))
      await answerTo(again, asked)
    },
    'a replay that was cut goes on': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 3))
      const asked = again.say('ana', question('one two three'))
      await again.settled()
      const third = await cut(again)
      expect(third.url.searchParams.get('after')).toBe('1')
      third.welcome(replaying(2, 3))
      third.say('ana', question('for bob', { to: ['bob'] }))
      await third.settled()
      expect(third.envelopes).toEqual([])
      third.say('ana', question('for bob', { to: ['bob'] }))
      await answerTo(third, asked)
    },
  }),
  kind('replay: cancelled', {
    'a call, by its id': (stage) =>
      cancelled(stage, ({ id }) => ({ correlationId: id, payload: cancellation('other') })),
    'a call, by its JSON-RPC id': (stage) => cancelled(stage, () => ({ payload: cancellation(1) })),
    'a question': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 2))
      const asked = again.say('ana', question('one two three'))
      again.say('ana', { kind: 'chat.cancel', correlationId: asked.id, payload: {} })
      await expectAlive(again)
      expect(about(again, asked)).toEqual([])
    },
    'nobody cancels for another': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 4))
      const asked = again.say('ana', question('one two three'))
      const called = again.say('ana', call())
      again.say('bob', { kind: 'chat.cancel', correlationId: asked.id, payload: {} })
      const fields = { to: [client], correlationId: called.id }
      again.say('bob', { kind: 'mcp.request', ...fields, payload: cancellation(1) })
      await Promise.all([answerTo(again, asked), responseTo(again, called)])
    },
  }),
  kind('two welcomes in a replay', {
    'a welcome that says `live` ends it': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 4))
      const asked = again.say('ana', question('one two three'))
      const called = again.say('ana', call())
      again.welcome(replaying(3, 4))
      await again.settled()
      expect(again.envelopes).toEqual([])
      gateway.head = 4
      again.welcome()
      await Promise.all([answerTo(again, asked), responseTo(again, called)])
    },
    'what is answered between them is not answered again': async ({ gateway }) => {
      const again = await cut(await gateway.welcomed())
      again.welcome(replaying(1, 4))
      const called = again.say('ana', call())
      again.welcome(replaying(2, 4))
      again.say(client, {
        kind: 'mcp.response',
        to: ['ana'],
        correlationId: called.id,
        payload: { result: {} },
      })
      gateway.head = 4
      again.welcome()
      await expectAlive(again)
      expect(about(again, called)).toEqual([])
    },
  }),
  kind('open questions of the old log are dropped', {
    'with another epoch': async ({ gateway }) => {
      const { asked, third } = await cutInReplay(gateway)
      Object.assign(gateway, { epoch: 'e2', head: 0 })
      third.welcome(lost(0))
      await expectAlive(third)
      for (const each of asked) expect(about(third, each)).toEqual([])
    },
    'with the same epoch': async ({ gateway }) => {
      const { asked, third } = await cutInReplay(gateway)
      gateway.head = 0
      third.welcome(lost(0))
      await expectAlive(third)
      for (const each of asked) expect(about(third, each)).toEqual([])
    },
  }),
]

const isNoSubscription = ({ kind }: AnyEnvelope): boolean => kind !== 'observe.subscribe'

/** Waits for the first frames that are not subscriptions. */
async function firstTexts(line: Line, count: number): Promise<string[]> {
  const texts = (): string[] =>
    line.sent.filter(({ envelope }) => isNoSubscription(envelope)).map(({ text }) => text)
  await line.until(() => texts().length >= count)
  return texts().slice(0, count)
}

/** Lets the client send three envelopes, acknowledges none, and cuts the connection. */
async function cutWithThree(gateway: ScriptedGateway): Promise<{ texts: string[]; again: Line }> {
  const line = await gateway.welcomed()
  gateway.script = ({ envelope }) => (isNoSubscription(envelope) ? 'withhold' : undefined)
  for (const text of ['one', 'one two', 'one two three']) line.say('ana', question(text))
  const texts = await firstTexts(line, 3)
  const again = await cut(line)
  await again.settled()
  expect(again.sent).toEqual([])
  return { texts, again }
}

/** Sends a question and a call in a replay, and cuts the connection before the replay has ended. */
async function cutInReplay(gateway: ScriptedGateway): Promise<{ asked: AnyEnvelope[]; third: Line }> {
  const again = await cut(await gateway.welcomed())
  again.welcome(replaying(1, 9))
  const asked = [again.say('ana', question('one two three')), again.say('ana', call())]
  await again.settled()
  return { asked, third: await cut(again) }
}

const cancellation = (requestId: number | string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

/** Sends a call in a replay, and its cancellation before the replay has ended. */
async function cancelled(
  { gateway }: { gateway: ScriptedGateway },
  cancel: (called: AnyEnvelope) => object,
): Promise<void> {
  const again = await cut(await gateway.welcomed())
  again.welcome(replaying(1, 3))
  const called = again.say('ana', call())
  again.say('ana', { kind: 'mcp.request', to: [client], ...cancel(called) })
  again.say('ana', question('for bob', { to: ['bob'] }))
  await expectAlive(again)
  expect(about(again, called)).toEqual([])
}
