import { type AnyEnvelope, GATEWAY, PROTOCOL } from '@meup/protocol'
import { expect, test } from 'vitest'
import { Askees } from '../src/client/askees.js'

test('a run that somebody asks to stop may still answer', () => {
  const askees = new Askees('q', undefined, () => true)
  let seq = 0
  const read = (fields: object): string | undefined => {
    const said = { protocol: PROTOCOL, id: `e${++seq}`, seq, ts: '', from: 'ana', payload: {}, ...fields }
    return askees.apply(said as AnyEnvelope)
  }
  const ends = { kind: 'reasoning.cancel', from: GATEWAY, payload: { reason: 'program-ended' } }
  read({ id: 'q', kind: 'chat' })
  read({ id: 'r1', kind: 'reasoning.start', from: 'bot', correlationId: 'q' })
  read({ id: 'r2', kind: 'reasoning.start', from: 'aide', correlationId: 'q' })
  read({ kind: 'reasoning.cancel', context: 'r1' })
  expect(read({ ...ends, context: 'r2' })).toBeUndefined()
  expect(read({ ...ends, context: 'r1' })).toBe('bot')
})
