import { defaultGuard, ProposalViews } from '@meup/folds'
import { GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { call, chat, type Fields, failure, propose, reject, result, toLog, withdraw } from './support/log.js'

const proposal = propose(
  'agent',
  'deploy',
  { target: 'prod', token: 'abc' },
  { id: 'p', rationale: 'asked for' },
)
const approval = call('user', 'deploy', {}, { id: 'f', correlationId: 'p' })

const space = { from: GATEWAY, kind: 'system.space' }

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

  test('says who has rejected it, when and why', () => {
    expect(view(reject('user', 'p')).proposal?.rejections).toEqual([
      { by: 'user', reason: 'unsafe', message: null, ts: '2026-02-21T10:00:01.000Z' },
    ])
  })

  test.each<[Fields, by: string, reason: string]>([
    [withdraw('agent', 'p'), 'agent', 'no longer needed'],
    [{ kind: 'space.kick', from: 'user', payload: { participantId: 'agent' } }, 'user', 'kicked'],
    [{ ...space, payload: { event: 'pruned', through: 1 } }, GATEWAY, 'pruned'],
    [{ ...space, payload: { event: 'erased', seq: 1, id: 'p', by: 'user', reason: 'x' } }, GATEWAY, 'erased'],
  ])('says by whom and why it was withdrawn: %o', (end, by, reason) => {
    expect(view(end).proposal?.withdrawal).toMatchObject({ by, reason })
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
})
