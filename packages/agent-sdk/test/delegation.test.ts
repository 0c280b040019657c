import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { TestSpaceOptions } from '@meup/gateway/testing'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { awayError, timeoutError } from '../src/client/errors.js'

type Handler = (turn: Turn) => Promise<unknown>

/** A space with two people and several agents. Each agent answers with its handler. */
async function team(agents: Readonly<Record<string, Handler>>, options: Partial<TestSpaceOptions> = {}) {
  const ids = ['ana', 'eve', ...Object.keys(agents)]
  const participants = Object.fromEntries(ids.map((id) => [id, ['*']]))
  const kinds = {
    ana: { kind: 'human', capabilities: ['*'] },
    eve: { kind: 'human', capabilities: ['*'] },
  }
  const space = await createTestSpace({ participants: { ...participants, ...kinds }, ...options })
  onTestFinished(() => space.close())
  const [ana, eve] = [await space.join('ana'), await space.join('eve')]
  const clients = new Map<string, SpaceClient>()
  const errors: unknown[] = []
  for (const [id, handler] of Object.entries(agents)) {
    const client = await space.join(id)
    clients.set(id, client)
    void client.answer(handler, { onError: (error) => errors.push(error) })
  }
  return { space, ana, eve, clients, errors, anaReads: read(ana), eveReads: read(eve) }
}

const thinks: Handler = async (turn) => {
  const run = await turn.reason('reading it')
  await run.thought('the second line is wrong')
  await run.conclude('done', { metadata: { model: 'tiny', tokens: { input: 7, output: 2 } } })
  await turn.reply(`about "${turn.text}": change the second line`)
}

function read(client: SpaceClient): AnyEnvelope[] {
  const all: AnyEnvelope[] = []
  client.on('envelope', (envelope) => void all.push(envelope))
  return all
}

/** Waits until a reader has received all envelopes of a sender. */
async function caughtUp(sender: SpaceClient, reader: readonly AnyEnvelope[]): Promise<void> {
  const { id } = await sender.send({ kind: 'test.fence' })
  await expect.poll(() => reader.some((each) => each.id === id)).toBe(true)
}

const said = ({ from, payload }: AnyEnvelope): string => `${from}: ${String(Object(payload).message)}`
const chats = (envelopes: readonly AnyEnvelope[]): string[] =>
  envelopes.filter(({ kind, context }) => kind === Kind.chat && context === undefined).map(said)
const thoughts = (envelopes: readonly AnyEnvelope[], of: string): string[] =>
  envelopes
    .filter(({ kind, from }) => kind === Kind.reasoningThought && from === of)
    .map(({ payload }) => String(Object(payload).message))

