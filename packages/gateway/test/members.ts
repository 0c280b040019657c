import { combineAuthenticators, createGateway, memoryStore, serve, tokenAuthenticator } from '@meup/gateway'
import { jwtAuthenticator } from '@meup/gateway/jwt'
import { FakeClock, type TestSpaceOptions, testSpaceConfig, testToken } from '@meup/gateway/testing'
import type { Capability, Envelope } from '@meup/protocol'
import type { JWTPayload } from 'jose'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { audience, issuer, keySetOf, newKey, tokenOf } from '../../../test/support/issuer.js'
import { Client } from './client.js'
import { openEvents } from './http-client.js'

const participants: Readonly<Record<string, readonly Capability[]>> = { alice: ['*'], ben: ['chat'] }
const key = await newKey('a')

/**
 * A gateway with a stopped clock. It accepts tokens of alice and ben, and of a trusted issuer, whose participants get the
 * capabilities `usual` by default.
 */
export async function open(
  { usual = ['chat'], ...options }: Partial<TestSpaceOptions> & { usual?: readonly Capability[] } = {},
  store = memoryStore(),
) {
  const clock = new FakeClock(Date.now())
  const config = { ...testSpaceConfig({ participants, ...options }), defaults: { capabilities: usual } }
  const tokens = Object.fromEntries(Object.keys(participants).map((id) => [id, testToken(id)]))
  const jwt = jwtAuthenticator({ issuer, audience, jwks: keySetOf(key) }, { clock })
  const authenticator = combineAuthenticators([tokenAuthenticator({ test: tokens }), jwt])
  const gateway = await createGateway({ spaces: [config], store, authenticator, clock })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  const base = `${served.url}/spaces/test`

  /** A token that the issuer signs now. */
  const tokenFor = (sub: string, claims: JWTPayload = {}) =>
    tokenOf(key, { now: Math.floor(clock.now() / 1000), claims: { sub, ...claims } })

  const dial = (token: string): Promise<Client | number> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}` }
      const ws = new WebSocket(`${base.replace('http', 'ws')}/ws`, ['meup.v0.3'], { headers })
      onTestFinished(() => ws.terminate())
      const client = new Client('somebody', ws)
      ws.on('error', () => {}) // A refused socket also emits an error.
      ws.on('open', () => resolve(client))
      ws.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
    })

  async function enter(token: string): Promise<Client> {
    const client = await dial(token)
    if (!(client instanceof Client)) throw new Error(`refused with ${client}`)
    await client.next(({ kind }) => kind === 'system.welcome')
    return client
  }

  const ask = (token: string, init: RequestInit = {}) =>
    fetch(`${base}/${init.method === 'POST' ? 'envelopes' : 'participants'}`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
    })

  return {
    gateway,
    clock,
    config,
    jwt,
    tokenFor,
    dial,
    enter,
    ask,
    served,
    events: (token: string) => openEvents(`${base}/events`, { authorization: `Bearer ${token}` }),
    post: async (token: string, message: string) => {
      const body = JSON.stringify({ kind: 'chat', payload: { message } })
      return (await ask(token, { method: 'POST', body })).status
    },
    /** The participants of the space, with capabilities and presence. */
    async known() {
      const response = await ask(testToken('alice'))
      const { participants } = (await response.json()) as { participants: Record<string, unknown>[] }
      return participants
    },
  }
}

export const withRights = (...capabilities: Capability[]): JWTPayload => ({ meup: { capabilities } })
export const presenceOf =
  (id: string) =>
  ({ kind, payload }: Envelope) =>
    kind === 'system.presence' && (payload.participant as { id: string }).id === id
/** The presence events of a participant, in order. */
export const eventsOf = (frames: readonly Envelope[], id: string) =>
  frames.filter(presenceOf(id)).map(({ payload }) => payload.event)
