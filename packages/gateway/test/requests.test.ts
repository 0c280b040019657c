import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Proposals } from '../src/core/state/proposals.js'
import { Requests } from '../src/core/state/requests.js'
import { range } from './client.js'

const fields = { protocol: 'meup/v0.3', ts: '2026-01-01T00:00:00.000Z', payload: { method: 'x/y' } } as const
const body = Buffer.from(JSON.stringify({ payload: fields.payload }))

test.for([
  [
    'mcp.request',
    new Requests(),
    new Requests(),
    (of: Requests | Proposals, id: string) => (of as Requests).get(id),
  ],
  [
    'mcp.proposal',
    new Proposals(),
    new Proposals(),
    (of: Requests | Proposals, id: string) => (of as Proposals).find(id, 0),
  ],
] as const)(
  'of too many of one kind, %s, those of whoever has most are forgotten',
  ([kind, fold, restored, find]) => {
    const begin = (of: Requests | Proposals, id: string, from: string): void =>
      of.apply({ ...fields, id, from, kind } as Envelope, body)
    begin(fold, 'own', 'ana')
    for (const n of range(1, 10_500)) begin(fold, `e${n}`, 'eve')
    for (const n of range(1, 10)) begin(fold, `b${n}`, 'ben')
    expect(find(fold, 'own')).toBeDefined()
    expect(['e511', 'e512'].map((id) => find(fold, id) !== undefined)).toEqual([false, true])
    restored.restore(fold.snapshot() as never)
    for (const of of [fold, restored]) begin(of, 'more', 'ana')
    expect(restored.snapshot()).toEqual(fold.snapshot())
  },
)
