import { type ErrorPayload, Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byId, type Client, freshId, ofKind, type Sent } from './client.js'
import { asking } from './http-client.js'
import { type StartOptions, start } from './support.js'

const participants = { ana: ['*', 'observe.targeted'], ben: ['chat'], cem: ['chat'] }

const typing = (more: object = {}): Sent => ({
  id: freshId(),
  kind: Kind.observeTyping,
  payload: {},
  ...more,
})

async function scene(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const [ana, ben, cem] = [
    await running.connect('ana'),
    await running.connect('ben'),
    await running.connect('cem'),
  ]
  return { ...running, ana, ben, cem }
}

/** Senders of the typing notices that a client receives before a chat of ben. */
async function typistsBefore(client: Client, ben: Client): Promise<string[]> {
  const { id } = await ben.accepted({ id: freshId(), kind: Kind.chat, payload: { message: 'done' } })
  const frames = await client.until(byId(id))
  return frames.filter(ofKind(Kind.observeTyping)).map(({ from }) => from)
}

test('typing goes at once to everybody else, without a seq, and needs no capability [MEUP-3.32]', async () => {
  const { ana, ben, cem } = await scene()
  ben.send(typing())
  for (const each of [ana, cem]) expect(await typistsBefore(each, ben)).toEqual(['ben'])
  expect(ana.frames.filter(ofKind(Kind.observeTyping)).every(({ seq }) => seq === undefined)).toBe(true)
  expect(ben.frames.filter(ofKind(Kind.observeTyping))).toEqual([])
  expect(ben.frames.filter(ofKind('system.error'))).toEqual([])
})

test('typing to one is shown to that one alone, and to who may read everything [MEUP-3.32]', async () => {
  const { ana, ben, cem } = await scene()
  ben.send(typing({ to: ['ana'] }))
  expect(await typistsBefore(ana, ben)).toEqual(['ben'])
  expect(await typistsBefore(cem, ben)).toEqual([])
})

test('typing is in no log, and not taken over HTTP [MEUP-3.32]', async () => {
  const { ana, ben, url, post } = await scene()
  ben.send(typing())
  expect(await typistsBefore(ana, ben)).toEqual(['ben'])
  expect(await post('ben', typing())).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  const http = asking(url, 'ana')
  expect(JSON.stringify(await http.json('/envelopes'))).not.toContain(Kind.observeTyping)
})

test.each([
  ['a payload', { payload: { text: 'x'.repeat(1000) } }, 'invalid_payload'],
  ['a context', { context: 'run' }, 'invalid_envelope'],
  ['a stranger', { to: ['nobody'] }, 'participant_not_found'],
])('typing with %s is refused, and reaches nobody [MEUP-3.32]', async (_, more, code) => {
  const { ana, ben } = await scene()
  ben.send(typing(more))
  const error = await ben.next(ofKind('system.error'))
  expect((error.payload as ErrorPayload).code).toBe(code)
  expect(await typistsBefore(ana, ben)).toEqual([])
})

test('typing is cut by the kinds of a subscription [MEUP-8.3]', async () => {
  const { ana, ben } = await scene()
  await ana.subscribe({ kinds: [`!${Kind.observeTyping}`] })
  ben.send(typing())
  expect(await typistsBefore(ana, ben)).toEqual([])
})

test('typing has the rate of what is not logged [MEUP-7.1]', async () => {
  const { ana, ben } = await scene({ rates: { ben: { deltas: { perSecond: 0.001, burst: 3 } } } })
  for (let at = 0; at < 4; at++) ben.send(typing())
  const error = await ben.next(ofKind('system.error'))
  expect(error.payload).toMatchObject({ code: 'rate_limited', details: { class: 'deltas' } })
  expect(await typistsBefore(ana, ben)).toHaveLength(3)
})