describe('an agent that asks another one', () => {
  const desk: Handler = async (turn) => {
    await turn.reason('I have it checked', async () => {
      const { text, from } = await turn.ask('reviewer', 'is the draft right?')
      await turn.reply(`${from} says: ${text}`)
    })
  }

  test('gets its answer, which its own asker does not take for an answer', async () => {
    const { ana, anaReads } = await team({ desk, reviewer: thinks })
    const { from, text } = await ana.ask('check it', { mention: 'desk' })
    expect([from, text]).toEqual([
      'desk',
      'reviewer says: about "is the draft right?": change the second line',
    ])
    const asked = anaReads.find((each) => said(each) === 'desk: is the draft right?')
    const question = anaReads.find((each) => said(each) === 'ana: check it')
    expect(asked).toMatchObject({ correlationId: question?.id, payload: { mentions: ['reviewer'] } })
    expect(asked?.context).toBeUndefined()
  })

  test('shows its thoughts, its answer and what that cost in its own run', async () => {
    const { ana, anaReads } = await team({ desk, reviewer: thinks })
    await ana.ask('check it', { mention: 'desk' })
    expect(thoughts(anaReads, 'desk')).toEqual([
      'Asked reviewer: is the draft right?',
      'reviewer: reading it',
      'reviewer: the second line is wrong',
      'reviewer: done',
      'reviewer answered: about "is the draft right?": change the second line',
    ])
    const end = anaReads.find((each) => said(each).startsWith('desk: reviewer answered'))
    expect(end?.payload).toMatchObject({ metadata: { model: 'tiny', tokens: { input: 7, output: 2 } } })
  })

  test('asks in private where it was asked in private', async () => {
    const { ana, anaReads, eveReads } = await team({ desk, reviewer: thinks })
    await ana.ask('check it', { to: ['desk'] })
    await caughtUp(ana, eveReads)
    expect(chats(eveReads)).toEqual([])
    expect(thoughts(eveReads, 'desk')).toEqual([])
    expect(thoughts(eveReads, 'reviewer')).toEqual([])
    expect(chats(anaReads)).toEqual([
      'ana: check it',
      'desk: reviewer says: about "is the draft right?": change the second line',
    ])
    expect(thoughts(anaReads, 'desk')).toContain('reviewer: the second line is wrong')
  })

  test('does without a run', async () => {
    const { ana } = await team({
      desk: async (turn) => turn.reply((await turn.ask('reviewer', 'well?')).text),
      reviewer: (turn) => turn.reply('yes'),
    })
    expect((await ana.ask('is it?', { mention: 'desk' })).text).toBe('yes')
  })

  test.for<[string, Handler | undefined, string]>([
    ['that is away', undefined, awayError('reviewer', false).message],
    ['that is slow', () => new Promise(() => {}), timeoutError('answer', 50).message],
  ])('%s reads why it has no answer', async ([, reviewer, why]) => {
    const cancelled: AnyEnvelope[] = []
    const slow: Handler = async (turn) => {
      const found = await turn
        .ask('reviewer', 'well?', { timeoutMs: 50 })
        .catch((error: Error) => error.message)
      await turn.reply(String(found))
    }
    const { ana } = await team(
      { desk: slow, ...(reviewer && { reviewer }) },
      { ...roomOf(['desk', 'reviewer']) },
    )
    ana.on('envelope', (envelope) => void (envelope.kind === Kind.chatCancel && cancelled.push(envelope)))
    expect((await ana.ask('is it?', { mention: 'desk' })).text).toContain(why)
    expect(cancelled.map(({ from }) => from)).toEqual(reviewer ? ['desk'] : [])
  })

  test('that fails reads that', async () => {
    const { ana } = await team({
      desk: async (turn) => {
        const { noAnswer, text } = await turn.ask('reviewer', 'well?')
        await turn.reply(`${noAnswer}: ${text}`)
      },
      reviewer: () => Promise.reject(new Error('out of ink')),
    })
    expect((await ana.ask('is it?', { mention: 'desk' })).text).toBe('failed: I could not answer: out of ink')
  })

  test('takes its question back when its own asker does', async () => {
    const stopped: string[] = []
    const { ana, anaReads } = await team({
      desk,
      reviewer: (turn) =>
        new Promise((resolve) =>
          turn.signal.addEventListener('abort', () => resolve(stopped.push(String(turn.signal.reason)))),
        ),
    })
    const asked = ana.ask('check it', { mention: 'desk', id: 'first' })
    asked.catch(() => {})
    await expect.poll(() => chats(anaReads)).toContain('desk: is the draft right?')
    await ana.send({ kind: Kind.chatCancel, correlationId: 'first' })
    await expect.poll(() => stopped).toEqual(['no one waits for the answer any more'])
  })
})

const roomOf = (agents: readonly string[]): Pick<TestSpaceOptions, 'participants'> => ({
  participants: Object.fromEntries(
    ['ana', 'eve', ...agents].map((id) => [
      id,
      { kind: agents.includes(id) ? 'agent' : 'human', capabilities: ['*'] },
    ]),
  ),
})

