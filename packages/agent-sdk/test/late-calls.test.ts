import { createTestSpace } from '@meup/agent-sdk/testing'
import { defaultLimits, Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { recordEnvelopes } from './support/record-envelopes.js'

test('a call that nobody waits for any more is not sent when the rate allows it', async () => {
  const rates = { ...defaultLimits.rates, mcp: { perSecond: 0.5, burst: 1 } }
  const participants = { ana: ['*'], bot: ['*'] }
  const space = await createTestSpace({ participants, limits: { rates } })
  onTestFinished(() => space.close())
  const [ana, bot] = [await space.join('ana'), await space.join('bot')]
  const heard = recordEnvelopes(ana)
  let calls = 0
  ana.tool('count', {}, () => `${++calls}`)
  expect((await bot.call('ana/count', {})).text).toBe('1')
  await expect(bot.call('ana/count', {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'timeout' })
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(calls).toBe(1)
  expect(heard.all.filter(({ kind, from }) => kind === Kind.mcpRequest && from === 'bot')).toHaveLength(1)
})
