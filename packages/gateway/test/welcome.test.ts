import { FakeClock, testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, checkPayload, defaultLimits, type WelcomePayload } from '@meup/protocol'
import { expect, test } from 'vitest'
import { ofKind } from './client.js'
import { start } from './support.js'

const participants = {
  ana: ['*'],
  bot: ['chat', 'mcp.proposal', { kind: 'mcp.request', to: 'files' }],
  files: ['mcp.*'],
}
const call = (name: string, to: string) => ({
  kind: 'mcp.proposal',
  to: [to],
  payload: { method: 'tools/call', params: { name } },
})

test('the welcome tells who is human or agent, who is paused, and what the space allows', async () => {
  const clock = new FakeClock()
  const { connect } = await start({ participants, humans: ['ana'], clock })
  const ana = await connect('ana')
  await ana.accepted({
    kind: 'participant.pause',
    to: ['bot'],
    payload: { reason: 'look', timeoutSeconds: 60 },
  })
  const { welcome } = await connect('files')
  const of = (id: string) => welcome.participants.find((each) => each.id === id)
  expect(of('ana')).toMatchObject({ kind: 'human', status: 'present' })
  expect(of('ana')).not.toHaveProperty('paused')
  const until = new Date(clock.now() + 60_000).toISOString()
  expect(of('bot')).toMatchObject({
    kind: 'agent',
    status: 'away',
    paused: { by: 'ana', reason: 'look', until },
  })
  expect(welcome.limits).toMatchObject({ maxResultBytes: defaultLimits.maxResultBytes, rates: { work: {} } })
  expect(welcome.mcp).toEqual({ visibility: 'everyone' })
  expect(checkPayload('system.welcome', welcome)).toBeUndefined()
  clock.advance(60_000)
  const later = (await connect('files')).welcome.participants.find(({ id }) => id === 'bot')
  expect(later).not.toHaveProperty('paused')
})

test('the welcome and GET /participants tell who was kicked by whom, also while it was away, until that ends', async () => {
  const clock = new FakeClock()
  const { connect, url } = await start({ participants, clock })
  const ana = await connect('ana')
  await connect('files')
  const untilTs = new Date(clock.now() + 60_000).toISOString()
  const kick = (participantId: string, more = {}) =>
    ana.accepted({ kind: 'space.kick', payload: { participantId, ...more } })
  await kick('bot', { reason: 'loops', untilTs })
  await kick('files')
  const listed = async () => {
    const headers = { authorization: `Bearer ${testToken('ana')}` }
    const response = await fetch(`${url}/spaces/test/participants`, { headers })
    const { participants } = (await response.json()) as WelcomePayload
    expect((await connect('ana')).welcome.participants).toEqual(participants)
    return Object.fromEntries(participants.map(({ id, kicked }) => [id, kicked]))
  }
  const kicked = { bot: { by: 'ana', reason: 'loops', until: untilTs }, files: { by: 'ana' } }
  expect(await listed()).toEqual({ ana: undefined, ...kicked })
  clock.advance(60_000)
  expect(await listed()).toEqual({ ana: undefined, files: { by: 'ana' } })
  await ana.accepted({ kind: 'space.invite', payload: { participantId: 'files', capabilities: [] } })
  expect(await listed()).toEqual({})
})

test('the welcome lists the open proposals that one has made, or may decide', async () => {
  const clock = new FakeClock()
  const { connect } = await start({ participants, clock })
  const ana = await connect('ana')
  const bot = await connect('bot')
  const expiresAt = new Date(clock.now() + 1000).toISOString()
  const read = await ana.accepted({ id: 'read', ...call('read', 'files') })
  await ana.accepted({ id: 'post', ...call('post', 'web') }).catch(() => undefined)
  const own = await bot.accepted({ id: 'own', ...call('write', 'ana') })
  await ana.accepted({
    ...call('late', 'files'),
    payload: { method: 'tools/call', params: { name: 'late' }, expiresAt, uses: 3 },
  })
  const idsOf = ({ proposals }: WelcomePayload) => proposals.map(({ id, tool }) => [id, tool])
  expect(idsOf((await connect('bot')).welcome)).toEqual([
    ['read', 'read'],
    ['own', 'write'],
    [expect.any(String), 'late'],
  ])
  expect((await connect('bot')).welcome.proposals).toMatchObject([
    { id: 'read', seq: read.seq, from: 'ana', to: ['files'], usesLeft: 1 },
    { id: 'own', seq: own.seq, from: 'bot', to: ['ana'] },
    { from: 'ana', usesLeft: 3, expiresAt },
  ])
  clock.advance(1000)
  await ana.accepted({ kind: 'mcp.reject', correlationId: 'own', payload: { reason: 'no' } })
  expect(idsOf((await connect('ana')).welcome)).toEqual([['read', 'read']])
  expect(idsOf((await connect('bot')).welcome)).toEqual([
    ['read', 'read'],
    ['own', 'write'],
  ])
})

test('observe.subscribe is answered by a welcome that names it', async () => {
  const { connect } = await start({ participants })
  const ana = await connect('ana')
  ana.send({ id: 'first', kind: 'observe.subscribe', payload: { reasoning: 'none' } })
  ana.send({ id: 'second', kind: 'observe.subscribe', payload: { reasoning: 'none' } })
  const isAnswer = ofKind('system.welcome')
  for (const id of ['first', 'second']) {
    const answer = (await ana.next((frame) => isAnswer(frame) && frame.correlationId === id)) as AnyEnvelope
    expect(answer.payload).toMatchObject({ subscription: { reasoning: 'none' } })
  }
  await ana.accepted({
    kind: 'capability.grant',
    payload: { recipient: 'bot', capabilities: ['acme.x'] },
  })
  expect(await (await connect('bot')).frames[0]).not.toHaveProperty('correlationId')
})

test('the welcome leaves out proposals of which it takes too long to find out whether one may decide', async () => {
  const dear = { kind: 'mcp.request', payload: { params: { text: 're:[ab]*a[ab]{7}c' } } }
  const { connect } = await start({ participants: { ana: ['*'], bot: [dear] } })
  const ana = await connect('ana')
  for (let n = 1; n <= 64; n++) {
    const params = { text: `${'ab'.repeat(50)}abbbbbbbc` }
    await ana.accepted({ id: `p${n}`, kind: 'mcp.proposal', payload: { method: 'x/y', params } })
  }
  const [own, others] = [(await connect('ana')).welcome.proposals, (await connect('bot')).welcome.proposals]
  expect(own).toHaveLength(64)
  expect(others.at(-1)?.id).toBe('p64')
  expect(others.length).toBeLessThan(64)
})
