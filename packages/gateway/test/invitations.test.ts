import { createHash } from 'node:crypto'
import { memoryStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { byId, errorFor, ofKind, presence, type Sent } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { open, participants, statusOf, tokenFor } from './invite-space.js'
import {
  act,
  answer,
  chat,
  codeOf,
  grant,
  invite,
  kick,
  reconfigure,
  revoke,
  update,
  welcomeWith,
} from './trust.js'

describe('an invitation', () => {
  test('gives its sender a token, and everybody else its hash', async () => {
    const { root, host, connect } = await open()
    const second = await connect('host')
    const { id, seq, payload } = await host.accepted(invite('newt', ['work.dig'], { reason: 'a digger' }))
    const ack = await host.next(ofKind('space.invite-ack'))
    const { token } = ack.payload as { token: string }
    expect(ack).toMatchObject({
      from: 'system:gateway',
      to: ['host'],
      correlationId: id,
      payload: { status: 'created', participantId: 'newt', url: '/spaces/test/ws' },
    })
    expect(ack).not.toHaveProperty('seq')
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(payload).toEqual({
      participantId: 'newt',
      capabilities: ['work.dig'],
      reason: 'a digger',
      tokenSha256: createHash('sha256').update(token).digest('hex'),
    })
    await root.accepted(chat('mark'))
    const reader = await connect('root', { query: 'after=0' })
    await reader.next(({ payload }) => payload.message === 'mark')
    expect(await second.next(byId(id))).toMatchObject({ seq, payload })
    await second.next(({ payload }) => payload.message === 'mark')
    for (const client of [root, reader, second]) {
      expect(client.frames.some(ofKind('space.invite-ack'))).toBe(false)
      expect([...client.texts.values()].join()).not.toContain(token)
    }
  })

  test('makes a participant that is known, may be addressed, and comes in by its token', async () => {
    const { root, host, dial } = await open()
    const token = await tokenFor(host, invite('newt', ['work.dig', { kind: 'chat', to: 'host' }]))
    await root.next(update('newt'))
    const letter = await root.accepted({ ...chat('for later'), to: ['newt'] })
    const newt = await dial({ token, query: 'after=0' })
    expect(newt.welcome.you).toEqual({
      id: 'newt',
      capabilities: ['work.dig', { kind: 'chat', to: 'host' }],
    })
    await newt.next(byId(letter.id))
    await newt.accepted(act('work.dig'))
    await newt.accepted({ ...chat('thanks'), to: ['host'] })
    expect(await codeOf(newt, chat())).toBe('capability_violation')
    await root.next(presence('join', 'newt'))
    await newt.close()
    await root.next(presence('leave', 'newt'))
    await root.accepted({ ...chat('still there?'), to: ['newt'] })
    expect((await dial({ token, protocols: ['meup.v0.3'] })).welcome.you.id).toBe('newt')
  })

  test('over HTTP is answered with the token', async () => {
    const { post, dial } = await open()
    const { status, body } = await post('host', [chat(), { id: 'i', ...invite('newt') }])
    expect(status).toBe(201)
    const [first, second] = body as { invitation?: { token: string } }[]
    expect(first).not.toHaveProperty('invitation')
    expect(second?.invitation).toMatchObject({ status: 'created', participantId: 'newt' })
    const { token } = second?.invitation ?? {}
    expect((await dial({ token: `${token}` })).welcome.you.id).toBe('newt')
    const retried = await post('host', { id: 'i', ...invite('newt') })
    expect([retried.status, retried.body]).toEqual([201, [{ id: 'i', seq: expect.any(Number) }]])
  })

  test('that is sent again is echoed, as it was, without a token', async () => {
    const { host, dial } = await open()
    const sent = { id: 'i', ...invite('newt', ['chat']) }
    const token = await tokenFor(host, sent)
    const again = await host.accepted(sent)
    expect(again.payload.tokenSha256).toBe(createHash('sha256').update(token).digest('hex'))
    await host.accepted(chat('mark'))
    expect(host.frames.filter(ofKind('space.invite-ack'))).toHaveLength(1)
    expect(await codeOf(host, { id: 'i', ...invite('newt', ['work.dig']) })).toBe('duplicate_id')
    await dial({ token })
  })

  test('that does not get into the log gives no token, and nobody is known by it', async () => {
    const disk = faultyDisk(memoryStore())
    const { host } = await open({ store: disk.store })
    const { appending, fail } = disk.stall()
    host.send({ id: 'lost', ...invite('newt') })
    await appending
    fail()
    await host.next(errorFor('lost'))
    await host.accepted(chat('it goes on'))
    expect(host.frames.some(ofKind('space.invite-ack'))).toBe(false)
    expect(await codeOf(host, { ...chat(), to: ['newt'] })).toBe('participant_not_found')
    await tokenFor(host, { id: 'lost', ...invite('newt') })
  })

  test('may be declined, and taken back: its participant stays, with nothing', async () => {
    const { host, dial } = await open()
    const token = await tokenFor(host, { id: 'i', ...invite('newt', ['work.dig']) })
    const newt = await dial({ token })
    await newt.accepted(answer('i', 'declined'))
    await newt.next(welcomeWith([]))
    const other = await dial({ token: await tokenFor(host, { id: 'j', ...invite('otter', ['work.dig']) }) })
    await host.accepted(revoke('otter', { grantId: 'j' }))
    await other.next(welcomeWith([]))
    expect(await codeOf(other, act('work.dig'))).toBe('capability_violation')
    await host.accepted(grant('otter', ['work.fill']))
    await other.accepted(act('work.fill'))
  })

  test('gives no more than a grant would, for as long as its inviter holds it', async () => {
    const { gateway, host, dial } = await open()
    const newt = await dial({ token: await tokenFor(host, invite('newt', ['work.dig'])) })
    await newt.accepted(act('work.dig'))
    await reconfigure(gateway, { participants: { ...participants, host: ['space.invite'] } })
    await newt.next(welcomeWith([]))
    expect(await codeOf(newt, act('work.dig'))).toBe('capability_violation')
  })
})

describe('what is refused', () => {
  test.for<[string, string | undefined, Sent]>([
    ['grant_exceeds_own', '/payload/capabilities/1', invite('newt', ['work.dig', 'play.x'])],
    ['forbidden', '/payload/participantId', invite('host')],
    ['forbidden', '/payload/participantId', invite('ann')],
    ['forbidden', '/payload/participantId', invite('guest-1')],
    ['forbidden', '/payload/participantId', invite('GUEST_1')],
    ['forbidden', '/payload/participantId', invite('ANN')],
    ['forbidden', '/payload/participantId', invite('an-n.')],
    ['forbidden', '/payload/participantId', invite('System')],
    ['forbidden', '/payload/participantId', invite('gate_way')],
    ['forbidden', '/payload/participantId', invite('system.gateway')],
    ['invalid_payload', '/payload/tokenSha256', invite('newt', [], { tokenSha256: 'ab' })],
    ['invalid_payload', '/payload/capabilities/0', invite('newt', ['re:('])],
    ['invalid_payload', '/payload/expiresAt', invite('newt', [], { expiresAt: '2001-01-01T00:00:00Z' })],
    ['invalid_payload', '/payload/participantId', invite('no name')],
  ])('%s at %s: %j', async ([code, path, sent]) => {
    const { host } = await open()
    const refused = await host.refused(sent)
    expect([refused.code, refused.details?.path]).toEqual([code, path])
    expect(host.frames.some(ofKind('space.invite-ack'))).toBe(false)
  })

  test('whoever has come already; the hint says what to do', async () => {
    const { host, dial } = await open()
    const token = await tokenFor(host, invite('newt', ['chat']))
    const newt = await dial({ token })
    await newt.close()
    expect(await host.refused(invite('newt', ['work.dig']))).toMatchObject({
      code: 'forbidden',
      message: fillIn(texts.memberAlready, { id: 'newt' }),
    })
  })

  test('to whom the capability is not given', async () => {
    const { connect } = await open()
    expect(await codeOf(await connect('ann'), invite('newt'))).toBe('capability_violation')
  })
})

describe('whoever was kicked', () => {
  test('is invited again: with another token, and none of what others gave it', async () => {
    const running = await open()
    const { root, host, dial, connect } = running
    const token = await tokenFor(root, invite('newt', ['chat', 'capability.grant']))
    const newt = await dial({ token })
    await root.accepted(grant('newt', ['play.x']))
    await newt.accepted(grant('ann', ['play.x']))
    const mod = await connect('mod')
    await mod.accepted(kick('newt'))
    expect((await newt.closed).code).toBe(4403)
    expect(await statusOf(running, token)).toBe(403)
    // The next holder of the name `newt` can read envelopes that were addressed to it, so only an inviter that holds all
    // capabilities of `newt` may invite it again.
    expect(await host.refused(invite('newt', ['work.dig']))).toMatchObject({ code: 'grant_exceeds_own' })
    const next = await tokenFor(root, invite('newt', ['work.dig']))
    expect(await statusOf(running, token)).toBe(401)
    const { welcome } = await dial({ token: next })
    expect(welcome.you.capabilities).toEqual(['work.dig'])
    const { welcome: seen } = await connect('root')
    const capabilities = participants.ann
    expect(seen.participants.find(({ id }) => id === 'ann')?.capabilities).toEqual(capabilities)
  })

  test('and has a token of the operator comes back by that, if its inviter holds all that it has', async () => {
    const running = await open()
    const { host, connect } = running
    const [mod, ann] = [await connect('mod'), await connect('ann')]
    await mod.accepted(kick('ann'))
    await ann.closed
    expect(await mod.refused(invite('ann'))).toMatchObject({
      code: 'grant_exceeds_own',
      details: { path: '/payload/participantId' },
    })
    expect(await statusOf(running, testToken('ann'))).toBe(403)
    const { id, payload } = await host.accepted(invite('ann', ['work.fill']))
    expect(payload).not.toHaveProperty('tokenSha256')
    const ack = await host.next(ofKind('space.invite-ack'))
    expect(ack).toMatchObject({ correlationId: id, payload: { status: 'readmitted', token: '' } })
    const again = await connect('ann')
    expect(again.welcome.you.capabilities).toEqual(['chat', 'work.dig', 'work.fill'])
  })
})
