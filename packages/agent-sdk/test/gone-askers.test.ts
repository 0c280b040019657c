import type { AnyEnvelope, WelcomePayload } from '@meup/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GoneAskers } from '../src/agent/gone-askers.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const withoutSession = { from: 'ana' }
const withSession = { from: 'ana', session: 'first' }

function watch(asking = ['ana']) {
  const gone: object[] = []
  const askers = new GoneAskers({
    isAsking: (id) => asking.includes(id),
    onGone: (isGone) => gone.push(...[withoutSession, withSession, { from: 'eve' }].filter(isGone)),
  })
  const presence = (payload: object): void =>
    askers.onEnvelope({ kind: 'system.presence', from: 'system:gateway', payload } as unknown as AnyEnvelope)
  const on = (event: 'join' | 'leave') => presence({ event, participant: { id: 'ana' } })
  return { askers, gone, presence, on }
}

test('those of a session have gone when it ends, and no others', () => {
  const { gone, presence } = watch()
  presence({ event: 'update', participant: { id: 'ana' }, session: { id: 'other', event: 'ended' } })
  presence({ event: 'update', participant: { id: 'ana' }, session: { id: 'first', event: 'begun' } })
  expect(gone).toEqual([])
  presence({ event: 'update', participant: { id: 'ana' }, session: { id: 'first', event: 'ended' } })
  expect(gone).toEqual([withSession])
})

test('one without a session has gone when it stays away for a minute', () => {
  const { gone, on } = watch()
  on('leave')
  vi.advanceTimersByTime(59_999)
  expect(gone).toEqual([])
  vi.advanceTimersByTime(1)
  expect(gone).toEqual([withoutSession])
})

test('one that comes back has not', () => {
  const { askers, gone, on } = watch()
  on('leave')
  vi.advanceTimersByTime(59_000)
  on('join')
  vi.advanceTimersByTime(120_000)
  on('leave')
  const participants = [{ id: 'ana', status: 'present' }]
  askers.onWelcome({ participants } as unknown as WelcomePayload)
  vi.advanceTimersByTime(120_000)
  expect(gone).toEqual([])
})

test('of those who wait for nothing, and after the close, no timer is left', () => {
  const idle = watch([])
  idle.on('leave')
  const { askers, on } = watch()
  on('leave')
  askers.onClose()
  expect(vi.getTimerCount()).toBe(0)
})
