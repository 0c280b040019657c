import { memoryStore } from '@meup/gateway'
import { testSpaceConfig } from '@meup/gateway/testing'
import { defaultLimits } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { type Client, ofKind, range, type Sent } from './client.js'
import { start } from './support.js'

const participants = { ana: ['*'], red: ['*'], blue: ['*'], tool: ['*'] }
const agentHops = 3
const chat = (correlationId?: string | string[]): Sent => ({
  kind: 'chat',
  ...(correlationId !== undefined && { correlationId }),
  payload: { message: 'as I said' },
})

const tooFar = { code: 'rate_limited', details: { class: 'chat', limit: 'agentHops' } }

async function agents(options: Partial<Parameters<typeof start>[0]> = {}) {
  const running = await start({ participants, humans: ['ana'], limits: { agentHops }, ...options })
  const [ana, red, blue] = [
    await running.connect('ana'),
    await running.connect('red'),
    await running.connect('blue'),
  ]
  return { ...running, ana, red, blue }
}

/** Sends `times` chats in turns, each answering the previous one; `first` begins. Returns the id of the last chat. */
async function exchange([first, second]: [Client, Client], times: number, answered: string): Promise<string> {
  let last = answered
  for (const count of range(1, times)) {
    const { id } = await (count % 2 === 1 ? first : second).accepted(chat(last))
    last = id
  }
  return last
}

/**
 * Lets the agents red and blue answer each other until the limit of such chats is reached, so that red's next chat is refused.
 */
async function exhausted(options: Partial<Parameters<typeof start>[0]> = {}) {
  const running = await agents(options)
  const { red, blue } = running
  const { id } = await red.accepted(chat())
  const last = await exchange([blue, red], agentHops, id)
  expect(await red.refused(chat(last))).toMatchObject(tooFar)
  return { ...running, last }
}

describe('agents that answer each other', () => {
  test('go so far and no further, until a human speaks', async () => {
    const { ana, red, blue, last } = await exhausted()
    const refusal = await red.refused(chat(last))
    expect(refusal).not.toHaveProperty('retryAfterMs')
    expect(refusal.message).toBe(fillIn(texts.hops, { chats: 3 }))
    await ana.accepted(chat())
    const again = await exchange([red, blue], agentHops, last)
    expect(await blue.refused(chat(again))).toMatchObject(tooFar)
  })

  test(`go ${defaultLimits.agentHops} chats far where nothing else is said`, async () => {
    const { red, blue } = await agents({ limits: {} })
    const { id } = await red.accepted(chat())
    const last = await exchange([blue, red], defaultLimits.agentHops, id)
    expect(await blue.refused(chat(last))).toMatchObject(tooFar)
  })

  test('may do all else meanwhile, and say what answers nobody', async () => {
    const { red, blue, last } = await exhausted()
    await red.accepted({ kind: 'chat.acknowledge', correlationId: last })
    await red.accepted({ kind: 'reasoning.start', correlationId: last })
    await red.accepted({ kind: 'mcp.request', correlationId: last, payload: { method: 'ping' } })
    await red.accepted(chat('no-chat'))
    const { id } = await red.accepted(chat())
    await blue.accepted(chat(id))
  })

  test('count the furthest of several', async () => {
    const { red, blue, last } = await exhausted()
    const { id } = await blue.accepted(chat())
    expect(await red.refused(chat([id, last]))).toMatchObject(tooFar)
    await red.accepted(chat(id))
  })

  test('gain nothing by answering themselves', async () => {
    const { red, blue, last } = await exhausted()
    const { id } = await blue.accepted(chat(last))
    expect(await red.refused(chat(id))).toMatchObject(tooFar)
  })

  test('are as far in contexts as elsewhere', async () => {
    const { red, last } = await exhausted()
    expect(await red.refused({ ...chat(last), context: 'run' })).toMatchObject(tooFar)
  })

  test('get what they have said before acknowledged once more', async () => {
    const { red, blue } = await agents({ limits: { agentHops: 1 } })
    const { id } = await red.accepted(chat())
    const answer = await blue.accepted({ id: 'answer', ...chat(id) })
    expect(await red.refused(chat('answer'))).toMatchObject(tooFar)
    expect(await blue.accepted({ id: 'answer', ...chat(id) })).toEqual(answer)
  })
})

