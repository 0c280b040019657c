import type { Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test, vi } from 'vitest'

/** A space in which callbacks of bot can fail, with the errors that bot reports. */
async function stage() {
  const space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'], desk: ['*'] } })
  onTestFinished(() => space.close())
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  const [ana, bot, desk] = [await space.join('ana'), await space.join('bot'), await space.join('desk')]
  const reported: unknown[] = []
  bot.on('requestError', (error) => reported.push(String(error)))
  const ask = async (text: string): Promise<string> => (await ana.ask(text, { to: ['bot'] })).text
  return {
    ana,
    bot,
    desk,
    ask,
    reported,
    printed: () => printed.mock.calls.map((each) => each.map(String).join(' ')),
  }
}

const fail = (): never => {
  throw new Error('of a callback')
}

test('a listener that throws, or whose promise fails, is reported; answers go on', async () => {
  const { bot, ask, printed } = await stage()
  bot.on('envelope', fail)
  bot.on('envelope', async () => fail())
  bot.answer((turn) => turn.reply('here')).catch(fail)
  expect(await ask('there?')).toBe('here')
  await expect
    .poll(() => printed().filter((line) => line.includes('of a callback')).length)
    .toBeGreaterThan(1)
})

test('a trigger that throws begins no turn, is reported, and is asked again', async () => {
  const { ana, bot, ask, reported } = await stage()
  bot
    .answer((turn) => turn.reply('here'), {
      answers: ({ payload }) => (payload.message === 'odd' ? fail() : true),
    })
    .catch(fail)
  await ana.chat('odd', { to: ['bot'] })
  expect(await ask('there?')).toBe('here')
  expect(reported).toContain('Error: of a callback')
})

test('an onOpen that throws is reported, and its turn is answered', async () => {
  const { bot, ask } = await stage()
  const failed: unknown[] = []
  bot
    .answer((turn) => turn.reply('here'), { onOpen: fail, onError: (error) => failed.push(String(error)) })
    .catch(fail)
  expect(await ask('there?')).toBe('here')
  expect(failed).toEqual(['Error: of a callback'])
})

test('progress and questions whose callbacks throw end the call of nobody', async () => {
  const { bot, desk, reported } = await stage()
  desk.tool('work', {}, (_, { progress }) => {
    progress(1, 2)
    return 'done'
  })
  expect((await bot.call('desk/work', {}, { onProgress: fail, onNotification: fail })).text).toBe('done')
  expect((await bot.call('desk/work', {})).text).toBe('done')
  expect(reported).toContain('Error: of a callback')
})

test('an agent answers after its handler threw, at once, later and in its stream', async () => {
  const { bot, ask } = await stage()
  const handlers: ((turn: Turn) => Promise<unknown>)[] = [
    fail,
    async () => fail(),
    async (turn) => {
      turn.write().push('so far')
      await turn.reason('Thinking', fail)
    },
  ]
  bot
    .answer((turn) => (handlers.shift() ?? ((each: Turn) => each.reply('here')))(turn), { onError: () => {} })
    .catch(fail)
  for (const _ of [1, 2, 3]) expect(await ask('there?')).toBe('I could not answer: of a callback')
  expect(await ask('there?')).toBe('here')
})
