import { SpaceModel } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { Script } from './support.js'

function searched(script: Script, query: string): SpaceModel {
  const model = script.read()
  model.find(query)
  model.logFilter.work(Number.POSITIVE_INFINITY)
  return model
}

const found = (script: Script, query: string): number => searched(script, query).logFilter.search.count

describe('a search', () => {
  const script = new Script()
  const run = script.start('bot', 'Looking at Größe')
  const request = script.call('bot', run.id, 'lint', { rationale: 'the gate asks' })
  const answer = script.answer(request, 'two problems')
  script.say({ from: 'eve', kind: 'acme.note', payload: { deep: [{ colour: 'teal', count: 4711 }] } })
  script.chat('ana', 'pass\u200bword\u202e reversed')
  const progress = { method: 'notifications/progress', params: { message: 'half way' } }
  script.say({ from: 'tools', kind: 'mcp.request', payload: progress })

  test.for([
    ['größe', 1],
    ['GATE ASKS', 1],
    ['two problems', 1],
    ['acme.note', 1],
    ['colour', 1],
    ['4711', 1],
    ['password reversed', 1],
    ['eve', 2],
    ['lint', 1],
    ['no such thing', 0],
    ['half way', 0],
    ['   ', 0],
  ] as const)('for %s finds %i', ([query, count]) => {
    expect(found(script, query)).toBe(count)
  })

  test('finds the line of a call by its answer', () => {
    const { search } = searched(script, 'two problems').logFilter
    expect(search.step(0, 1)).toEqual({ seq: answer.seq, id: request.id })
  })

  test('goes round in both directions', () => {
    const { search } = searched(script, 'o').logFilter
    const seqs: number[] = []
    for (let hit = search.step(0, 1); hit !== undefined && seqs.length <= search.count; ) {
      seqs.push(hit.seq)
      hit = search.step(hit.seq, 1)
    }
    expect(seqs.at(-1)).toBe(seqs[0])
    expect(new Set(seqs).size).toBe(search.count)
    expect(search.step(seqs[0] ?? 0, -1)?.seq).toBe(seqs.at(-2))
    expect(search.ordinal(seqs[1] ?? 0)).toBe(2)
  })

  test('is done in pieces, goes on with what comes, and begins anew when earlier ones are loaded', () => {
    const long = new Script()
    for (let count = 0; count < 1000; count++) long.chat('ana', `message ${count % 10}`)
    const model = new SpaceModel()
    model.append(long.envelopes.slice(500), 0)
    model.find('message 7')
    expect(model.logFilter.work(0)).toBe(false)
    expect(model.logFilter.search.count).toBeLessThan(50)
    while (!model.logFilter.work(performance.now() + 1));
    expect(model.logFilter.search.count).toBe(50)
    long.chat('eve', 'message 7')
    model.append(long.envelopes.slice(-1), 0)
    expect(model.logFilter.search.count).toBe(51)
    const { round } = model.logFilter
    model.merge(long.envelopes.slice(0, 500))
    expect(model.logFilter.round).toBeGreaterThan(round)
    expect(model.logFilter.search.count).toBe(0)
    model.logFilter.work(Number.POSITIVE_INFINITY)
    expect(model.logFilter.search.count).toBe(101)
  })
})
