import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConnectionError, type ConnectOptions, connect } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { testToken } from '@meup/gateway/testing'
import { ProtocolError } from '@meup/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Standing, standing } from './support/standing.js'

const participants = { ana: ['chat'], bot: ['chat'] }
let gateway: Standing
beforeAll(async () => {
  gateway = await standing({ participants })
})
afterAll(() => gateway.stop())

const reason = (options: ConnectOptions): Promise<unknown> =>
  connect(options).then(
    () => expect.unreachable('it was let in'),
    (error: unknown) => error,
  )

const asAna = (): ConnectOptions => ({ url: gateway.url, space: 'test', token: testToken('ana') })

describe('entering a space', () => {
  test('tells who one is, what one may do, who else there is', async () => {
    await using ana = await connect(asAna())
    expect(ana.id).toBe('ana')
    expect(ana.capabilities).toEqual(['chat'])
    expect(ana.welcome.space.id).toBe('test')
    expect(ana.contexts).toEqual([])
    expect(ana.participants.map(({ id, status }) => [id, status])).toEqual([
      ['ana', 'present'],
      ['bot', 'away'],
    ])
  })

  test('an address with a path or a slash at its end will do', async () => {
    await using ana = await connect({ ...asAna(), url: `${gateway.url}/` })
    expect(ana.id).toBe('ana')
  })

  test('asks for what was said last, or from the beginning', async () => {
    await using ana = await connect(asAna())
    const [first, last] = [await ana.chat('first'), await ana.chat('last')]
    await using again = await connect({ ...asAna(), tail: 1 })
    const [shown] = await take(again, 1)
    expect(shown).toEqual(last)
    again.close()
    await using whole = await connect({ ...asAna(), after: 0 })
    expect(whole.welcome.resume).toMatchObject({ status: 'replaying', from: 1 })
    const all = await take(whole, last.seq ?? 0)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
    expect(all).toContainEqual(first)
  })
})

async function take(seat: Awaited<ReturnType<typeof connect>>, count: number) {
  const taken = []
  for await (const envelope of seat.envelopes()) if (taken.push(envelope) === count) break
  return taken
}

describe('being refused', () => {
  test.each([
    ['a wrong token', { token: 'wrong' }, 'unauthorized', /token/],
    ['no token', { token: undefined }, 'unauthorized', /Bearer/],
    ['an unknown space', { space: 'nowhere' }, 'not_found', /nowhere/],
    ['an unknown space and a wrong token', { space: 'nowhere', token: 'wrong' }, 'not_found', /nowhere/],
  ])('%s', async (_, change, code, message) => {
    const { token, ...options } = { ...asAna(), ...change }
    const error = await reason({ ...options, ...(token !== undefined && { token }) })
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), retryable: false })
    expect((error as ProtocolError).hint).not.toBe('')
  })

  test('more connections than a participant may have', async () => {
    await using narrow = await standing({ participants, limits: { connectionsPerParticipant: 2 } })
    const asMany = { ...asAna(), url: narrow.url }
    await using _one = await connect(asMany)
    await using _two = await connect(asMany)
    expect(await reason(asMany)).toMatchObject({ code: 'rate_limited', retryable: true })
  })

  test('in a process the same', async () => {
    await using space = await createTestSpace({ participants })
    await expect(space.join('eve')).rejects.toMatchObject({ name: 'ProtocolError', code: 'unauthorized' })
  })
})

describe('finding nobody', () => {
  test('where nothing listens', async () => {
    const error = await reason({ ...asAna(), url: 'http://127.0.0.1:1' })
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('127.0.0.1:1') })
    expect((error as ConnectionError).cause).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('where something else listens', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const error = await reason({ ...asAna(), url: `http://127.0.0.1:${port}` })
    server.close()
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'unreachable' })
  })
})
