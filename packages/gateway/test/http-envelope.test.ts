import { memoryStore, sqliteStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
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
      detail: 'abc- may be any of abc-1, abc-2. Give more of the id.',
    })
    expect(await get('ab')).toMatchObject({
      detail: 'ab may be any of abc, abc-1, abd. Give more of the id.',
    })
  })
})
