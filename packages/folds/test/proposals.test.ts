import { defaultGuard, ProposalViews } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { call, chat, type Fields, failure, propose, reject, result, toLog, withdraw } from './support/log.js'

const proposal = propose(
  'agent',
  'deploy',
  { target: 'prod', token: 'abc' },
  { id: 'p', rationale: 'asked for' },
)
const approval = call('user', 'deploy', {}, { id: 'f', correlationId: 'p' })

function view(...log: Fields[]) {
  const fold = new ProposalViews(defaultGuard)
  const changes = toLog([proposal, ...log]).map((envelope) => fold.apply(envelope))
  return { fold, changes, proposal: fold.get('p') }
}

describe('a proposal', () => {
  test('is open until something comes of it', () => {
    const { fold, proposal: open } = view()
    expect(open).toMatchObject({
      id: 'p',
      source: { from: 'agent' },
      tool: 'deploy',
      parameters: { target: 'prod', token: '[redacted]' },
      rationale: 'asked for',
      state: 'open',
      usesLeft: 1,
      expiresAt: null,
    })
    expect(fold.open()).toEqual([open])
  })

  test('is fulfilled by a request; its outcome comes with the response', () => {
    const { fold, proposal: over } = view(approval)
    expect(over).toMatchObject({
      state: 'fulfilled',
      usesLeft: 0,
      fulfilments: [{ id: 'f', by: 'user', outcome: null }],
    })
    expect(fold.open()).toEqual([])
    expect(view(approval, result('f', 'ok')).proposal?.fulfilments).toMatchObject([{ outcome: 'success' }])
    expect(view(approval, failure('f', 'no'), result('f', 'ok')).proposal?.fulfilments).toMatchObject([
      { outcome: 'error' },
    ])
  })

  test('may be for several uses', () => {
    const twice = propose('agent', 'deploy', {}, { id: 'p2', payload: { uses: 2 } })
    const use = (id: string) => call('user', 'deploy', {}, { id, correlationId: 'p2' })
    const { fold } = view(twice, use('a'))
    expect(fold.get('p2')).toMatchObject({ state: 'open', usesLeft: 1, rationale: null })
    expect(view(twice, use('a'), use('b')).fold.get('p2')).toMatchObject({ state: 'fulfilled', usesLeft: 0 })
  })

  test('is closed when it is pruned', () => {
    const pruned = (through: number): Fields => ({
      from: 'system:gateway',
      kind: 'system.space',
      payload: { event: 'pruned', through },
    })
    expect(view(pruned(0)).proposal?.state).toBe('open')
    for (const { proposal: over } of [view(pruned(1)), view(pruned(1), approval)]) {
      expect(over).toMatchObject({ state: 'withdrawn', withdrawal: { reason: 'pruned' }, fulfilments: [] })
    }
  })

  test('is closed when it is erased', () => {
    const erased = (id: string): Fields => ({
      from: 'system:gateway',
      kind: 'system.space',
      payload: { event: 'erased', seq: 1, id, by: 'user', reason: 'a password' },
    })
    expect(view(erased('another')).proposal?.state).toBe('open')
    expect(view(erased('p'), approval).proposal).toMatchObject({
      state: 'withdrawn',
      withdrawal: { reason: 'erased' },
      fulfilments: [],
    })
  })

  test('is rejected by one, and may still be fulfilled by another', () => {
    expect(view(reject('user', 'p')).proposal).toMatchObject({
      state: 'open',
      rejections: [{ by: 'user', reason: 'unsafe', message: null, ts: '2026-02-21T10:00:01.000Z' }],
    })
    expect(view(reject('other', 'p'), approval).proposal?.state).toBe('fulfilled')
    expect(view(reject('user', 'p'), withdraw('agent', 'p')).proposal).toMatchObject({
      state: 'withdrawn',
      withdrawal: { by: 'agent', reason: 'no longer needed' },
    })
  })

  test.each([
    ['user', 'rejected', 0],
    ['other', 'open', 1],
  ])('that a user has rejected is for %s %s', (viewer, state, open) => {
    const fold = new ProposalViews(defaultGuard, () => viewer)
    for (const envelope of toLog([proposal, reject('user', 'p')])) fold.apply(envelope)
    expect([fold.get('p')?.state, fold.open()]).toMatchObject([state, { length: open }])
  })

  test('shows no secret of those who refuse it', () => {
    const fold = new ProposalViews((text) => ({
      text: text.replaceAll('hunter2', '[redacted]'),
      isWithheld: false,
    }))
    const refusal = {
      ...reject('user', 'p'),
      payload: { reason: 'hunter2', message: `${'x'.repeat(3000)}hunter2` },
    }
    for (const envelope of toLog([proposal, refusal])) fold.apply(envelope)
    expect(fold.get('p')?.rejections).toMatchObject([
      { reason: '[redacted]', message: `${'x'.repeat(1999)}…` },
    ])
  })

  test('is closed when its proposer is kicked', () => {
    const kick = (participantId: string) => ({ kind: 'space.kick', from: 'user', payload: { participantId } })
    expect(view(kick('other')).fold.open()).toHaveLength(1)
    const { fold, proposal: over } = view(kick('agent'))
    expect(over).toMatchObject({ state: 'withdrawn', withdrawal: { by: 'user', reason: 'kicked' } })
    expect(fold.open()).toEqual([])
  })

  test('is withdrawn', () => {
    expect(view(withdraw('agent', 'p')).proposal).toMatchObject({
      state: 'withdrawn',
      withdrawal: { by: 'agent' },
    })
  })

  test('expires by the time of the log, or by the time that is asked about', () => {
    const limited = propose(
      'agent',
      'deploy',
      {},
      { id: 'l', payload: { expiresAt: '2026-02-21T12:00:03+02:00' } },
    )
    const { fold, changes } = view(limited, chat('user', 'hm'), chat('user', 'hm'))
    expect(fold.get('l')?.state).toBe('expired')
    expect(changes.map((changed) => changed.map(({ id, state }) => [id, state]))).toEqual([
      [['p', 'open']],
      [['l', 'open']],
      [],
      [['l', 'expired']],
    ])
    const early = view(limited).fold
    expect(early.open().map(({ id }) => id)).toEqual(['p', 'l'])
    expect(early.open(Date.parse('2026-02-21T10:00:03Z')).map(({ id }) => id)).toEqual(['p'])
  })

  test('does not expire once it has been fulfilled', () => {
    const payload = { expiresAt: '2026-02-21T10:00:03Z' }
    const limited = propose('agent', 'deploy', {}, { id: 'l', payload })
    const use = call('user', 'deploy', {}, { correlationId: 'l' })
    const { fold } = view(limited, use, chat('user', 'hm'), chat('user', 'hm'))
    expect(fold.get('l')?.state).toBe('fulfilled')
  })

  test('is not concerned by other requests, responses and notifications', () => {
    const progress = { ...approval, payload: { method: 'notifications/progress' } }
    const { proposal: open } = view(
      progress,
      result('x', 'ok'),
      reject('user', 'x'),
      chat('user', 'p', { correlationId: 'p' }),
    )
    expect(open).toMatchObject({ state: 'open', fulfilments: [] })
  })
})
