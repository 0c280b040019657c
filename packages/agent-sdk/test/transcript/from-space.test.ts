import type { SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import {
  followSpace,
  fromSpace,
  type LogEntry,
  type ReasoningChoice,
  type Transcript,
} from '@meup/agent-sdk/transcript'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { verifies } from '../../../../test/verifies.js'
import { caughtUp, type EnvelopeRecorder, recordEnvelopes } from '../support/record-envelopes.js'
import { scripted } from './scripted-client.js'

const said = (entries: readonly LogEntry[]): string[] =>
  entries.map(({ commit: { content } }) => {
    const from = 'from' in content && content.from !== undefined ? ` of ${content.from}` : ''
    return `${content.content_type}${from}: ${content.text}`
  })

const listPrompt = (transcript: Transcript): string[] =>
  transcript.compile().map(({ role, type, text }) => `${role} ${type}: ${text}`)

/** A conversation in a space: ana asks; bot thinks and answers; critic thinks in two contexts, then comments. */
async function review() {
  const space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'], critic: ['*'] } })
  const [ana, bot, critic] = [await space.join('ana'), await space.join('bot'), await space.join('critic')]
  const heard = { ana: recordEnvelopes(ana), bot: recordEnvelopes(bot), critic: recordEnvelopes(critic) }
  const { id } = await ana.chat('Deploy?')
  const run = await bot.reason('Looking')
  await run.thought('The tests pass')
  const second = await critic.reason()
  const nested = await second.reason()
  await nested.thought('Who wrote them?')
  await nested.conclude()
  await second.conclude('I doubt it')
  await run.conclude('Go')
  await bot.chat('Yes.', { correlationId: id })
  await critic.chat('Wait.', { correlationId: id })
  const all = async (hearing: EnvelopeRecorder): Promise<readonly Envelope[]> => {
    await caughtUp(ana, hearing)
    return hearing.all
  }
  return {
    ...{ ana, bot, critic, heard, all, question: id },
    contexts: { bot: run.context, critic: second.context, nested: nested.context },
    [Symbol.asyncDispose]: () => space.close(),
  }
}

describe('a transcript of a space', () => {
  verifies(
    'T20',
    'tells one agent what another thought, at which step, and what that cost itself',
    async () => {
      await using here = await review()
      const client = scripted([
        { text: 'No.', reasoning: 'A doubt is enough', tokens: 7, usage: { input_tokens: 5 } },
      ])
      const transcript = fromSpace(await here.all(here.heard.bot), { self: 'bot', client })
      expect(said(transcript.log({ type: 'reasoning' }))).toEqual([
        'reasoning: Looking',
        'reasoning: The tests pass',
        'reasoning of critic: Who wrote them?',
        'reasoning of critic: I doubt it',
        'reasoning: Go',
      ])
      const [step] = transcript.log({ type: 'reasoning', from: 'critic' })
      expect(step?.commit.metadata).toMatchObject({
        context: here.contexts.nested,
        kind: 'reasoning.thought',
      })
      const response = await transcript.chat('Are you sure?')
      expect(response.usage).toEqual({ input: 5, output: null, reasoning: 7 })
      expect(transcript.log().at(-1)?.usage).toEqual(response.usage)
      expect(transcript.verify()).toMatchObject({ ok: true })
    },
  )

  verifies('M32', 'tells a model the reasoning that was chosen, and no other', async () => {
    await using here = await review()
    const envelopes = await here.all(here.heard.bot)
    const prompt = (reasoning?: ReasoningChoice): string[] =>
      listPrompt(fromSpace(envelopes, { self: 'bot', ...(reasoning && { reasoning }) }))
    const chats = ['user user: Deploy?', 'assistant assistant: Yes.', 'user user: Wait.']
    expect(prompt()).toEqual(chats)
    expect(prompt('none')).toEqual(chats)
    expect(prompt('own')).toEqual([
      'user user: Deploy?',
      'assistant reasoning: Looking',
      'assistant reasoning: The tests pass',
      'assistant reasoning: Go',
      'assistant assistant: Yes.',
      'user user: Wait.',
    ])
    expect(prompt('all').filter((line) => line.includes('reasoning'))).toEqual([
      'assistant reasoning: Looking',
      'assistant reasoning: The tests pass',
      'user reasoning: Who wrote them?',
      'user reasoning: I doubt it',
      'assistant reasoning: Go',
    ])
    const doubts = ['user reasoning: Who wrote them?', 'user reasoning: I doubt it']
    expect(prompt([here.contexts.critic]).slice(1, 3)).toEqual(doubts)
    expect(prompt([here.contexts.nested]).slice(1)).toEqual([doubts[0], ...chats.slice(1)])
    expect(prompt(['nowhere', here.contexts.critic.slice(0, -1)])).toEqual(chats)
  })

  test('names who speaks, and says where each commit comes from', async () => {
    await using here = await review()
    const transcript = fromSpace(await here.all(here.heard.critic), { self: 'critic' })
    expect(said(transcript.log({ type: 'user' }))).toEqual(['user of ana: Deploy?', 'user of bot: Yes.'])
    const [first] = transcript.commits
    const { seq, ts } = here.heard.critic.all.find(({ id }) => id === here.question) ?? {}
    expect(first?.metadata).toEqual({ id: here.question, seq, ts, kind: 'chat' })
    expect(transcript.compile()[0]).toMatchObject({ role: 'user', from: 'ana' })
  })

  test('has nothing of what was taken back, or was said aside', async () => {
    await using here = await review()
    const mistake = await here.ana.chat('Oops')
    await here.ana.send({ kind: 'chat.cancel', correlationId: mistake.id })
    await here.ana.send({ kind: 'chat', context: 'aside', payload: { message: 'between us' } })
    const transcript = fromSpace(await here.all(here.heard.bot), { self: 'bot' })
    expect(said(transcript.log({ type: 'user' }))).toEqual(['user of ana: Deploy?', 'user of critic: Wait.'])
  })

  test('has nothing of what is hidden but for those who thought it, until it is shown', async () => {
    await using here = await review()
    const run = await here.critic.reason('In the open')
    await run.thought('before')
    await run.hide()
    await run.thought('after')
    const thoughts = async (self: 'bot' | 'critic'): Promise<string[]> => {
      const transcript = fromSpace(await here.all(here.heard[self]), { self, reasoning: 'all' })
      return transcript
        .log({ type: 'reasoning' })
        .map(({ commit }) => commit.content.text)
        .slice(5)
    }
    expect(await thoughts('bot')).toEqual(['In the open'])
    expect(await thoughts('critic')).toEqual(['In the open', 'before', 'after'])
    await run.conclude()
    expect(await thoughts('bot')).toEqual(['In the open', 'before'])
  })

  test('has nothing of what was withheld, was not logged, or says nothing', async () => {
    const thought = (seq: number | undefined, payload: Envelope['payload']): Envelope => ({
      protocol: 'meup/v0.3',
      id: `e${seq ?? 0}`,
      ...(seq !== undefined && { seq }),
      ts: '2026-02-21T10:00:00.000Z',
      from: 'bot',
      kind: 'reasoning.thought',
      context: 'free',
      payload,
    })
    const envelopes = [
      thought(undefined, { message: 'not in the log' }),
      thought(1, { message: '', metadata: { withheld: true } }),
      thought(2, { message: ' ' }),
      thought(3, {}),
      thought(4, { message: 'told' }),
      thought(4, { message: 'told' }),
    ]
    expect(said(fromSpace(envelopes, { self: 'bot' }).log())).toEqual(['reasoning: told'])
    expect(fromSpace([], { self: 'bot' }).compile()).toEqual([])
  })
})

describe('a space that is followed', () => {
  const following = async (space: SpaceClient, seen: EnvelopeRecorder, sender: SpaceClient) => {
    const followed = followSpace(space, { reasoning: 'own' })
    const now = async (): Promise<string[]> => {
      await caughtUp(sender, seen)
      return listPrompt(followed.transcript())
    }
    return { followed, now }
  }

  test('begins anew with a new log, whose numbers begin anew', async () => {
    await using space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'] } })
    const [ana, bot] = [await space.join('ana'), await space.join('bot')]
    const { followed, now } = await following(bot, recordEnvelopes(bot), ana)
    const old = await ana.chat('Deploy?')
    expect(await now()).toEqual(['user user: Deploy?'])
    bot.emit('lost', bot.welcome)
    expect(listPrompt(followed.transcript())).toEqual([])
    bot.emit('envelope', { ...old, id: 'new', seq: 1 })
    expect(listPrompt(followed.transcript())).toEqual(['user user: Deploy?'])
  })

  test('gives what was said up to now, each time anew', async () => {
    await using space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'] } })
    const ana = await space.join('ana')
    await ana.chat('Before')
    const bot = await space.join('bot', { after: 0 })
    const { followed, now } = await following(bot, recordEnvelopes(bot), ana)
    await ana.chat('Deploy?')
    expect(await now()).toEqual(['user user: Before', 'user user: Deploy?'])
    const transcript = followed.transcript({ client: scripted([{ text: 'Yes.' }]) })
    const { text } = await transcript.generate()
    await bot.chat(text)
    expect(await now()).toEqual(['user user: Before', 'user user: Deploy?', 'assistant assistant: Yes.'])
    followed[Symbol.dispose]()
    await ana.chat('After')
    expect(await now()).toHaveLength(3)
  })
})

test('many envelopes are read, and what is remembered is bounded', async () => {
  const many = times(2000, 10_000)
  await using here = await review()
  const [chat] = (await here.all(here.heard.bot)).filter(({ kind }) => kind === 'chat')
  const envelopes = Array.from({ length: many }, (_, index): Envelope => {
    const kind = index % 2 === 0 ? 'chat' : 'reasoning.thought'
    const where = index % 2 === 0 ? {} : { context: 'free' }
    return {
      ...(chat as Envelope),
      ...where,
      kind,
      id: `n${index}`,
      seq: index + 1,
      payload: { message: `${index}` },
    }
  })
  expect(fromSpace(envelopes, { self: 'bot', capacity: 1e9 }).commits).toHaveLength(many)
  const { length } = fromSpace(envelopes, { self: 'bot', capacity: 100_000 }).commits
  expect(length).toBeGreaterThan(100)
  expect(length).toBeLessThan(500)
})
