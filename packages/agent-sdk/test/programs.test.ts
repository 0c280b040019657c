import { ConnectionError, connect, ProtocolError, readEnvironment, type SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { testToken } from '@meup/gateway/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from './support/eventually.js'
import { standing } from './support/standing.js'

const participants = { ana: ['*'], bot: ['*'], other: ['*'] }

async function here(options: object = {}) {
  const space = await createTestSpace({ participants, ...options })
  onTestFinished(() => space.close())
  const join = (as: string, session?: string): Promise<SpaceClient> =>
    space.join(as, session === undefined ? {} : { session })
  return { join, ana: await join('ana') }
}

/** Opens a run for each question, and never ends it. */
function think(client: SpaceClient): Promise<void> {
  return new Promise((resolve) => {
    const answering = client.answer(async (turn) => {
      await turn.reason('Hm')
      resolve()
      await new Promise(() => {})
    })
    answering.catch(() => {}) // Rejects when the client is closed.
  })
}

async function* endless(): AsyncGenerator<string, void> {
  yield 'half an '
  await new Promise(() => {})
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it resolved',
    (error: unknown) => error,
  )
const ended = { name: 'ConnectionError', code: 'program_ended', message: 'bot stopped: its program ended' }

describe('a question', () => {
  test('is rejected at once when the program that thinks about it ends', async () => {
    const { join, ana } = await here()
    const bot = await join('bot', 's1')
    const thinking = think(bot)
    const answer = rejection(ana.ask('why?', { to: ['bot'] }))
    await thinking
    bot.close()
    expect(await answer).toMatchObject(ended)
    expect((await answer) as ConnectionError).toMatchObject({
      retryable: true,
      hint: expect.stringMatching(/again/),
    })
  })

  test('to everyone is, when nobody else thinks about it', async () => {
    const { join, ana } = await here()
    const [bot, other] = [await join('bot', 's1'), await join('other', 's2')]
    const both = [think(bot), think(other)]
    const answer = rejection(ana.ask('why?'))
    await Promise.all(both)
    let isOver = false
    void answer.then(() => {
      isOver = true
    })
    bot.close()
    await eventually(() => expect(ana.participants.find(({ id }) => id === 'bot')?.status).toBe('away'))
    expect(isOver).toBe(false)
    other.close()
    expect(await answer).toMatchObject({ ...ended, message: 'other stopped: its program ended' })
  })

  test('to two waits for the other one', async () => {
    const { join, ana } = await here()
    const [bot, other] = [await join('bot', 's1'), await join('other', 's2')]
    const thinking = think(bot)
    const answer = ana.ask('why?', { to: ['bot', 'other'] })
    await thinking
    bot.close()
    await eventually(() => expect(ana.participants.find(({ id }) => id === 'bot')?.status).toBe('away'))
    void other.answer((turn) => turn.reply('so'))
    expect((await answer).text).toBe('so')
  })

  test('is rejected though its program has begun no run', async () => {
    const { join, ana } = await here()
    const bot = await join('bot', 's1')
    const asked = new Promise<void>((resolve) => {
      void bot.answer(async () => {
        resolve()
        await new Promise(() => {})
      })
    })
    const answer = rejection(ana.ask('why?', { to: ['bot'] }))
    await asked
    bot.close()
    expect(await answer).toMatchObject(ended)
  })

  test.each([
    ['the front desk', { frontDesk: 'bot' }],
    ['everyone', {}],
  ])('to %s is rejected though no program has begun a run', async (_, options) => {
    const { join, ana } = await here(options)
    const bot = await join('bot', 's1')
    const asked = new Promise<void>((resolve) => {
      const answering = bot.answer(async (turn) => {
        resolve()
        await turn.reply(endless())
      })
      answering.catch(() => {}) // Rejects when the client is closed.
    })
    const answer = rejection(ana.ask('why?'))
    await asked
    bot.close()
    expect(await answer).toMatchObject(ended)
  })

  test('that was not asked with ask() is announced as unanswered', async () => {
    const { join, ana } = await here({ frontDesk: 'bot' })
    const bot = await join('bot', 's1')
    const lost: object[] = []
    ana.on('unanswered', (message) => void lost.push(message))
    const { id } = await ana.chat('why?')
    await ana.chat('and you?', { mention: 'other' })
    bot.close()
    await expect.poll(() => lost).toEqual([{ id, agent: 'bot' }])
  })

  test('is rejected when another program takes over, and the next one is answered by that', async () => {
    const { join, ana } = await here()
    const first = await join('bot', 's1')
    const thinking = think(first)
    const answer = rejection(ana.ask('why?', { to: ['bot'] }))
    await thinking
    const second = await join('bot', 's2')
    void second.answer((turn) => turn.reply('now'))
    expect(await answer).toMatchObject(ended)
    expect((await ana.ask('and now?', { to: ['bot'] })).text).toBe('now')
  })
})

describe('a call', () => {
  test('rejects when the program of its participant ends, unless another may answer', async () => {
    const { join, ana } = await here()
    const bot = await join('bot', 's1')
    const called = new Promise<void>((resolve) => {
      bot.tool('hang', {}, () => {
        resolve()
        return new Promise(() => {})
      })
    })
    const call = rejection(ana.call('bot/hang'))
    await called
    bot.close()
    expect(await call).toMatchObject(ended)
    expect(await call).toBeInstanceOf(ConnectionError)
  })
})

describe('a program that another one replaces', () => {
  test('ends, does not come back, and says why', async () => {
    const { join } = await here()
    const first = await join('bot', 's1')
    const tries: number[] = []
    first.on('reconnecting', (inMs) => tries.push(inMs))
    const closed = new Promise<Error | undefined>((resolve) => first.on('closed', resolve))
    await join('bot', 's2')
    const error = await closed
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code: 'session_replaced', retryable: false })
    expect(error?.message).toMatch(/another program has joined as bot/)
    expect(tries).toEqual([])
    await expect(join('bot', 's1')).rejects.toMatchObject({ code: 'session_replaced' })
  })

  test('is refused over a real socket before that is opened', async () => {
    await using gateway = await standing({ participants })
    const { url } = gateway
    const enter = (session: string) => connect({ url, space: 'test', token: testToken('bot'), session })
    const first = await enter('s1')
    const closed = new Promise((resolve) => first.on('closed', resolve))
    const second = await enter('s2')
    expect(await closed).toMatchObject({ code: 'session_replaced' })
    await expect(enter('s1')).rejects.toMatchObject({ code: 'session_replaced', retryable: false })
    second.close()
  })
})

describe('the session of a process', () => {
  const where = { url: 'http://127.0.0.1:1', space: 'demo', token: 'x', transcripts: '/tmp' }

  test('is one for all its connections, unless it is named', () => {
    const { session } = readEnvironment(where, {})
    expect(session).toMatch(/^[\w-]{1,64}$/)
    expect(readEnvironment(where, {}).session).toBe(session)
    expect(readEnvironment(where, { MEUP_SESSION: 'env' }).session).toBe('env')
    expect(readEnvironment({ ...where, session: 'own' }, { MEUP_SESSION: 'env' }).session).toBe('own')
    expect(readEnvironment({ ...where, session: false }, { MEUP_SESSION: 'env' })).not.toHaveProperty(
      'session',
    )
  })
})
