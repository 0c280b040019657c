import type { Why } from '@meup/folds'
import type { LogStore } from '@meup/gateway'
import { memoryStore, sqliteStore } from '@meup/gateway'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import type { Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

type Answer = Why & { readonly proof: { readonly seq: number; readonly hash: string; readonly head: number } }

const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]
const participants = { alice: ['*', 'space.erase'], bob: ['*'], files: ['*'], carol: ['chat'] }
const said: [from: string, Sent & { id: string }][] = [
  ['alice', { id: 'ask', kind: 'chat', payload: { message: 'Which port?' } }],
  ['bob', { id: 'run', kind: 'reasoning.start', correlationId: 'ask' }],
  [
    'bob',
    { id: 'hm', kind: 'reasoning.thought', context: 'run', payload: { message: 'the config says it' } },
  ],
  [
    'bob',
    {
      ...{ id: 'read', kind: 'mcp.request', to: ['files'], context: 'run', rationale: 'it is there' },
      payload: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'read', arguments: { path: 'server.conf', apiKey: 'hush' } },
      },
    },
  ],
  [
    'files',
    {
      ...{ id: 'text', kind: 'mcp.response', correlationId: 'read' },
      payload: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'listen 8080' }] } },
    },
  ],
  ['alice', { id: 'secret', kind: 'chat', to: ['bob'], payload: { message: 'psst' } }],
  ['bob', { id: 'also', kind: 'chat', to: [], correlationId: 'secret', payload: { message: 'understood' } }],
  ['bob', { id: 'answer', kind: 'chat', correlationId: 'ask', payload: { message: 'The port is 8080.' } }],
]

async function space(store: LogStore = memoryStore()) {
  const running = await start({ participants, store })
  const seqs = new Map<string, number>()
  for (const [from, sent] of said) {
    const { status, body } = await running.post(from, sent)
    if (status !== 201) throw new Error(JSON.stringify(body))
    seqs.set(sent.id, (body as [{ seq: number }])[0].seq)
  }
  const why = async (as: string, ref: string | number, query = '') =>
    (await asking(running.url, as).json(`/why/${ref}${query}`)) as Answer
  const refusal = async (as: string, ref: string | number, query = '') => {
    const response = await asking(running.url, as).get(`/why/${ref}${query}`)
    const { status, code, detail } = (await response.json()) as Record<string, unknown>
    return { status, code, detail }
  }
  return { ...running, seqs, why, refusal }
}

describe.each(stores)('GET why, from %s', (_, openStore) => {
  test('tells what led to an answer, by its id or its seq', async () => {
    const { why, seqs } = await space(await openStore())
    const found = await why('carol', 'answer')
    expect(found).toMatchObject({ of: { id: 'answer', seq: seqs.get('answer') }, cut: false })
    expect(found.steps.map(({ id, role }) => `${id} ${role}`)).toEqual([
      ...['ask asked', 'run set_out', 'hm thought', 'read called', 'text result', 'answer answered'],
    ])
    expect(found.steps.map(({ rank }) => rank).sort()).toEqual([1, 2, 3, 4, 5, 6])
    expect(found.outside).toEqual([seqs.get('text')])
    expect(await why('carol', seqs.get('answer') ?? 0)).toEqual(found)
  })

  test('masks the arguments of calls, and names the right that let them pass', async () => {
    const { why } = await space(await openStore())
    const found = await why('carol', 'read')
    expect(found.allowed).toEqual({ by: 'configured', capability: '*' })
    expect(found.steps.at(-1)?.text).toBe('read {"path":"server.conf","apiKey":"[redacted]"} · it is there')
  })

  test('has the place of the envelope in the hash chain', async () => {
    const { why, url } = await space(await openStore())
    const { proof } = await why('carol', 'answer')
    const { hash, head } = (await asking(url, 'carol').json('/audit/verify')) as Record<string, unknown>
    expect(proof).toEqual({ seq: head, hash, head })
  })

  test('gives as many steps as are asked for, those that rank first', async () => {
    const { why, refusal } = await space(await openStore())
    const { steps, cut } = await why('carol', 'answer', '?limit=2')
    expect(cut).toBe(true)
    expect(steps.length).toBeLessThanOrEqual(3)
    expect(steps.map(({ rank }) => rank)).toEqual(expect.arrayContaining([1, 2]))
    expect(await refusal('carol', 'answer', '?limit=201')).toMatchObject({ code: 'invalid_request' })
  })

  test('tells nothing of what may not be read', async () => {
    const { why, refusal, seqs } = await space(await openStore())
    expect((await why('bob', 'also')).steps.map(({ id }) => id)).toEqual(['secret', 'also'])
    expect((await why('carol', 'also')).steps.map(({ id }) => id)).toEqual(['also'])
    const like = (ref: string | number) => ({
      ...{ status: 404, code: 'not_found' },
      detail: fillIn(texts.unknownEnvelope, { ref }),
    })
    for (const ref of ['secret', 'no-such-id', seqs.get('secret') ?? 0, 999, 0])
      expect(await refusal('carol', ref)).toEqual(like(ref))
  })

  test('says that an envelope was erased, and leaves it out', async () => {
    const { why, refusal, url, seqs } = await space(await openStore())
    await fetch(`${url}/spaces/test/audit/erase`, {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-alice', 'content-type': 'application/json' },
      body: JSON.stringify({ seq: seqs.get('hm'), reason: 'private' }),
    })
    expect(await refusal('carol', 'hm')).toMatchObject({
      code: 'not_found',
      detail: fillIn(texts.erasedEnvelope, { ref: 'hm' }),
    })
    expect((await why('carol', 'answer')).steps.map(({ id }) => id)).not.toContain('hm')
  })
})