describe('an agent that hands a question over', () => {
  const desk: Handler = (turn) => turn.handOver('reviewer', 'this is about drafts')

  test.for([{ mention: 'desk' }, { to: ['desk'] }])(
    'leaves the answer to the other one: %j',
    async (place) => {
      const { ana, anaReads, eveReads } = await team({
        desk,
        reviewer: (turn) => turn.reply(`I: ${turn.text}`),
      })
      const { from, text, id } = await ana.ask('is it right?', { ...place, id: 'first' })
      const message = 'this is about drafts\n\nana asked: is it right?'
      expect([from, text]).toEqual(['reviewer', `I: ${message}`])
      const handed = anaReads.find(({ from }) => from === 'desk')
      expect(handed).toMatchObject({
        correlationId: ['first'],
        payload: { message, mentions: ['reviewer'], handOver: true },
      })
      const answer = anaReads.find((each) => each.id === id)
      expect(answer?.correlationId).toEqual([handed?.id, 'first'])
      await caughtUp(ana, eveReads)
      expect(chats(eveReads)).toHaveLength('to' in place ? 0 : 3)
    },
  )

  test('has it followed from agent to agent', async () => {
    const { ana } = await team({
      desk,
      reviewer: (turn) => turn.handOver('expert', 'too hard for me'),
      expert: (turn) => turn.reply(`at last: ${turn.text}`),
    })
    const { from, text } = await ana.ask('is it right?', { mention: 'desk' })
    expect(from).toBe('expert')
    expect(text).toBe('at last: too hard for me\n\nthis is about drafts\n\nana asked: is it right?')
  })

  test('back and forth comes to an end, of which its asker reads', async () => {
    const { ana, anaReads } = await team(
      { desk, reviewer: (turn) => turn.handOver('desk') },
      { ...roomOf(['desk', 'reviewer']), limits: { agentHops: 4 } },
    )
    const { noAnswer, text } = await ana.ask('is it right?', { mention: 'desk' })
    expect(noAnswer).toBe('failed')
    expect(text).toMatch(/^I could not answer: 4 chats went from agent to agent/)
    expect(anaReads.filter(({ payload }) => Object(payload).handOver === true)).toHaveLength(5)
  })

  test('asks nothing of an agent whose question it was', async () => {
    const turns: string[] = []
    const { ana } = await team({
      boss: async (turn) => {
        turns.push(turn.text)
        await turn.reply((await turn.ask('desk', 'is it right?')).text)
      },
      desk,
      reviewer: (turn) => turn.reply('it is'),
    })
    expect((await ana.ask('well?', { mention: 'boss' })).text).toBe('it is')
    expect(turns).toEqual(['well?'])
  })
})

test('of four agents, the front desk alone answers what names nobody', async () => {
  const says: Handler = (turn) => turn.reply('yes')
  const agents = { desk: says, ben: says, cem: says, dan: says }
  const { ana, anaReads } = await team(agents, { frontDesk: 'desk' })
  await ana.ask('anybody?')
  await ana.ask('ben?', { mention: 'ben' })
  expect(chats(anaReads)).toEqual(['ana: anybody?', 'desk: yes', 'ana: ben?', 'ben: yes'])
})

test('an agent of all answers beside the front desk', async () => {
  const { space, ana, anaReads } = await team(
    { desk: (turn) => turn.reply('yes') },
    { ...roomOf(['desk', 'ben']), frontDesk: 'desk' },
  )
  void (await space.join('ben')).answer((turn) => turn.reply('me too'), { answers: 'all' })
  await ana.chat('anybody?')
  await expect.poll(() => chats(anaReads).toSorted()).toEqual(['ana: anybody?', 'ben: me too', 'desk: yes'])
})

describe('a draft that another agent reviews', () => {
  test('is written anew until it is approved', async () => {
    const remarks: (string | undefined)[] = []
    const { ana } = await team({
      desk: async (turn) => {
        const write = (said: string | undefined): string => {
          remarks.push(said)
          return `draft ${remarks.length}`
        }
        const { text, isApproved } = await turn.review(write, { by: 'reviewer', rounds: 3 })
        await turn.reply(`${text} ${isApproved}`)
      },
      reviewer: (turn) => turn.reply(turn.text.endsWith('draft 2') ? '**Approved.**' : 'too short'),
    })
    expect((await ana.ask('write', { mention: 'desk' })).text).toBe('draft 2 true')
    expect(remarks).toEqual([undefined, 'too short'])
  })

  test.for([
    ['Approved', true],
    ['approved, with thanks', true],
    ['LGTM!', true],
    ['> approve', true],
    ['approved if you change line 2', false],
    ['Not approved', false],
    ['This cannot be approved.', false],
    ['', false],
  ])('with "%s" is approved: %s', async ([verdict, expected]) => {
    const { ana } = await team({
      desk: async (turn) => {
        const { isApproved, remarks } = await turn.review('a draft', { by: 'reviewer' })
        await turn.reply(JSON.stringify([isApproved, remarks ?? null]))
      },
      reviewer: (turn) => turn.reply(String(verdict)),
    })
    const { text } = await ana.ask('write', { mention: 'desk' })
    expect(JSON.parse(text)).toEqual([expected, expected ? null : verdict])
  })
})
