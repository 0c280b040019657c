import { HttpClient } from '@meup/agent-sdk/http'
import { ProtocolError } from '@meup/protocol'
import { expect, test } from 'vitest'
import { retryPutOff } from '../src/lib/retry.js'
import { answering } from './support/answering.js'

/** Refuses each request with the next error, then answers. */
function refusing(...errors: Error[]) {
  let sent = 0
  const send = async (): Promise<string> => {
    const error = errors[sent++]
    if (error) throw error
    return 'answer'
  }
  return { send, sent: () => sent }
}

const rateLimited = (retryAfterMs: number): Error =>
  new ProtocolError('rate_limited', 'wait', { retryAfterMs })

test('a request that is put off is sent again after the delay that the gateway names', async () => {
  const { send, sent } = refusing(
    rateLimited(1),
    new ProtocolError('unavailable', 'wait', { retryAfterMs: 2 }),
  )
  expect(await retryPutOff(send)).toBe('answer')
  expect(sent()).toBe(3)
})

test('a delay over HTTP is the one in the body of the refusal', async () => {
  const at = await answering(() => ({
    status: 429,
    body: { code: 'rate_limited', detail: 'wait', retryAfterMs: 70 },
  }))
  let asked = 0
  const retry = <Answer>(send: () => Promise<Answer>): Promise<Answer> =>
    retryPutOff(
      () => {
        asked++
        return send()
      },
      { maxWaitMs: 100, firstPauseMs: 1 },
    )
  await expect(new HttpClient(at, { retry }).readParticipants()).rejects.toMatchObject({
    code: 'rate_limited',
  })
  expect(asked).toBe(2)
})

test.each([
  ['a delay beyond the limit', [rateLimited(150)], 1],
  ['delays that exceed the limit together', [rateLimited(60), rateLimited(60)], 2],
  ['no delay named, and the first pause beyond the limit', [new ProtocolError('unavailable', 'wait')], 1],
  ['another refusal', [new ProtocolError('forbidden', 'no', { retryAfterMs: 1 })], 1],
  ['another error with a delay', [Object.assign(new Error('refused'), { retryAfterMs: 1 })], 1],
] as const)('is refused: %s', async (_, errors, requests) => {
  const { send, sent } = refusing(...errors)
  await expect(retryPutOff(send, { maxWaitMs: 100, firstPauseMs: 1000 })).rejects.toBe(errors.at(-1))
  expect(sent()).toBe(requests)
})
