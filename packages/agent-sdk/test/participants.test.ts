import { type Dial, SpaceClient } from '@meup/agent-sdk/internal'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'

import { eventually } from './support/eventually.js'

const participants = { ana: ['*', 'observe.targeted'], bot: ['*'] }

async function cast() {
  const gateway = await createTestGateway({ participants })
  const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
  const clients: SpaceClient[] = []
  const join = async (participant: string): Promise<SpaceClient> => {
    const request = { url: 'memory:', space: 'test', token: testToken(participant) }
    const client = await SpaceClient.open(dial, request)
    clients.push(client)
    return client
  }
  const close = async (): Promise<void> => {
    await gateway.close()
    for (const client of clients) client.close()
  }
  return { gateway, join, ana: await join('ana'), [Symbol.asyncDispose]: close }
}

const stateOf = ({ participants }: SpaceClient, wanted: string): object | undefined => {
  const { id: _, kind: __, capabilities: ___, ...state } = participants.find(({ id }) => id === wanted) ?? {}
  return state
}

describe('the participants that a client knows', () => {
  test('have a kind, and come and go', async () => {
    await using here = await cast()
    const { ana, join } = here
    expect(ana.participants).toMatchObject([
      { id: 'ana', kind: 'agent', status: 'present' },
      { id: 'bot', kind: 'agent', status: 'away' },
    ])
    const bot = await join('bot')
    await eventually(() => expect(stateOf(ana, 'bot')).toEqual({ status: 'present' }))
    await bot.close()
    await eventually(() => expect(stateOf(ana, 'bot')).toEqual({ status: 'away' }))
  })

  test('are paused for so long, without any envelope that ends it', async () => {
    await using here = await cast()
    const { ana } = here
    await ana.pause(['bot'], { timeoutSeconds: 0.5 })
    expect(stateOf(ana, 'bot')).toMatchObject({ paused: { by: 'ana' } })
    await eventually(() => expect(stateOf(ana, 'bot')).toEqual({ status: 'away' }))
  })

  test('are known to be paused and kicked by who comes later', async () => {
    await using here = await cast()
    const { ana, join } = here
    await ana.pause(['bot'])
    await ana.kick('bot')
    expect(stateOf(await join('ana'), 'bot')).toEqual({
      status: 'away',
      paused: { by: 'ana' },
      kicked: { by: 'ana' },
    })
  })
})
