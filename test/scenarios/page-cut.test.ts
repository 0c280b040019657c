import { isCutAway, nothingCut, toSubscribePayload } from '@meup/observer/model'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { openPageGateway } from '../support/page.js'

const cuts = {
  nothing: nothingCut,
  thoughts: { ...nothingCut, detail: 'boundaries' },
  counted: { ...nothingCut, detail: 'summary' },
  reasoning: { ...nothingCut, detail: 'none' },
  planner: { ...nothingCut, from: ['planner'] },
  everybody: { ...nothingCut, from: ['planner', 'security'] },
  run: { ...nothingCut, contexts: ['one'] },
  nested: { ...nothingCut, contexts: ['one/two'] },
  all: { detail: 'boundaries', from: ['security'], contexts: ['two'] },
} as const

test.for(Object.keys(cuts) as (keyof typeof cuts)[])(
  'the gateway cuts what the page thinks it cuts: %s',
  async (name) => {
    const gateway = await openPageGateway({ more: { planner: ['*'], security: ['*'] } })
    const [planner, security] = [await gateway.enter('planner'), await gateway.enter('security')]
    const [ana, rex] = [await gateway.enter('ana'), await gateway.enter('rex')]
    const cut = cuts[name]
    await ana.subscribe(toSubscribePayload(cut))
    const heard = { ana: [] as AnyEnvelope[], rex: [] as AnyEnvelope[] }
    ana.on('envelope', (envelope) => heard.ana.push(envelope))
    rex.on('envelope', (envelope) => heard.rex.push(envelope))
    const payload = { message: 'hm' }
    const { seq: first = 0 } = await rex.chat('the beginning')
    for (const space of [planner, security]) {
      const id = space === planner ? 'one' : 'two'
      await space.send({ id, kind: 'reasoning.start', payload })
      await space.send({ kind: 'reasoning.thought', context: id, payload })
      await space.send({ id: `${id}-n`, kind: 'reasoning.start', context: id, payload })
      await space.send({ kind: 'reasoning.speculation', context: `${id}/${id}-n`, payload })
      await space.send({ kind: 'chat', context: id, payload })
      await space.send({ kind: 'chat', context: `${id}/two`, payload })
      await space.send({ kind: 'mcp.request', context: id, to: ['repo'], payload: { method: 'tools/list' } })
      await space.send({ kind: 'acme.note', payload })
      await space.send({ kind: 'acme.note', context: id, payload })
      await space.send({ kind: 'capability.grant', payload: { recipient: 'rex', capabilities: ['acme.x'] } })
      await space.send({ kind: 'reasoning.conclusion', context: id, payload })
    }
    await ana.chat('one of my own', { context: 'one' })
    await planner.chat('the end')
    const ends = ({ payload }: AnyEnvelope): boolean => 'message' in payload && payload.message === 'the end'
    await expect.poll(() => [heard.ana, heard.rex].every((each) => each.some(ends))).toBe(true)
    const expected = heard.rex.filter((each) => (each.seq ?? 0) > first && !isCutAway(each, cut, 'ana'))
    const seqs = heard.ana.flatMap(({ seq = 0 }) => (seq > first ? [seq] : []))
    expect(seqs).toEqual(expected.map(({ seq }) => seq))
    expect(seqs.length < heard.rex.filter(({ seq = 0 }) => seq > first).length).toBe(name !== 'nothing')
  },
)