describe('an agent that asks another by name, and answers nothing', () => {
  const asking = (to: string[], mentions?: string[]): Sent => ({
    kind: 'chat',
    to,
    payload: { message: 'well?', ...(mentions && { mentions }) },
  })
  const mentioning = (...mentions: string[]): Sent => ({
    kind: 'chat',
    payload: { message: 'well?', mentions },
  })

  test.each([
    ['by a mention', mentioning('blue')],
    ['by its address', asking(['blue'])],
    ['beside a human', mentioning('ana', 'blue')],
    ['by both', asking(['ana', 'blue'], ['blue'])],
  ])('%s, goes one further than the last chat of any agent', async (_, question) => {
    const { ana, red, blue } = await agents()
    await blue.accepted(chat())
    for (const _ of range(1, agentHops)) await red.accepted(question)
    expect(await red.refused(question)).toMatchObject(tooFar)
    expect(await blue.refused(mentioning('red'))).toMatchObject(tooFar)
    await ana.accepted(chat())
    await red.accepted(question)
  })

  test.each([
    ['a human', mentioning('ana')],
    ['itself', mentioning('red')],
    ['nobody', mentioning()],
    ['an agent in a run, where it asks nothing', { ...mentioning('blue'), context: 'aside' }],
  ])('goes nowhere by naming %s', async (_, question) => {
    const { red } = await exhausted()
    await red.accepted(question)
  })

  test('counts what another agent said last', async () => {
    const { red } = await exhausted()
    expect(await red.refused(mentioning('blue'))).toMatchObject(tooFar)
  })

  test('counts on after a restart', async () => {
    const spaces = new Map()
    const first = await exhausted({ store: memoryStore(spaces) })
    await first.close()
    const { red } = await agents({ store: memoryStore(spaces) })
    expect(await red.refused(mentioning('blue'))).toMatchObject(tooFar)
  })
})

describe('all begins anew', () => {
  test('with any chat by a human, and with nothing else that one sends', async () => {
    const { ana, red, last } = await exhausted()
    await ana.accepted({ kind: 'chat.acknowledge', correlationId: last })
    await ana.accepted({ kind: 'reasoning.start' })
    expect(await red.refused(chat(last))).toMatchObject(tooFar)
    await ana.accepted({ ...chat(), to: ['tool'], context: 'aside' })
    await red.accepted(chat(last))
  })

  test('with the chat of a guest', async () => {
    const { dial, red, last } = await exhausted({ guest: { capabilities: ['chat'] } })
    const guest = await dial({})
    await guest.accepted(chat())
    await red.accepted(chat(last))
  })

  test('for an agent that a tool has answered, with its next chat', async () => {
    const { red, blue, connect, last } = await exhausted()
    const tool = await connect('tool')
    const ask = { id: 'ask', kind: 'mcp.request', to: ['tool'], payload: { method: 'ping' } }
    await red.accepted(ask)
    expect(await red.refused(chat(last))).toMatchObject(tooFar)
    await tool.accepted({ kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    const other = await blue.accepted(chat(last))
    const { id } = await red.accepted(chat(other.id))
    // The tool's response has allowed red this chat. After it the two may send `agentHops` chats again, and red's next is
    // refused.
    const again = await exchange([blue, red], agentHops, id)
    expect(await red.refused(chat(again))).toMatchObject(tooFar)
  })

  test('not for an agent that has answered somebody, or itself', async () => {
    const { ana, red, last } = await exhausted()
    for (const asker of [ana, red]) {
      const { id } = await asker.accepted({ kind: 'mcp.request', to: ['red'], payload: { method: 'ping' } })
      await red.accepted({ kind: 'mcp.response', correlationId: id, payload: { result: {} } })
      expect(await red.refused(chat(last))).toMatchObject(tooFar)
    }
  })
})

test('humans answer each other and agents as long as they like', async () => {
  const { ana, red, post } = await agents({ humans: ['ana', 'tool'] })
  let { id } = await red.accepted(chat())
  for (const _ of range(1, 3 * agentHops)) {
    ;({ id } = await ana.accepted(chat(id)))
    expect(await post('tool', { ...chat(id), id: `${id}-2` })).toMatchObject({ status: 201 })
    ;({ id } = await red.accepted(chat(`${id}-2`)))
  }
})

test('whoever the operator makes a human is one at once', async () => {
  const { gateway, red, blue, last } = await exhausted()
  const config = testSpaceConfig({ participants, limits: { agentHops } })
  const changed = Object.fromEntries(
    Object.entries(config.participants).map(([id, each]) => [
      id,
      { ...each, kind: id === 'red' ? 'human' : 'agent' },
    ]),
  )
  await gateway.reconfigure([{ ...config, participants: changed }])
  await red.accepted(chat(last))
  await blue.accepted(chat(last))
})

test('how far they went outlives the gateway', async () => {
  const spaces = new Map()
  const first = await exhausted({ store: memoryStore(spaces) })
  const { last } = first
  await first.close()
  const { red, blue } = await agents({ store: memoryStore(spaces) })
  expect(await red.refused(chat(last))).toMatchObject(tooFar)
  const { id } = await blue.accepted(chat())
  await red.accepted(chat(id))
})

test('whoever was invited is an agent', async () => {
  const { ana, red, dial } = await agents({ limits: { agentHops: 1 } })
  await ana.accepted({ kind: 'space.invite', payload: { participantId: 'green', capabilities: ['chat'] } })
  const { token } = (await ana.next(ofKind('space.invite-ack'))).payload as { token: string }
  const green = await dial({ token })
  const { id } = await red.accepted(chat())
  const answer = await green.accepted(chat(id))
  expect(await red.refused(chat(answer.id))).toMatchObject(tooFar)
  await green.accepted(chat())
  expect(await red.refused(chat(answer.id))).toMatchObject(tooFar)
})
