import { memoryStore, sqliteStore } from '@meup/gateway'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import type { Space } from '../src/core/space.js'
import { refuseMissing } from '../src/http/envelope.js'
import type { Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = { ana: ['*'], ben: ['*'], eve: ['chat'] }
const stores = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
] as const

describe.each(stores)('GET one envelope, from %s', (_, openStore) => {
  test('by its id, the beginning of it, or its seq', async () => {
    const { url, post } = await start({ participants, store: await openStore() })
    const chat = (id: string, to?: string[]) => ({
      id,
      kind: 'chat',
      ...(to && { to }),
      payload: { message: id },
    })
    const all = [chat('abc-1'), chat('abc-2', ['ben']), chat('abd'), chat('abc'), chat('7777')]
    await post('ana', all)
    const get = async (ref: string, as = 'eve') => {
      const response = await asking(url, as).get(`/envelopes/${encodeURIComponent(ref)}`)
      const { id, seq, code, detail } = (await response.json()) as Record<string, never>
      return response.status === 200 ? { id, seq } : { code, detail }
    }
    const first = await get('abc-1')
    expect(first).toMatchObject({ id: 'abc-1' })
    const { seq = 0 } = first as { seq?: number }
    expect(await get(`#${seq}`)).toEqual(first)
    expect(await get(`${seq}`)).toEqual(first)
    expect(await get('abc-')).toEqual(first)
    expect(await get('abc')).toMatchObject({ id: 'abc' })
    expect(await get('7777')).toMatchObject({ id: '7777' })
    expect(await get('#7777')).toMatchObject({ code: 'not_found' })
    for (const ref of ['abc-2', `#${seq + 1}`, 'abc-2x', 'ABC', 'b'])
      expect([ref, await get(ref)]).toMatchObject([ref, { code: 'not_found' }])
    expect(await get('abc-', 'ben')).toMatchObject({
      code: 'invalid_request',
      detail: fillIn(texts.ambiguousId, { ref: 'abc-', ids: ['abc-1', 'abc-2'] }),
    })
    expect(await get('ab')).toMatchObject({
      detail: fillIn(texts.ambiguousId, { ref: 'ab', ids: ['abc', 'abc-1', 'abd'] }),
    })
  })

  test('is how other routes are asked about one, too', async () => {
    const { url, post } = await start({ participants, store: await openStore() })
    const sent: [from: string, envelope: Sent & { id: string }][] = [
      ['ana', { id: 'question', kind: 'chat', payload: { message: 'Is it done?' } }],
      ['ben', { id: 'run-of-ben', kind: 'reasoning.start', correlationId: 'question' }],
      ['ben', { id: 'hm', kind: 'reasoning.thought', context: 'run-of-ben', payload: { message: 'hm' } }],
      ['ben', { id: 'answer', kind: 'chat', correlationId: 'question', payload: { message: 'Yes.' } }],
      ['ana', { id: 'secret', kind: 'chat', to: ['ben'], payload: { message: 'psst' } }],
      ['ben', { id: 'secret-answer', kind: 'chat', to: ['ana'], correlationId: 'secret' }],
    ]
    const seqs = new Map<string, number>()
    for (const [from, envelope] of sent) {
      const { body } = await post(from, { payload: { message: '' }, ...envelope })
      seqs.set(envelope.id, (body as [{ seq: number }])[0].seq)
    }
    const { get, json } = asking(url, 'eve')
    const refs = (id: string) => [id, id.slice(0, -1), `#${seqs.get(id)}`].map(encodeURIComponent)
    const codes = async (paths: string[]) => {
      const all = await Promise.all(paths.map(async (path) => (await get(path)).json()))
      return new Set(all.map((body) => (body as { code?: string }).code))
    }

    for (const ref of refs('answer')) {
      expect(await json(`/why/${ref}`)).toMatchObject({ of: { id: 'answer' } })
      expect(await json(`/turns?thread_id=test/ben&of=${ref}`)).toMatchObject({
        turns: [{ turn_number: 1, response: 'Yes.' }],
      })
    }
    for (const ref of [...refs('run-of-ben'), ...refs('hm')]) {
      expect(await json(`/contexts/${ref}`)).toMatchObject({ context: 'run-of-ben', owner: 'ben' })
      const markdown = await (await get(`/contexts/${ref}?format=markdown`)).text()
      expect(markdown).toContain('# run-of-ben in test')
    }
    expect(await json('/turns?thread_id=test/ben&of=question&sizes=true')).toMatchObject({
      turns: [{ turn_number: 1, answer_id: 'answer' }],
    })
    expect(await json('/turns?thread_id=test/ben&of=answer&limit=1')).toMatchObject({ has_more: false })
    expect(await json('/turns?thread_id=test/ana&of=answer')).toMatchObject({ turns: [] })
    for (const ref of [...refs('secret'), ...refs('secret-answer'), 'nothing'])
      expect(await codes([`/why/${ref}`, `/turns?thread_id=test/ben&of=${ref}`, `/contexts/${ref}`])).toEqual(
        new Set(['not_found']),
      )
    expect(await codes(['/contexts/answer', '/contexts/question?format=markdown'])).toEqual(
      new Set(['not_found']),
    )
  })
})

test('what was pruned or erased is named as that', () => {
  const space = {
    log: { oldest: 10, heading: (id: string) => (id === 'erased' ? { seq: 12 } : undefined) },
    delivered: 20,
    wasErased: (seq: number) => seq === 12,
  } as unknown as Space
  const detail = (ref: string) => refuseMissing(ref, space).message
  for (const ref of ['#9', '9']) expect(detail(ref)).toBe(fillIn(texts.prunedEnvelope, { oldest: 10 }))
  for (const ref of ['#12', '12', 'erased']) expect(detail(ref)).toBe(fillIn(texts.erasedEnvelope, { ref }))
  for (const ref of ['#13', '#21', '0', '#0', 'abc', '', '9'.repeat(40)])
    expect(detail(ref)).toBe(fillIn(texts.unknownEnvelope, { ref }))
})
