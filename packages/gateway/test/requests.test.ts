import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { CallRecord } from '../src/core/state/calls.js'
import { range } from './client.js'

const fields = { protocol: 'meup/v0.3', ts: '2026-01-01T00:00:00.000Z', payload: { method: 'x/y' } } as const
const body = Buffer.from(JSON.stringify({ payload: fields.payload }))

test.for([
  ['mcp.request', (calls: CallRecord, id: string) => calls.request(id)],
  ['mcp.proposal', (calls: CallRecord, id: string) => calls.proposal(id, 0)],
] as const)('of too many of one kind, %s, those of whoever has most are forgotten', ([kind, find]) => {
  const [calls, restored] = [new CallRecord(), new CallRecord()]
  const begin = (state: CallRecord, id: string, from: string): void =>
    state.apply({ ...fields, id, from, kind } as Envelope, body)
  begin(calls, 'own', 'ana')
  for (const n of range(1, 10_500)) begin(calls, `e${n}`, 'eve')
  for (const n of range(1, 10)) begin(calls, `b${n}`, 'ben')
  expect(find(calls, 'own')).toBeDefined()
  expect(['e511', 'e512'].map((id) => find(calls, id) !== undefined)).toEqual([false, true])
  restored.restore(calls.snapshot())
  for (const each of [calls, restored]) begin(each, 'more', 'ana')
  expect(restored.snapshot()).toEqual(calls.snapshot())
})
