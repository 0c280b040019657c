import { Participants } from '@meup/folds'
import { type AnyEnvelope, Kind, PROTOCOL } from '@meup/protocol'
import { expect, test, vi } from 'vitest'
import { Replies } from '../src/client/replies.js'
import { wait } from '../src/client/wait.js'

test('ends a wait once, however often it is settled', async () => {
  const end = vi.fn()
  const answer = wait<string>(
    'answer',
    {},
    (waiter) => {
      waiter.resolve('first')
      waiter.reject(new Error('second'))
      waiter.resolve('third')
    },
    end,
  )
  await expect(answer).resolves.toBe('first')
  expect(end).toHaveBeenCalledTimes(1)
})

test('an aborted question does not end the wait of the next one with its id', async () => {
  /** Like that of a client: a draft that is not sent yet is refused when it is aborted. */
  const sendPaced = (_: object, signal?: AbortSignal): Promise<AnyEnvelope> =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  const replies = new Replies({ id: 'ann', sendPaced }, new Participants())
  const draft = { id: 'question', kind: Kind.chat, to: ['ben'], payload: { message: 'when?' } }
  const expected = { kind: Kind.chat, from: 'ben' }
  const abort = new AbortController()
  const first = replies.ask(draft, expected, { signal: abort.signal })
  abort.abort()
  const second = replies.ask(draft, expected, { timeoutMs: 1000 })
  await expect(first).rejects.toMatchObject({ code: 'aborted' })
  const answer = {
    protocol: PROTOCOL,
    id: 'answer',
    ts: '2026-01-01T00:00:00Z',
    seq: 1,
    from: 'ben',
    to: ['ann'],
    kind: Kind.chat,
    correlationId: 'question',
    payload: { message: 'now' },
  } as unknown as AnyEnvelope
  replies.onEnvelope(answer)
  expect(await second).toBe(answer)
})
