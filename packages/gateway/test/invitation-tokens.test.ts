import { createHash } from 'node:crypto'
import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test, vi } from 'vitest'
import { presence } from './client.js'
import { open, participants, statusOf, tokenFor } from './invite-space.js'
import { act, chat, codeOf, invite, NoTimers, reconfigure, update } from './trust.js'

describe('a token', () => {
  test('opens no other space, and nothing when it was made up', async () => {
    const running = await open({ others: [{ name: 'other', participants }] })
    const token = await tokenFor(running.host, invite('newt'))
    expect(await statusOf(running, token, 'other')).toBe(401)
    expect(await statusOf(running, `${token.slice(0, -1)}_`)).toBe(401)
    expect(await statusOf(running, createHash('sha256').update(token).digest('hex'))).toBe(401)
  })

  test('is replaced by the next invitation of whoever has not come yet', async () => {
    const running = await open()
    const first = await tokenFor(running.root, invite('newt', ['work.x']))
    const second = await tokenFor(running.host, invite('newt', ['chat']))
    expect(await statusOf(running, first)).toBe(401)
    const { welcome } = await running.dial({ token: second })
    expect(welcome.you.capabilities).toEqual(['chat'])
  })

  test('that was replaced while its connection opens does not open it', async () => {
    const { gateway, host } = await open()
    const token = await tokenFor(host, invite('newt'))
    const grant = await gateway.admit({ space: 'test', token, remote: 'here' })
    if (!('open' in grant)) throw new Error(grant.message)
    await tokenFor(host, invite('newt'))
    const close = vi.fn()
    await grant.open(
      { remote: 'here', pending: 0, isGone: false, send: () => {}, drained: async () => {}, close },
      {},
    )
    expect(close).toHaveBeenCalledWith(4401, expect.any(String))
  })

  test('ends at its time, whatever timers do', async () => {
    const clock = new NoTimers()
    const running = await open({ clock })
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const token = await tokenFor(running.host, invite('newt', [], { expiresAt }))
    clock.advance(999)
    await running.dial({ token })
    clock.advance(1)
    expect(await statusOf(running, token)).toBe(401)
  })

  test('ends with its invitation, to the millisecond', async () => {
    const clock = new FakeClock()
    const running = await open({ clock })
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    const token = await tokenFor(running.host, invite('newt', ['chat'], { expiresAt }))
    const newt = await running.dial({ token })
    clock.advance(999)
    await newt.accepted(chat())
    clock.advance(1)
    expect((await newt.closed).code).toBe(4401)
    await running.root.next(presence('leave', 'newt'))
    await running.root.next(update('newt', []))
    expect(await statusOf(running, token)).toBe(401)
    expect(await codeOf(running.root, { ...chat(), to: ['newt'] })).toBe('participant_not_found')
    await running.dial({ token: await tokenFor(running.host, invite('newt')) })
  })

  test('is good after a restart, and after the operator changed something', async () => {
    const spaces = new Map()
    const first = await open({ store: memoryStore(spaces) })
    const token = await tokenFor(first.host, invite('newt', ['work.dig']))
    await (await first.dial({ token })).close()
    await first.close()
    const { gateway, dial, host } = await open({ store: memoryStore(spaces) })
    await reconfigure(gateway, { participants: { ...participants, zoe: ['chat'] } })
    const newt = await dial({ token })
    await reconfigure(gateway, { participants })
    await newt.accepted(act('work.dig'))
    expect(await codeOf(host, invite('newt'))).toBe('forbidden')
  })

  test('is void once the operator has configured the name: that one is who is meant', async () => {
    const running = await open()
    const { gateway, host, dial } = running
    const token = await tokenFor(host, invite('newt', ['work.dig']))
    const newt = await dial({ token })
    await reconfigure(gateway, { participants: { ...participants, newt: ['chat'] } })
    expect((await newt.closed).code).toBe(4401)
    expect(await statusOf(running, token)).toBe(401)
    const { welcome } = await running.connect('root')
    expect(welcome.participants.find(({ id }) => id === 'newt')?.capabilities).toEqual(['chat'])
  })
})
