import type { ReasoningUpdate } from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { dataOf, isReasoning, rawEvents, reasoningIn, received, story } from './reasoning-story.js'
import { begin, call, chat, conclude, result, stage, thought, twoCalls } from './turns.js'

const end = chat('end', 'that is all')

describe('reasoning_update', () => {
  verifies(['I30', 'I27'], 'has the bytes of the document, right after what ended the batch', async () => {
    const staged = await stage()
    const live = rawEvents(staged.url, 'stranger', { query: 'after=0' })
    const { epoch } = await staged.as('ana').history()
    await staged.say(...twoCalls('a'), ['ana', end])
    const decision = (tool_name: string, rationale: string) => ({
      tool_name,
      rationale,
      outcome: 'success',
      parallel_group: null,
    })
    const event = (seq: number, decisions: object[]): string => {
      const identity = { thread_id: 'test/ben', session_id: epoch, turn_number: 1 }
      const said = { narrative: 'first look, then a', tool_decisions: decisions }
      const data = JSON.stringify({ type: 'reasoning_update', ...identity, ...said })
      return `event: reasoning_update\nid: ${seq}\ndata: ${data}\n\n`
    }
    const [first, second] = [decision('look', 'to know a'), decision('act', 'to do a')]
    const blocks = await live
    expect(blocks.filter(isReasoning)).toEqual([event(7, [first]), event(10, [first, second])])
    for (const seq of [7, 10]) {
      const at = blocks.findIndex((block) => isReasoning(block) && block.includes(`id: ${seq}\n`))
      expect(blocks[at - 1]).toMatch(new RegExp(`^event: envelope\nid: ${seq}\\.0\ndata: {"seq":${seq},`))
    }
  })

  verifies(['I31', 'I30'], 'has no parameters, at any depth, nor has job_reasoning', async () => {
    const staged = await stage()
    await staged.say(...story)
    const events = await received(staged.url, 'auditor')
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['reasoning_update', 'job_reasoning']))
    const keys: string[] = []
    JSON.stringify(events, (key, value: unknown) => {
      keys.push(key)
      return value
    })
    expect(keys).toContain('tool_name')
    expect(keys).not.toContain('parameters')
  })

  verifies(
    ['I32', 'I29'],
    'comes once for each batch, with all that was called in the turn so far',
    async () => {
      const staged = await stage()
      await staged.say(
        ['ana', chat('ask', 'go')],
        ['ben', begin('run', 'ask', 'begin')],
        ['ben', ...['p1', 'p2', 'p3'].map((id) => call(id, 'run', id, 'together', { parallelGroup: 0 }))],
        ['tool', result('p3'), result('p1'), result('p2')],
        ['ben', thought('run', 'then'), call('q', 'run', 'q', 'alone')],
        ['tool', result('q')],
        ['ben', thought('run', 'only words'), conclude('run'), chat('is', 'so', { correlationId: 'ask' })],
        ['ana', end],
      )
      const updates = (await received(staged.url, 'stranger')) as ReasoningUpdate[]
      const shown = updates.map(({ turn_number, tool_decisions }) => [
        turn_number,
        tool_decisions.map(({ tool_name, parallel_group }) => `${tool_name} ${parallel_group}`),
      ])
      const batch = ['p1 0', 'p2 0', 'p3 0']
      expect(shown).toEqual([
        [1, batch],
        [1, [...batch, 'q null']],
      ])
    },
  )

  test('tells of what was refused, to whom may know it', async () => {
    const staged = await stage()
    await staged.say(['ana', chat('ask', 'go')], ['ben', begin('run', 'ask', 'begin')])
    expect(
      (
        await staged.post('ben', {
          ...call('one', 'run', 'look', 'to see'),
          kind: 'mcp.request',
          to: ['nobody'],
        })
      ).status,
    ).toBe(404)
    expect((await staged.post('ben', { kind: 'x.y', context: 'run' })).status).toBe(403)
    await staged.say(['ana', end])
    expect(await received(staged.url, 'stranger')).toEqual([])
  })
})

describe('job_reasoning', () => {
  verifies(
    ['I33', 'I34'],
    'tells of work that nobody asked for, beside the calls and their results',
    async () => {
      const staged = await stage()
      const live = rawEvents(staged.url, 'stranger', { query: 'after=2' })
      await staged.say(
        ['cleo', begin('job', undefined, 'it is late, so I tidy up')],
        [
          'cleo',
          call('j1', 'job', 'sweep', 'the floor is dirty'),
          call('j2', 'job', 'mop', ' ', { parallelGroup: 0 }),
        ],
        ['tool', result('j1', 'swept', { to: ['cleo'] })],
        [
          'tool',
          { ...result('j2'), to: ['cleo'], payload: { id: 'j2', error: { code: 1, message: 'dry' } } },
        ],
        ['ana', end],
      )
      const blocks = await live
      const kinds = blocks.map((block) => (isReasoning(block) ? dataOf(block).type : dataOf(block).kind))
      expect(kinds).toEqual([
        'reasoning.start',
        ...['mcp.request', 'mcp.request', 'mcp.response', 'job_reasoning', 'mcp.response', 'job_reasoning'],
        'chat',
      ])
      const sweep = { tool_name: 'sweep', rationale: 'the floor is dirty', outcome: 'success' }
      const mop = {
        tool_name: 'mop',
        rationale: 'Tool selected to satisfy the current subtask.',
        rationale_given: false,
        outcome: 'error',
      }
      const event = { type: 'job_reasoning', job_id: 'job', narrative: 'it is late, so I tidy up' }
      expect(reasoningIn(blocks)).toEqual([
        { ...event, tool_decisions: [sweep] },
        { ...event, tool_decisions: [sweep, mop] },
      ])
    },
  )
})
