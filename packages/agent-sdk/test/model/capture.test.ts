import { scriptedModel } from '@meup/agent-sdk/ai'
import { type Dial, SpaceClient } from '@meup/agent-sdk/internal'
import { type EnvelopeLog, type LogStore, memoryStore } from '@meup/gateway'
import { createTestGateway, dialInMemory, fetchInMemory, testToken } from '@meup/gateway/testing'
import { describe, expect, onTestFinished } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { adding, answering, listStory, stage } from './stage.js'

const script = [[{ reasoning: 'I add them.' }, ...adding({ a: 2, b: 3 })], answering('5')]
const provider = 'openai.responses'
const acting = ['chat', 'mcp.request']

describe('an agent answers', () => {
  verifies('I12', 'though it may not reason aloud', async () => {
    await using here = await stage(script, { provider, capabilities: acting })
    expect(await here.ask()).toBe('5')
    expect(listStory(here.heard)).toEqual(['mcp.request add: I add them.', 'chat: 5'])
    expect(here.troubles).toMatchObject([{ code: 'capability_violation' }])
  })

  verifies('I12', 'though its thoughts and its conclusion are refused', async () => {
    await using here = await stage(script, { provider, capabilities: [...acting, 'reasoning.start'] })
    expect(await here.ask()).toBe('5')
    expect(listStory(here.heard).slice(0, 3)).toEqual([
      'reasoning.start',
      'mcp.request add: I add them.',
      'chat: 5',
    ])
    for (const error of here.troubles) expect(error).toMatchObject({ code: 'capability_violation' })
    expect(here.troubles.length).toBeGreaterThanOrEqual(2)
  })

  verifies('I12', 'that it cannot, though the end of its run is refused', async () => {
    const failing = [[{ reasoning: 'Hm.' }, { error: { message: 'Overloaded' } }]]
    await using here = await stage(failing, { provider, capabilities: [...acting, 'reasoning.start'] })
    expect(await here.ask()).toBe('I could not answer: script of openai failed: Overloaded')
  })

  verifies('I12', 'though the store throws at all that it reasons', async () => {
    const gateway = await createTestGateway({
      participants: { ana: ['*'], bot: ['*'] },
      store: failing(memoryStore(), (kind) => kind.startsWith('reasoning.')),
    })
    onTestFinished(() => gateway.close())
    const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
    const enter = async (id: string): Promise<SpaceClient> => {
      const where = { url: 'http://memory', space: 'test', fetch: fetchInMemory(gateway) }
      const seat = await SpaceClient.open(dial, { ...where, token: testToken(id) })
      onTestFinished(() => seat.close())
      return seat
    }
    const [ana, bot] = [await enter('ana'), await enter('bot')]
    const troubles: unknown[] = []
    const model = scriptedModel(script.slice(1), { provider })
    void bot.agent({ model, onError: (error) => troubles.push(error) })
    expect((await ana.ask('What is 2 + 3?', { to: ['bot'] })).text).toBe('5')
    expect(troubles).toMatchObject([{ code: 'unavailable' }])
  })
})

/** A store that throws when an envelope of a refused kind is appended. */
function failing(inner: LogStore, isRefused: (kind: string) => boolean): LogStore {
  const open = async (space: string): Promise<EnvelopeLog> => {
    const log = await inner.open(space)
    const append: EnvelopeLog['append'] = async (batch) => {
      if (batch.some(({ kind }) => isRefused(kind))) throw new Error('the disk is full')
      await log.append(batch)
    }
    return Object.assign(Object.create(log) as EnvelopeLog, { append })
  }
  return { open, close: () => inner.close() }
}
